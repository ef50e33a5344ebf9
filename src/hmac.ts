// HMAC-SHA-256 over texts with the output-signing secrets. The first secret signs; all verify, so
// that a secret can be replaced without breaking what is out there.
import { createHmac } from 'node:crypto'
import { settingsOf } from './settings.ts'

/** Signatures for one purpose are worth nothing for another. */
type Purpose = 'link' | 'cursor'

/**
 * Done at once, not by the asynchronous Web Crypto: a page of a list has up to a hundred links.
 * @returns base64url without padding, 43 characters
 */
export function sign(env: Env, purpose: Purpose, text: string): string {
  const [secret = ''] = settingsOf(env).outputSigningSecrets
  return createHmac('sha256', secret).update(`${purpose}\n${text}`).digest('base64url')
}

/** Whether `signature` was made by `sign` for this purpose and text. Takes constant time. */
export async function verify(
  env: Env,
  purpose: Purpose,
  text: string,
  signature: string,
): Promise<boolean> {
  const bytes = Buffer.from(signature, 'base64url')
  // Decoding forgives stray characters; a signature has one spelling only.
  if (bytes.toString('base64url') !== signature) return false
  for (const secret of settingsOf(env).outputSigningSecrets) {
    const key = await keyOf(secret)
    if (await crypto.subtle.verify('HMAC', key, bytes, message(purpose, text))) return true
  }
  return false
}

const message = (purpose: Purpose, text: string) => new TextEncoder().encode(`${purpose}\n${text}`)

const keys = new Map<string, Promise<CryptoKey>>()

function keyOf(secret: string): Promise<CryptoKey> {
  let key = keys.get(secret)
  if (!key) {
    const bytes = new TextEncoder().encode(secret)
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    key = crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
    keys.set(secret, key)
  }
  return key
}
