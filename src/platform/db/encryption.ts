// Encrypts the secrets that the database stores: AES-256-GCM under a key derived from ENCRYPTION_KEY.
//
//   enc:v1:<key id>:<iv>:<ciphertext>      iv and ciphertext in base64url
//
// The context, such as the owner's id, is authenticated: a value that is copied to another owner's row
// does not decrypt. Without ENCRYPTION_KEY, secrets are stored in plain text.
import { like, not, or, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { hkdfSync } from 'node:crypto'
import { log } from '../log.ts'
import { settingsOf } from '../settings.ts'
import { base64url, fromBase64url } from '../signing/token.ts'

const FORMAT = 'enc:v1:'
const IV_BYTES = 12

interface Key {
  /** Derived from the secret; identifies the key that a stored value needs. */
  id: string
  key: CryptoKey
}

/** By secret. Caches keys instead of promises, since a promise belongs to one request. */
const derived = new Map<string, Key>()
const warned = new WeakSet<Env>()

/** @returns the value to store; the text itself while ENCRYPTION_KEY is not set */
export async function encrypt(env: Env, { context, text }: { context: string; text: string }) {
  const current = await currentKey(env)
  if (!current) return text
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const ciphertext = await crypto.subtle.encrypt(
    algorithm(iv, context),
    current.key,
    encoder.encode(text),
  )
  return `${FORMAT}${current.id}:${base64url(iv)}:${base64url(new Uint8Array(ciphertext))}`
}

/**
 * Decrypts a stored value. Values that were stored in plain text are returned unchanged.
 * @throws Error when its key is not set, or when it was modified or stored for another context
 */
export async function decrypt(env: Env, { context, stored }: { context: string; stored: string }) {
  if (!stored.startsWith(FORMAT)) return stored
  const [id, iv = '', ciphertext = ''] = stored.slice(FORMAT.length).split(':')
  const { encryptionKey, encryptionKeyPrevious } = settingsOf(env)
  const keys = [await keyOf(encryptionKey), await keyOf(encryptionKeyPrevious)]
  const key = keys.find((candidate) => candidate?.id === id)
  if (!key) throw new Error(`The encryption key ${id} is not set`)
  const text = await crypto.subtle.decrypt(
    algorithm(fromBase64url(iv), context),
    key.key,
    fromBase64url(ciphertext),
  )
  return new TextDecoder().decode(text)
}

/** A check without outdated values reads every row, so it does not run each minute. */
const RECHECK_MS = 60 * 60_000

/** An SQL condition: the value is in plain text, or encrypted under ENCRYPTION_KEY_PREVIOUS. */
type Outdated = (column: SQLiteColumn) => SQL | undefined

/**
 * A task of cron that encrypts outdated values with ENCRYPTION_KEY. It does nothing while the key is not set.
 * @param name of the values, for the log
 * @param run encrypts at most `limit` rows. Returns false if there may be more, which the next call encrypts
 */
export function reencryption(
  name: string,
  run: (env: Env, outdated: Outdated, limit: number) => Promise<boolean>,
) {
  /** When to check again, by the id of the current key. */
  const recheckAt = new Map<string, number>()
  return async (env: Env, limit = 100): Promise<void> => {
    const current = await currentKey(env)
    if (!current || (recheckAt.get(current.id) ?? 0) > Date.now()) return
    const previous = await keyOf(settingsOf(env).encryptionKeyPrevious)
    const outdated: Outdated = (column) =>
      or(not(like(column, 'enc:%')), previous && like(column, `${FORMAT}${previous.id}:%`))
    const isDone = await run(env, outdated, limit).catch((error: unknown) => {
      log.error(`${name} not encrypted`, error)
      throw error
    })
    if (isDone) recheckAt.set(current.id, Date.now() + RECHECK_MS)
  }
}

async function currentKey(env: Env): Promise<Key | undefined> {
  const key = await keyOf(settingsOf(env).encryptionKey)
  if (!key && !warned.has(env)) {
    warned.add(env)
    log.warn('ENCRYPTION_KEY is not set: secrets are stored in plain text')
  }
  return key
}

async function keyOf(secret: string | undefined): Promise<Key | undefined> {
  if (secret === undefined) return undefined
  let key = derived.get(secret)
  if (!key) derived.set(secret, (key = await derive(secret)))
  return key
}

async function derive(secret: string): Promise<Key> {
  const hkdf = (info: string, bytes: number) =>
    new Uint8Array(hkdfSync('sha256', secret, '', info, bytes))
  const bits = hkdf('try-on stored secrets', 32)
  const key = await crypto.subtle.importKey('raw', bits, 'AES-GCM', false, ['encrypt', 'decrypt'])
  return { id: hkdf('try-on stored secrets, key id', 4).toHex(), key }
}

const encoder = new TextEncoder()

const algorithm = (iv: Uint8Array<ArrayBuffer>, context: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: encoder.encode(context),
})

/**
 * The column `webhook_secret` of new organisations, whose default endpoint has the secret. The release before
 * cannot decrypt it, so that it postpones deliveries instead of signing them with a wrong secret.
 */
export const NO_SECRET = 'enc:v1:none'
