// Random tokens in links and challenges. The database stores their hashes only.
import { sha256 } from './sha256.ts'

export const base64url = (bytes: Uint8Array): string =>
  bytes.toBase64({ alphabet: 'base64url', omitPadding: true })

export const fromBase64url = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.fromBase64(text, { alphabet: 'base64url' })

/** 32 random bytes in base64url. */
export const randomToken = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)))

export const hashToken = (token: string): string => sha256(token).toString('hex')
