// Time-based one-time passwords (RFC 6238): SHA-1, 30 seconds, 6 digits, as all authenticator apps
// support them.
const STEP_MS = 30_000
const DIGITS = 6
const SECRET_BYTES = 20
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
/** Accepts the code before and after the current one, because clocks differ. */
const WINDOW = [0, -1, 1]

/** @returns a secret in base32, 32 characters */
export const newTotpSecret = (): string =>
  base32(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))

/** @returns the time step whose code it is, or null for a wrong code */
export async function stepOf(secret: string, code: string): Promise<number | null> {
  const now = Math.floor(Date.now() / STEP_MS)
  const codes = await Promise.all(WINDOW.map((offset) => codeAt(secret, now + offset)))
  const matching = codes.findIndex((candidate) => candidate === code)
  return matching === -1 ? null : now + (WINDOW[matching] ?? 0)
}

/** The code of a time step. @param step the number of 30-second steps since 1970 */
export async function codeAt(secret: string, step: number): Promise<string> {
  const counter = new DataView(new ArrayBuffer(8))
  counter.setBigUint64(0, BigInt(step))
  const algorithm = { name: 'HMAC', hash: 'SHA-1' }
  const key = await crypto.subtle.importKey('raw', bytesOf(secret), algorithm, false, ['sign'])
  const mac = new DataView(await crypto.subtle.sign('HMAC', key, counter))
  const offset = mac.getUint8(mac.byteLength - 1) & 0xf
  const number = mac.getUint32(offset) & 0x7fff_ffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** What the QR code contains. Authenticator apps show issuer and account. */
export function totpUri({ secret, account }: { secret: string; account: string }): string {
  const label = `Try-On:${encodeURIComponent(account)}`
  return `otpauth://totp/${label}?${new URLSearchParams({ secret, issuer: 'Try-On' })}`
}

/** Base32 without padding (RFC 4648). */
export function base32(data: Uint8Array): string {
  const bits = Array.from(data, (byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  return groups.map((group) => ALPHABET[parseInt(group.padEnd(5, '0'), 2)]).join('')
}

function bytesOf(secret: string): Uint8Array<ArrayBuffer> {
  const bits = Array.from(secret, (letter) =>
    ALPHABET.indexOf(letter).toString(2).padStart(5, '0'),
  ).join('')
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => parseInt(byte, 2))
}
