// Lists, reads, renames and revokes API keys. Every change refreshes the Organisation, whose snapshot decides which
// requests are accepted.
import { and, desc, eq, getTableColumns, sql, type SQL } from 'drizzle-orm'
import { database } from '../platform/db/database.ts'
import { users } from '../platform/db/auth-schema.ts'
import { apiKeys, type ApiKeyRow } from '../platform/db/schema.ts'
import { AppError } from '../domain/errors.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { isRecentKey } from '../credits/snapshot.ts'
import { audited, auditInsertEach } from './audit-log.ts'
import {
  requireOwnerOrSelf,
  requirePermission,
  requireUnlimited,
  type OrganisationRequest,
} from './authorisation.ts'

const MAX_LISTED = 200

/** A key with the email address of its creator; null for an operator and for a deleted account. */
export type ListedApiKey = ApiKeyRow & { creatorEmail: string | null }

export type KeyRequest = OrganisationRequest & { keyId: string }

/** An SQL condition: the key, if it belongs to the organisation. */
export const isKey = ({ organisationId, keyId }: Pick<KeyRequest, 'organisationId' | 'keyId'>) =>
  and(eq(apiKeys.id, keyId), eq(apiKeys.organisationId, organisationId))

const selectKeys = (env: Env) =>
  database(env)
    .select({ ...getTableColumns(apiKeys), creatorEmail: users.email })
    .from(apiKeys)
    .leftJoin(users, eq(users.id, apiKeys.createdBy))

/**
 * Active keys, newest first, then recently revoked ones; at most `MAX_LISTED`. For the permission
 * `develop`.
 * @throws AppError not_found
 */
export async function listApiKeys(request: OrganisationRequest): Promise<ListedApiKey[]> {
  await requirePermission(request, 'develop')
  return selectKeys(request.env)
    .where(and(eq(apiKeys.organisationId, request.organisationId), isRecentKey()))
    .orderBy(sql`not ${isActiveKey()}`, desc(apiKeys.id))
    .limit(MAX_LISTED)
}

/**
 * The active keys that a user created in an organisation, newest first. For owners, and for the user.
 * @throws AppError not_found
 */
export async function activeKeysCreatedBy(request: OrganisationRequest & { userId: string }) {
  await requireOwnerOrSelf(request)
  const { env, organisationId, userId } = request
  return database(env)
    .select()
    .from(apiKeys)
    .where(
      and(eq(apiKeys.organisationId, organisationId), eq(apiKeys.createdBy, userId), isActiveKey()),
    )
    .orderBy(desc(apiKeys.id))
}

/**
 * One key, also a revoked one. For the permission `develop`.
 * @throws AppError not_found
 */
export async function readApiKey(request: KeyRequest): Promise<ListedApiKey> {
  await requirePermission(request, 'develop')
  const [key] = await selectKeys(request.env).where(isKey(request))
  if (!key) throw new AppError('not_found')
  return key
}

/**
 * Renames a key. For the permission `develop` without a limit to workspaces.
 * @returns false when the key is revoked
 * @throws AppError not_found
 */
export async function renameApiKey(request: KeyRequest & { name: string }): Promise<boolean> {
  const { env, keyId, name } = request
  await requireUnlimited(request, 'develop')
  const key = await readApiKey(request)
  if (key.name === name) return isActive(key)
  const details = { name_old: key.name, name_new: name }
  return audited(
    { ...request, action: 'api_key.renamed', target: keyId, details },
    database(env)
      .update(apiKeys)
      .set({ name })
      .where(and(isKey(request), isActiveKey())),
  )
}

/**
 * Revokes a key with effect from the next request. Repeating it changes nothing. For the
 * permission `develop` without a limit to workspaces.
 * @throws AppError not_found
 */
export async function revokeApiKey(request: KeyRequest): Promise<void> {
  await requireUnlimited(request, 'develop')
  const { env, organisationId, keyId } = request
  const db = database(env)
  const [, , known] = await db.batch([
    ...revocation(request, eq(apiKeys.id, keyId)),
    db.select({ id: apiKeys.id }).from(apiKeys).where(isKey(request)),
  ])
  if (known.length === 0) throw new AppError('not_found')
  // Runs for a repeated request too: the first one may have failed before this step.
  await organisationStub(env, organisationId).refresh()
}

/** Statements that revoke active keys, with audit entries. The caller refreshes the Organisation. */
export function revocation(request: OrganisationRequest, which: SQL) {
  const { env, organisationId } = request
  const active = and(eq(apiKeys.organisationId, organisationId), isActiveKey(), which)
  return [
    auditInsertEach({ ...request, action: 'api_key.revoked' }, sql`${apiKeys} where ${active}`, {
      target: sql`${apiKeys.id}`,
      details: sql`json_object('name', ${apiKeys.name}, 'mode', ${apiKeys.mode},
                       'last_four', ${apiKeys.lastFour})`,
    }),
    database(env).update(apiKeys).set({ revokedAt: new Date() }).where(active),
  ] as const
}

/** An SQL condition: whether a key is active. */
export const isActiveKey = (): SQL =>
  sql`(${apiKeys.revokedAt} is null or ${apiKeys.revokedAt} > ${Date.now()})`

/** Whether a key is active. */
export const isActive = ({ revokedAt }: Pick<ApiKeyRow, 'revokedAt'>): boolean =>
  revokedAt === null || revokedAt.getTime() > Date.now()

/** The newest keys are named. Revoked keys are included. */
const MAX_NAMED = 1_000

export type NamedKey = Pick<ApiKeyRow, 'id' | 'name' | 'mode' | 'revokedAt'>

/**
 * The keys of an organisation with their names, newest first. For members who may read jobs.
 * @throws AppError not_found
 */
export async function listKeyNames(request: OrganisationRequest): Promise<NamedKey[]> {
  await requirePermission(request, 'jobs')
  const { id, name, mode, revokedAt } = apiKeys
  return database(request.env)
    .select({ id, name, mode, revokedAt })
    .from(apiKeys)
    .where(eq(apiKeys.organisationId, request.organisationId))
    .orderBy(desc(apiKeys.id))
    .limit(MAX_NAMED)
}
