// The limits of API keys: access, workspace, credits a month. The Organisation applies them, from its snapshot, and
// counts what keys and workspaces have used.
import { and, eq } from 'drizzle-orm'
import { invalid } from '../domain/errors.ts'
import type { Mode } from '../domain/job.ts'
import type { KeyLimits } from '../domain/key-limits.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { database } from '../platform/db/database.ts'
import { apiKeys, workspaces, type ApiKeyRow } from '../platform/db/schema.ts'
import { audited, changedDetails } from './audit-log.ts'
import { isActive, isActiveKey, isKey, readApiKey, type KeyRequest } from './api-keys.ts'
import { requireUnlimited, requireMember, type OrganisationRequest } from './authorisation.ts'

/** The limits to store. Jobs of test keys cost nothing, so these keys have no limit of credits. */
export const limitsIn = (mode: Mode, { access, workspaceId, monthlyCredits }: KeyLimits) => ({
  access,
  workspaceId,
  monthlyCredits: mode === 'test' ? null : monthlyCredits,
})

/** The limits of a new key as details of an audit entry. */
export const limitDetails = ({ access, workspaceId, monthlyCredits }: KeyLimits) => ({
  ...(access !== 'full' && { access }),
  ...(workspaceId !== null && { workspace_id: workspaceId }),
  ...(monthlyCredits !== null && { monthly_credits: monthlyCredits }),
})

/** @throws AppError validation_error for a workspace that the organisation does not have; null is accepted */
export async function requireWorkspace(
  { env, organisationId }: Pick<OrganisationRequest, 'env' | 'organisationId'>,
  workspaceId: string | null,
): Promise<void> {
  if (workspaceId === null) return
  const isOwn = and(eq(workspaces.id, workspaceId), eq(workspaces.organisationId, organisationId))
  if ((await database(env).$count(workspaces, isOwn)) === 0) {
    throw invalid('Choose a workspace of the organisation.')
  }
}

/**
 * Changes the limits of a key with effect from the next request. For the permission `develop` without a limit
 * to workspaces.
 * @returns false when the key is revoked
 * @throws AppError not_found; validation_error for an unknown workspace
 */
export async function updateKeyLimits(request: KeyRequest & { limits: KeyLimits }) {
  const { env, organisationId, keyId, limits } = request
  await requireUnlimited(request, 'develop')
  const key = await readApiKey(request)
  const change = limitsIn(key.mode, limits)
  await requireWorkspace(request, change.workspaceId)
  const details = changedDetails<KeyLimits>(limitsIn(key.mode, key), change)
  let isChanged = isActive(key)
  if (details) {
    isChanged = await audited(
      { ...request, action: 'api_key.limits_updated', target: keyId, details },
      database(env)
        .update(apiKeys)
        .set(change)
        .where(and(isKey(request), isActiveKey())),
    )
  }
  // Runs even if nothing changed: an earlier equal request may have failed before this step.
  await organisationStub(env, organisationId).refresh()
  return isChanged
}

/** An API key or a workspace. */
type Limited = Pick<ApiKeyRow, 'id' | 'monthlyCredits'> & Partial<Pick<ApiKeyRow, 'countId'>>

/**
 * The credits that those with a limit have used in this month (UTC), by id. Reserved credits are included. For
 * all members.
 * @throws AppError not_found
 */
export async function readCreditUse(request: OrganisationRequest, rows: Limited[]) {
  await requireMember(request)
  const limited = rows.filter(({ monthlyCredits }) => monthlyCredits !== null)
  if (limited.length === 0) return new Map()
  const stub = organisationStub(request.env, request.organisationId)
  const used = await stub.creditUse(limited.map(({ id, countId }) => countId ?? id))
  return new Map(limited.map(({ id }, n) => [id, used[n] ?? 0]))
}
