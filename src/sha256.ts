// In JavaScript, since what is hashed here is short: to call into the runtime takes several times longer.
import { hash } from '@stablelib/sha256'

const encoder = new TextEncoder()

/** SHA-256 of a text in UTF-8, 32 bytes. */
export const sha256 = (text: string): Buffer => Buffer.from(hash(encoder.encode(text)))
