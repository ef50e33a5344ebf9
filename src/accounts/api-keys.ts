// API keys, kept in D1 as hashes: a key itself is told once, when it is made. Every change tells
// the Organisation, whose copy decides what is let through.
import { and, desc, eq, isNotNull, isNull } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { apiKeys, organisations } from '../db/schema.ts'
import type { ApiKeyRow } from '../db/schema.ts'
import { AppError } from '../errors.ts'
import { newId } from '../ids.ts'
import { hashKey, makeKey } from '../organisation/api-key.ts'
import type { Mode } from '../organisation/api-key.ts'
import { organisationOf } from '../organisation/by-id.ts'

/** A new key in plain text, and the row to keep of it. */
export function keyRow(
  organisationId: string,
  mode: Mode,
  name: string,
  key = makeKey(organisationId, mode),
): { key: string; row: ApiKeyRow } {
  const row = {
    id: newId('key'),
    organisationId,
    mode,
    name,
    hash: hashKey(key),
    lastFour: key.slice(-4),
    createdBy: null,
    createdAt: new Date(),
    revokedAt: null,
    lastUsedAt: null,
  }
  return { key, row }
}

/** All keys of an organisation, revoked ones too, newest first. */
export const listApiKeys = (env: Env, organisationId: string): Promise<ApiKeyRow[]> =>
  database(env)
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.organisationId, organisationId))
    .orderBy(desc(apiKeys.id))

/** @returns the key in plain text, which nobody can read again */
export async function createApiKey(
  env: Env,
  organisationId: string,
  mode: Mode,
  name: string,
): Promise<{ id: string; key: string }> {
  const id = newId('key')
  const key = await createApiKeyOnce(env, organisationId, { id, mode, name })
  if (key === null) throw new Error('The id of a new API key was taken already')
  return { id, key }
}

/**
 * Creates a key whose id is fixed beforehand, so that asking twice makes one key.
 * @returns the key in plain text, which nobody can read again, or null when it is there already
 * @throws AppError deletion_scheduled
 */
export async function createApiKeyOnce(
  env: Env,
  organisationId: string,
  order: Pick<ApiKeyRow, 'id' | 'mode' | 'name'>,
): Promise<string | null> {
  if (await isScheduledForDeletion(env, organisationId)) throw new AppError('deletion_scheduled')
  const { key, row } = keyRow(organisationId, order.mode, order.name)
  const { meta } = await database(env)
    .insert(apiKeys)
    .values({ ...row, id: order.id })
    .onConflictDoNothing()
  if (meta.changes === 0) return null
  await organisationOf(env, organisationId).refresh()
  return key
}

async function isScheduledForDeletion(env: Env, organisationId: string): Promise<boolean> {
  const found = await database(env)
    .select({ id: organisations.id })
    .from(organisations)
    .where(and(eq(organisations.id, organisationId), isNotNull(organisations.deleteAfter)))
  return found.length > 0
}

/**
 * Revokes a key, in force at the next request. Repeating it changes nothing.
 * @returns false when the organisation has no such key
 */
export async function revokeApiKey(
  env: Env,
  organisationId: string,
  keyId: string,
): Promise<boolean> {
  const db = database(env)
  const theKey = and(eq(apiKeys.id, keyId), eq(apiKeys.organisationId, organisationId))
  const [, known] = await db.batch([
    db
      .update(apiKeys)
      .set({ revokedAt: new Date() })
      .where(and(theKey, isNull(apiKeys.revokedAt))),
    db.select({ id: apiKeys.id }).from(apiKeys).where(theKey),
  ])
  if (known.length === 0) return false
  await organisationOf(env, organisationId).refresh()
  return true
}
