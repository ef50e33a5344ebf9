// API keys: how they are made, taken apart and hashed. A key names its organisation, so that a
// request reaches the right Organisation without a look-up, and ends in a checksum, so that a
// mistyped or invented key is refused without any I/O.
//
//   svc_{live|test}_sk_ + 26 characters of the organisation's id + 32 random + 6 of CRC-32
import crc32 from 'crc-32'
import type { Mode } from '../domain/job.ts'
import { isId, suffixOf } from '../ids.ts'
import { sha256 } from '../signing/sha256.ts'

/** What a well-formed key says about itself. Not yet proof that the key exists. */
export interface Credentials {
  organisationId: string
  mode: Mode
  /** SHA-256 of the whole key in lower-case hexadecimal; the only form in which keys are stored. */
  keyHash: string
}

/**
 * Who asks something of an organisation. A hash of null stands for a person in the console, whose
 * session and membership were checked before the call: they have no key, and need none.
 */
export type Caller = Credentials | (Omit<Credentials, 'keyHash'> & { keyHash: null })

const KEY = /^(svc_(live|test)_sk_([0-9a-hjkmnp-tv-z]{26})[0-9A-Za-z]{32})([0-9A-Za-z]{6})$/
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Makes a key.
 * @param secret 32 base62 characters; random unless given (development keys are fixed)
 */
export function createKey(organisationId: string, mode: Mode, secret = randomBase62(32)): string {
  const body = `svc_${mode}_sk_${suffixOf(organisationId)}${secret}`
  return body + checksum(body)
}

/** Takes a key apart. @returns null when its shape or checksum is wrong */
export function parseKey(key: string): Credentials | null {
  const [, body, mode, suffix, sum] = KEY.exec(key) ?? []
  if (!body || !suffix || checksum(body) !== sum) return null
  const organisationId = `org_${suffix}`
  if (!isId('org', organisationId)) return null
  return { organisationId, mode: mode as Mode, keyHash: hashKey(key) }
}

/** SHA-256 of a key in hexadecimal. A fast hash suffices: the key carries 190 random bits. */
export const hashKey = (key: string): string => sha256(key).toString('hex')

function checksum(body: string): string {
  let rest = crc32.bstr(body) >>> 0
  let text = ''
  for (let place = 0; place < 6; place++) {
    text = BASE62.charAt(rest % 62) + text
    rest = Math.floor(rest / 62)
  }
  return text
}

function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 is the largest multiple of 62 in a byte: values past it would favour some characters.
      if (byte < 248 && text.length < length) text += BASE62.charAt(byte % 62)
    }
  }
  return text
}
