// Creates API keys. D1 stores their hashes only: a key is returned once.
import { waitUntil } from 'cloudflare:workers'
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { database, insertWhere } from '../db/client.ts'
import { apiKeys, organisations } from '../db/schema.ts'
import type { ApiKeyRow } from '../db/schema.ts'
import { AppError } from '../domain/errors.ts'
import { newId } from '../ids.ts'
import { DAY_MS } from '../domain/limits.ts'
import { hashKey, createKey } from '../organisation/api-key.ts'
import type { Mode } from '../domain/job.ts'
import { notify } from '../notifications/notify.ts'
import { organisationStub } from '../organisation/stub.ts'
import { auditInsert } from '../access/audit-log.ts'
import { isUnlimited, requireUnlimited } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { isActive, isActiveKey } from './active-key.ts'
import { readApiKey } from './api-keys.ts'
import {
  API_KEYS_CREATED_DAYS,
  apiKeyLimitReached,
  MAX_ACTIVE_API_KEYS,
  MAX_API_KEYS_CREATED,
} from './limits.ts'

/** A new key in plain text, and its row. @param createdBy the id of a user; null for an operator */
export function newApiKey({
  organisationId,
  mode,
  name,
  createdBy = null,
  expiresAt = null,
}: {
  organisationId: string
  mode: Mode
  name: string
  createdBy?: string | null
  expiresAt?: Date | null
}): { key: string; row: ApiKeyRow } {
  const key = createKey(organisationId, mode)
  const row = {
    id: newId('key'),
    organisationId,
    mode,
    name,
    hash: hashKey(key),
    lastFour: key.slice(-4),
    createdBy,
    createdAt: new Date(),
    revokedAt: expiresAt,
    lastUsedAt: null,
  }
  return { key, row }
}

/** A key in plain text, which cannot be read again. */
export interface CreatedApiKey {
  id: string
  key: string
}

/**
 * Creates a key, which reaches all workspaces. For the permission `develop` without a limit to workspaces.
 * @param id chosen by the caller if the request can be repeated: one id creates one key
 * @param expiresAt requests with the key are rejected from then on; null: never
 * @param replaces the active key that the new one replaces, and when it is revoked
 * @returns null when the id is already in use, or the replaced key is not active
 * @throws AppError not_found, deletion_scheduled; validation_error at the limit of keys
 */
export async function createApiKey({
  env,
  actor,
  organisationId,
  mode,
  name,
  id = newId('key'),
  expiresAt = null,
  replaces,
}: OrganisationRequest & {
  mode: Mode
  name: string
  id?: string
  expiresAt?: Date | null
  replaces?: { keyId: string; endsAt: Date }
}): Promise<CreatedApiKey | null> {
  const db = database(env)
  const createdBy = actor.type === 'user' ? actor.userId : null
  const { key, row } = newApiKey({ organisationId, mode, name, createdBy, expiresAt })
  const createdSince = Date.now() - API_KEYS_CREATED_DAYS * DAY_MS
  const replaced = and(
    eq(apiKeys.id, replaces?.keyId ?? ''),
    eq(apiKeys.organisationId, organisationId),
    isActiveKey(),
  )
  const allowed = sql`${isUnlimited(actor, organisationId, 'develop')}
    and exists (select 1 from ${organisations} where ${organisations.id} = ${organisationId}
                  and ${organisations.deleteAfter} is null)
    and (select count(*) from ${apiKeys} where ${apiKeys.organisationId} = ${organisationId}
           and ${isActiveKey()}) < ${MAX_ACTIVE_API_KEYS}
    and (select count(*) from ${apiKeys} where ${apiKeys.organisationId} = ${organisationId}
           and ${apiKeys.createdAt} > ${createdSince}) < ${MAX_API_KEYS_CREATED}
    and ${replaces ? sql`exists (select 1 from ${apiKeys} where ${replaced})` : sql`true`}`
  const isNew = sql`exists (select 1 from ${apiKeys} where ${apiKeys.id} = ${id}
                      and ${apiKeys.hash} = ${row.hash})`
  const [created, , existing] = await db.batch([
    insertWhere(env, apiKeys, { ...row, id }, allowed).onConflictDoNothing(),
    auditInsert(
      env,
      {
        organisationId,
        actor,
        action: 'api_key.created',
        target: id,
        details: {
          name,
          mode,
          last_four: row.lastFour,
          ...(expiresAt && { expires_at: expiresAt.toISOString() }),
        },
      },
      isNew,
    ),
    db.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.id, id)),
    ...(replaces ? replacement({ env, actor, organisationId, id, isNew, ...replaces }) : []),
  ])
  if (created.meta.changes > 0) {
    await organisationStub(env, organisationId).refresh()
    const createdBy = actor.type === 'user' ? actor.email : 'Support staff'
    const notification = {
      kind: 'api_key_created' as const,
      name,
      mode,
      lastFour: row.lastFour,
      createdBy,
    }
    waitUntil(notify({ env, organisationId, notification }))
    return { id, key }
  }
  if (existing.length > 0) return null
  await requireUnlimited({ env, actor, organisationId }, 'develop')
  if (await isScheduledForDeletion(env, organisationId)) throw new AppError('deletion_scheduled')
  if (replaces) {
    const replacedKey = await readApiKey({ env, actor, organisationId, keyId: replaces.keyId })
    if (!isActive(replacedKey)) return null
  }
  throw apiKeyLimitReached()
}

/** Statements that end the replaced key if the new one was inserted, with an audit entry. */
function replacement({
  env,
  actor,
  organisationId,
  id,
  isNew,
  keyId,
  endsAt,
}: OrganisationRequest & { id: string; isNew: SQL; keyId: string; endsAt: Date }) {
  const details = { new_key: id, ends_at: endsAt.toISOString() }
  const ends = endsAt.getTime()
  return [
    auditInsert(
      env,
      { organisationId, actor, action: 'api_key.rolled', target: keyId, details },
      isNew,
    ),
    database(env)
      .update(apiKeys)
      // An earlier expiry remains.
      .set({ revokedAt: sql`min(coalesce(${apiKeys.revokedAt}, ${ends}), ${ends})` })
      .where(and(eq(apiKeys.id, keyId), isNew)),
  ]
}

async function isScheduledForDeletion(env: Env, organisationId: string): Promise<boolean> {
  const rows = await database(env)
    .select({ id: organisations.id })
    .from(organisations)
    .where(and(eq(organisations.id, organisationId), isNotNull(organisations.deleteAfter)))
  return rows.length > 0
}
