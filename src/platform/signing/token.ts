// Random tokens in links and challenges. The database stores their hashes only.
import { sha256 } from './sha256.ts'

export const base64url = (bytes: Uint8Array): string =>
  bytes.toBase64({ alphabet: 'base64url', omitPadding: true })

/** 32 random bytes in base64url. */
export const randomToken = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)))

export const hashToken = (token: string): string => sha256(token).toString('hex')
