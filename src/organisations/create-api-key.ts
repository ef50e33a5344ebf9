// Creates API keys, also as the replacement of another one. D1 stores their hashes only: a key is
// returned once.
import { waitUntil } from 'cloudflare:workers'
import { and, eq, isNotNull, sql, type SQL } from 'drizzle-orm'
import { database, insertWhere } from '../platform/db/database.ts'
import { apiKeys, organisations, type ApiKeyRow } from '../platform/db/schema.ts'
import { AppError } from '../domain/errors.ts'
import { newId } from '../platform/ids.ts'
import { DAY_MS, HOUR_MS } from '../domain/limits.ts'
import { NO_KEY_LIMITS, type KeyLimits } from '../domain/key-limits.ts'
import { hashKey, createKey } from '../credits/api-key.ts'
import type { Mode } from '../domain/job.ts'
import { mailMembers } from '../mail/mail-members.ts'
import { apiKeyCreatedEmail } from '../mail/templates.tsx'
import { organisationStub } from '../credits/organisation-stub.ts'
import { countIdOf } from '../credits/snapshot.ts'
import { auditInsert } from './audit-log.ts'
import { isUnlimited, requireUnlimited, type OrganisationRequest } from './authorisation.ts'
import { isActive, isActiveKey, isKey, readApiKey, type KeyRequest } from './api-keys.ts'
import { limitDetails, limitsIn, requireWorkspace } from './key-limits.ts'
import {
  API_KEYS_CREATED_DAYS,
  apiKeyLimitReached,
  MAX_ACTIVE_API_KEYS,
  MAX_API_KEYS_CREATED,
} from './organisation-limits.ts'

/** A new key in plain text, and its row. */
export function newApiKey({
  limits = NO_KEY_LIMITS,
  ...fields
}: Pick<ApiKeyRow, 'organisationId' | 'mode' | 'name'> &
  Partial<Pick<ApiKeyRow, 'createdBy' | 'revokedAt' | 'countId'>> & { limits?: KeyLimits }) {
  const key = createKey(fields.organisationId, fields.mode)
  const row = {
    id: newId('key'),
    hash: hashKey(key),
    lastFour: key.slice(-4),
    createdAt: new Date(),
    ...limitsIn(fields.mode, limits),
    ...fields,
  }
  return { key, row }
}

/** The key is in plain text and cannot be read again. */
type CreatedApiKey = { id: string; key: string }

/**
 * Creates a key. For the permission `develop` without a limit to workspaces.
 * @param id chosen by the caller if the request can be repeated: one id creates one key
 * @param expiresAt requests with the key are rejected from then on; null: never
 * @param replaces the active key that the new one replaces, when it is revoked, and whose credits count
 *   together with those of the new one
 * @returns null when the id is already in use, or the replaced key is not active
 * @throws AppError not_found, deletion_scheduled; validation_error at the limit of keys, or for an unknown
 *   workspace
 */
