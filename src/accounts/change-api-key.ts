// Changes of an active API key: its name, and its replacement by a new key.
import { and, eq, sql } from 'drizzle-orm'
import { auditInsert } from '../access/audit-log.ts'
import { requireUnlimited } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { database } from '../db/client.ts'
import { apiKeys } from '../db/schema.ts'
import { isActive, isActiveKey } from './active-key.ts'
import { readApiKey } from './api-keys.ts'
import { createApiKey } from './create-api-key.ts'
import type { CreatedApiKey } from './create-api-key.ts'

type KeyRequest = OrganisationRequest & { keyId: string }

/**
 * Renames a key. For the permission `develop` without a limit to workspaces.
 * @returns false when the key is revoked
 * @throws AppError not_found
 */
export async function renameApiKey({
  env,
  actor,
  organisationId,
  keyId,
  name,
}: KeyRequest & { name: string }): Promise<boolean> {
  await requireUnlimited({ env, actor, organisationId }, 'develop')
  const key = await readApiKey({ env, actor, organisationId, keyId })
  if (key.name === name) return isActive(key)
  const renamed = and(
    eq(apiKeys.id, keyId),
    eq(apiKeys.organisationId, organisationId),
    isActiveKey(),
  )
  const [, { meta }] = await database(env).batch([
    auditInsert(
      env,
      {
        organisationId,
        actor,
        action: 'api_key.renamed',
        target: keyId,
        details: { name_old: key.name, name_new: name },
      },
      sql`exists (select 1 from ${apiKeys} where ${renamed})`,
    ),
    database(env).update(apiKeys).set({ name }).where(renamed),
  ])
  return meta.changes > 0
}

const HOUR_MS = 60 * 60_000
/** How long the old key can remain active, hours. */
export const OVERLAP_HOURS = [0, 1, 24, 72] as const

/**
 * Creates a key with the name, mode and expiry of another one, which is revoked after the overlap. For the
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
  const { name, mode, revokedAt: expiresAt } = await readApiKey({ ...request, keyId })
  const endsAt = new Date(Date.now() + overlapHours * HOUR_MS)
  return createApiKey({ ...request, id, mode, name, expiresAt, replaces: { keyId, endsAt } })
}
