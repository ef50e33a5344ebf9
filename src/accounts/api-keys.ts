// Lists, reads and revokes API keys. Every change refreshes the Organisation, whose snapshot decides which
// requests are accepted.
import { and, desc, eq, getTableColumns, gt, isNull, or, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { users } from '../db/auth-schema.ts'
import { apiKeys } from '../db/schema.ts'
import type { ApiKeyRow } from '../db/schema.ts'
import { AppError } from '../domain/errors.ts'
import { organisationStub } from '../organisation/stub.ts'
import { revokedKeysSince } from '../organisation/snapshot.ts'
import { auditInsertEach } from '../access/audit-log.ts'
import { requireOwnerOrSelf, requirePermission, requireUnlimited } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { isActiveKey } from './active-key.ts'

const MAX_LISTED = 200

/** A key with the email address of its creator; null for an operator and for a deleted account. */
export type ListedApiKey = ApiKeyRow & { creatorEmail: string | null }

/**
 * Active keys, newest first, then recently revoked ones; at most `MAX_LISTED`. For the permission
 * `develop`.
 * @throws AppError not_found
 */
export async function listApiKeys({
  env,
  actor,
  organisationId,
}: OrganisationRequest): Promise<ListedApiKey[]> {
  await requirePermission({ env, actor, organisationId }, 'develop')
  return database(env)
    .select({ ...getTableColumns(apiKeys), creatorEmail: users.email })
    .from(apiKeys)
    .leftJoin(users, eq(users.id, apiKeys.createdBy))
    .where(
      and(
        eq(apiKeys.organisationId, organisationId),
        or(isNull(apiKeys.revokedAt), gt(apiKeys.revokedAt, revokedKeysSince())),
      ),
    )
    .orderBy(sql`not ${isActiveKey()}`, desc(apiKeys.id))
    .limit(MAX_LISTED)
}

/**
 * The active keys that a user created in an organisation, newest first. For owners, and for the user.
 * @throws AppError not_found
 */
export async function activeKeysCreatedBy({
  env,
  actor,
  organisationId,
  userId,
}: OrganisationRequest & { userId: string }): Promise<ApiKeyRow[]> {
  await requireOwnerOrSelf({ env, actor, organisationId, userId })
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
export async function readApiKey({
  keyId,
  ...request
}: OrganisationRequest & { keyId: string }): Promise<ListedApiKey> {
  await requirePermission(request, 'develop')
  const [key] = await database(request.env)
    .select({ ...getTableColumns(apiKeys), creatorEmail: users.email })
    .from(apiKeys)
    .leftJoin(users, eq(users.id, apiKeys.createdBy))
    .where(and(eq(apiKeys.id, keyId), eq(apiKeys.organisationId, request.organisationId)))
  if (!key) throw new AppError('not_found')
  return key
}

/**
 * Revokes a key with effect from the next request. Repeating it changes nothing. For the
 * permission `develop` without a limit to workspaces.
 * @throws AppError not_found
 */
export async function revokeApiKey({
  env,
  actor,
  organisationId,
  keyId,
}: OrganisationRequest & { keyId: string }): Promise<void> {
  await requireUnlimited({ env, actor, organisationId }, 'develop')
  const db = database(env)
  const [, , known] = await db.batch([
    ...revocation({ env, actor, organisationId, which: eq(apiKeys.id, keyId) }),
    db
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(and(eq(apiKeys.id, keyId), eq(apiKeys.organisationId, organisationId))),
  ])
  if (known.length === 0) throw new AppError('not_found')
  // Runs for a repeated request too: the first one may have failed before this step.
  await organisationStub(env, organisationId).refresh()
}

/** Statements that revoke active keys, with audit entries. The caller refreshes the Organisation. */
export function revocation({
  env,
  actor,
  organisationId,
  which,
}: OrganisationRequest & { which: SQL }) {
  const active = and(eq(apiKeys.organisationId, organisationId), isActiveKey(), which)
  return [
    auditInsertEach(
      env,
      { organisationId, actor, action: 'api_key.revoked' },
      sql`${apiKeys} where ${active}`,
      {
        target: sql`${apiKeys.id}`,
        details: sql`json_object('name', ${apiKeys.name}, 'mode', ${apiKeys.mode},
                       'last_four', ${apiKeys.lastFour})`,
      },
    ),
    database(env).update(apiKeys).set({ revokedAt: new Date() }).where(active),
  ] as const
}
