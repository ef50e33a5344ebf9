// In JavaScript, since what is hashed here is short: to call into the runtime takes several times longer.
import { SHA256 } from '@stablelib/sha256'

const encoder = new TextEncoder()
/** Kept, for its three arrays cost more to make than such a text to hash. */
const hasher = new SHA256()

/** SHA-256 of a text in UTF-8, 32 bytes. */
export const sha256 = (text: string): Buffer =>
  Buffer.from(hasher.reset().update(encoder.encode(text)).digest())