export async function createApiKey({
  mode,
  name,
  id = newId('key'),
  expiresAt = null,
  limits = NO_KEY_LIMITS,
  replaces,
  ...request
}: OrganisationRequest & {
  mode: Mode
  name: string
  id?: string
  expiresAt?: Date | null
  limits?: KeyLimits
  replaces?: { keyId: string; endsAt: Date; countId: string }
}): Promise<CreatedApiKey | null> {
  const { env, actor, organisationId } = request
  const db = database(env)
  const createdBy = actor.type === 'user' ? actor.userId : null
  const countId = replaces?.countId ?? null
  const fields = { organisationId, mode, name, createdBy, limits, countId }
  const { key, row } = newApiKey({ ...fields, revokedAt: expiresAt })
  await requireWorkspace(request, row.workspaceId)
  const { lastFour } = row
  const createdSince = Date.now() - API_KEYS_CREATED_DAYS * DAY_MS
  const replaced = replaces && and(isKey({ organisationId, ...replaces }), isActiveKey())
  const allowed = sql`${isUnlimited(actor, organisationId, 'develop')}
    and exists (select 1 from ${organisations} where ${organisations.id} = ${organisationId}
                  and ${organisations.deleteAfter} is null)
    and (select count(*) from ${apiKeys} where ${apiKeys.organisationId} = ${organisationId}
           and ${isActiveKey()}) < ${MAX_ACTIVE_API_KEYS}
    and (select count(*) from ${apiKeys} where ${apiKeys.organisationId} = ${organisationId}
           and ${apiKeys.createdAt} > ${createdSince}) < ${MAX_API_KEYS_CREATED}
    and ${replaced ? sql`exists (select 1 from ${apiKeys} where ${replaced})` : sql`true`}`
  const isNew = sql`exists (select 1 from ${apiKeys} where ${apiKeys.id} = ${id}
                      and ${apiKeys.hash} = ${row.hash})`
  const expires = expiresAt && { expires_at: expiresAt.toISOString() }
  const details = { name, mode, last_four: lastFour, ...expires, ...limitDetails(row) }
  const [created, , existing] = await db.batch([
    insertWhere(env, apiKeys, { ...row, id }, allowed).onConflictDoNothing(),
    auditInsert({ ...request, action: 'api_key.created', target: id, details }, isNew),
    db.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.id, id)),
    ...(replaces ? replacement({ ...request, ...replaces }, { id, isNew }) : []),
  ])
  if (created.meta.changes > 0) {
    await organisationStub(env, organisationId).refresh()
    const createdBy = actor.type === 'user' ? actor.email : 'Support staff'
    const email = apiKeyCreatedEmail({ name, mode, lastFour, createdBy })
    const page = '/settings/api-keys'
    waitUntil(mailMembers({ env, organisationId, to: 'api_key_created', page, email }))
    return { id, key }
  }
  if (existing.length > 0) return null
  await requireUnlimited(request, 'develop')
  const isScheduled = isNotNull(organisations.deleteAfter)
  if (await db.$count(organisations, and(eq(organisations.id, organisationId), isScheduled))) {
    throw new AppError('deletion_scheduled')
  }
  if (replaces && !isActive(await readApiKey({ ...request, ...replaces }))) return null
  throw apiKeyLimitReached()
}

/** How long the old key can remain active, hours. */
export const OVERLAP_HOURS = [0, 1, 24, 72] as const

/**
 * Creates a key with the name, mode, expiry and limits of another one, which is revoked after the overlap. For the
 * permission `develop` without a limit to workspaces.
 * @param id chosen by the caller: one id creates one key
 * @returns the new key; null when the id is already in use, or the old key is not active
 * @throws AppError not_found, deletion_scheduled; validation_error at the limit of keys
 */
export async function rollApiKey({
  keyId,
  overlapHours,
  id,
  ...request
}: KeyRequest & {
  overlapHours: (typeof OVERLAP_HOURS)[number]
  id: string
}): Promise<CreatedApiKey | null> {
  const old = await readApiKey({ ...request, keyId })
  const { name, mode, revokedAt: expiresAt } = old
  const endsAt = new Date(Date.now() + overlapHours * HOUR_MS)
  const replaces = { keyId, endsAt, countId: countIdOf(old) }
  return createApiKey({ ...request, id, mode, name, expiresAt, limits: old, replaces })
}

/** Statements that end the replaced key if the new one was inserted, with an audit entry. */
function replacement(
  { keyId, endsAt, ...request }: KeyRequest & { endsAt: Date },
  { id, isNew }: { id: string; isNew: SQL },
) {
  const { env } = request
  const details = { new_key: id, ends_at: endsAt.toISOString() }
  const ends = endsAt.getTime()
  return [
    auditInsert({ ...request, action: 'api_key.rolled', target: keyId, details }, isNew),
    database(env)
      .update(apiKeys)
      // An earlier expiry remains.
      .set({ revokedAt: sql`min(coalesce(${apiKeys.revokedAt}, ${ends}), ${ends})` })
      .where(and(eq(apiKeys.id, keyId), isNew)),
  ]
}
