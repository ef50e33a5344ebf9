// Creates, parses and hashes API keys. A key contains its organisation's id, so that a request reaches
// the Organisation without a lookup, and a checksum, so that a malformed key is rejected without I/O.
//
//   svc_{live|test}_sk_ + 26 characters of the organisation's id + 32 random characters + 6 of CRC-32
import crc32 from 'crc-32'
import type { Mode } from '../domain/job.ts'
import { isId, suffixOf } from '../platform/ids.ts'
import { sha256 } from '../platform/signing/sha256.ts'

/** The contents of a well-formed key, which may not exist. */
export interface Credentials {
  organisationId: string
  mode: Mode
  /** SHA-256 of the whole key in lower-case hexadecimal; the only form in which keys are stored. */
  keyHash: string
}

/**
 * The caller of an Organisation's method. `keyHash` is null for a user of the console, whose session and
 * membership have been checked.
 */
export type Caller = Credentials | (Omit<Credentials, 'keyHash'> & { keyHash: null })

const KEY = /^(svc_(live|test)_sk_([0-9a-hjkmnp-tv-z]{26})[0-9A-Za-z]{32})([0-9A-Za-z]{6})$/
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Creates a key.
 * @param secret 32 base62 characters; by default random (development keys are fixed)
 */
export function createKey(organisationId: string, mode: Mode, secret = randomBase62(32)): string {
  const body = `svc_${mode}_sk_${suffixOf(organisationId)}${secret}`
  return body + checksum(body)
}

/** Parses a key. @returns null when its format or checksum is not valid */
export function parseKey(key: string): Credentials | null {
  const [, body, mode, suffix, sum] = KEY.exec(key) ?? []
  if (!body || !suffix || checksum(body) !== sum) return null
  const organisationId = `org_${suffix}`
  if (!isId('org', organisationId)) return null
  return { organisationId, mode: mode as Mode, keyHash: hashKey(key) }
}

/** The SHA-256 of a key in hexadecimal. A fast hash is sufficient for 190 random bits. */
export const hashKey = (key: string): string => sha256(key).toString('hex')

function checksum(body: string): string {
  let remainder = crc32.bstr(body) >>> 0
  let text = ''
  for (let digit = 0; digit < 6; digit++) {
    text = BASE62.charAt(remainder % 62) + text
    remainder = Math.floor(remainder / 62)
  }
  return text
}

function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 is the largest multiple of 62 in a byte. Larger values would favour some characters.
      if (byte < 248 && text.length < length) text += BASE62.charAt(byte % 62)
    }
  }
  return text
}
