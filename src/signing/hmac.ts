// HMAC-SHA-256 over texts with the output-signing secrets. The first secret signs; all verify, so
// that a secret can be replaced without breaking what is out there. In JavaScript: a page of a list has
// up to a hundred links to sign, and to call into the runtime takes longer than to hash two blocks.
import { equal, HMAC } from '@stablelib/hmac'
import { SHA256 } from '@stablelib/sha256'
import { settingsOf } from '../settings.ts'

/** Signatures for one purpose are worth nothing for another. */
type Purpose = 'link' | 'cursor'

/** @returns what signs texts: base64url without padding, 43 characters */
export function signer(env: Env, purpose: Purpose): (text: string) => string {
  const [secret = ''] = settingsOf(env).outputSigningSecrets
  const mac = macOf(secret, purpose)
  return (text) => hmac(mac, text)
}

/** Whether `signature` was made by a `signer` for this purpose and text. Takes constant time. */
export function verify(env: Env, purpose: Purpose, text: string, signature: string): boolean {
  const given = encoder.encode(signature)
  return settingsOf(env).outputSigningSecrets.some((secret) =>
    equal(given, encoder.encode(hmac(macOf(secret, purpose), text))),
  )
}

const encoder = new TextEncoder()
// Room that is used again at each call: to allocate it takes half as long as to hash. A call ends
// before another begins, for nothing here is awaited.
const room = new Uint8Array(512)
const digest = new Uint8Array(32)
/** A key for each purpose, which leaves a link's text short enough for one block. */
const keyed = new Map<string, Record<Purpose, HMAC>>()

function macOf(secret: string, purpose: Purpose): HMAC {
  let macs = keyed.get(secret)
  if (!macs) {
    macs = { link: derive(secret, 'link'), cursor: derive(secret, 'cursor') }
    keyed.set(secret, macs)
  }
  return macs[purpose]
}

function hmac(mac: HMAC, text: string): string {
  mac.reset().update(bytesOf(text)).finish(digest)
  return digest.toBase64({ alphabet: 'base64url', omitPadding: true })
}

/** In UTF-8; good until the next call. */
function bytesOf(text: string): Uint8Array {
  // A character takes three bytes at most.
  if (text.length * 3 > room.length) return encoder.encode(text)
  return room.subarray(0, encoder.encodeInto(text, room).written)
}

function derive(secret: string, purpose: Purpose): HMAC {
  const key = new HMAC(SHA256, encoder.encode(secret)).update(encoder.encode(purpose)).digest()
  return new HMAC(SHA256, key)
}
