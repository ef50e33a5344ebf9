// HMAC-SHA-256 over texts with the output-signing secrets. The first secret signs; all verify, so
// that a secret can be replaced without breaking what is out there. Synchronous, unlike Web Crypto: a
// page of a list has up to a hundred links to sign.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { settingsOf } from './settings.ts'

/** Signatures for one purpose are worth nothing for another. */
type Purpose = 'link' | 'cursor'

/** @returns base64url without padding, 43 characters */
export function sign(env: Env, purpose: Purpose, text: string): string {
  const [secret = ''] = settingsOf(env).outputSigningSecrets
  return hmac(secret, purpose, text)
}

/** Whether `signature` was made by `sign` for this purpose and text. Takes constant time. */
export function verify(env: Env, purpose: Purpose, text: string, signature: string): boolean {
  const given = Buffer.from(signature)
  return settingsOf(env).outputSigningSecrets.some((secret) => {
    const expected = Buffer.from(hmac(secret, purpose, text))
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

const hmac = (secret: string, purpose: Purpose, text: string) =>
  createHmac('sha256', keyOf(secret)).update(`${purpose}\n${text}`).digest('base64url')

const keys = new Map<string, Buffer>()

function keyOf(secret: string): Buffer {
  const key = keys.get(secret) ?? Buffer.from(secret)
  keys.set(secret, key)
  return key
}
