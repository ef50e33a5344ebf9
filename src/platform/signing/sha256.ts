// SHA-256 in JavaScript: for short texts, a call into the runtime takes several times longer.
import { SHA256 } from '@stablelib/sha256'

const encoder = new TextEncoder()
/** Reused: allocating its three arrays takes longer than hashing a short text. */
const hasher = new SHA256()

/** SHA-256 of a text in UTF-8, 32 bytes. The Buffer is a view: copying the bytes takes as long as hashing a key. */
export const sha256 = (text: string): Buffer =>
  Buffer.from(hasher.reset().update(encoder.encode(text)).digest().buffer)
