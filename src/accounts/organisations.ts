// Reads and updates organisations. D1 is the source of truth; the Organisation caches the fields that
// /v1 needs, so each change that concerns /v1 refreshes it. Every change is in the audit log.
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { auditInsert, changedDetails } from '../access/audit-log.ts'
import { requireOperator, requirePermission, requireUnlimited } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { creditAccountOf } from '../billing/credit-account.ts'
import { rateLimitOf } from '../billing/plans.ts'
import { database } from '../db/client.ts'
import { organisations, workspaces } from '../db/schema.ts'
import type { OrganisationRow, WorkspaceRow } from '../db/schema.ts'
import type { Actor } from '../domain/actor.ts'
import { AppError } from '../domain/errors.ts'
import { withdrawAllPending } from '../jobs/cancel.ts'
import { organisationStub } from '../organisation/stub.ts'
import { enableEndpoint } from '../webhooks/endpoints.ts'
import { organisationExists } from '../access/organisation-exists.ts'

/**
 * An organisation with its workspaces. Does not check the actor: only for operators and for use cases
 * that have checked theirs.
 */
export async function findOrganisation(
  env: Env,
  organisationId: string,
): Promise<{ organisation: OrganisationRow; workspaces: WorkspaceRow[] } | undefined> {
  const db = database(env)
  const [[organisation], workspaceRows] = await db.batch([
    db
      .select()
      .from(organisations)
      .where(and(eq(organisations.id, organisationId), organisationExists())),
    db
      .select()
      .from(workspaces)
      .where(eq(workspaces.organisationId, organisationId))
      .orderBy(asc(workspaces.id)),
  ])
  return organisation && { organisation, workspaces: workspaceRows }
}

/**
 * A page of all organisations, oldest first. For operators.
 * @param afterId the last organisation of the previous page
 */
export async function listOrganisations({
  env,
  actor,
  limit,
  afterId,
}: {
  env: Env
  actor: Actor
  limit: number
  afterId?: string | undefined
}): Promise<OrganisationRow[]> {
  requireOperator(actor)
  return database(env)
    .select()
    .from(organisations)
    .where(
      and(organisationExists(), afterId === undefined ? undefined : gt(organisations.id, afterId)),
    )
    .orderBy(asc(organisations.id))
    .limit(limit)
}

/** Members change auto-reload through billing/update-auto-reload, which checks its settings. */
const OPERATOR_FIELDS = [
  'status',
  'suspensionReason',
  'plan',
  'rateLimitPerMinute',
  'autoReloadEnabled',
] as const
const OWNER_FIELDS = ['name', 'outputRetentionDays'] as const
const DEVELOPER_FIELDS = ['defaultWebhookUrl'] as const

type ChangeableField = (
  typeof OPERATOR_FIELDS | typeof OWNER_FIELDS | typeof DEVELOPER_FIELDS
)[number]

/** The fields that can change. Region and currency cannot. */
export type OrganisationChange = Partial<
  Pick<OrganisationRow, Exclude<ChangeableField, 'rateLimitPerMinute'>>
> & {
  /** A number overrides the plan's rate limit; null returns to it. */
  rateLimitPerMinute?: number | null
}

/**
 * Changes an organisation with effect from its next request. Suspending it withdraws its pending jobs.
 * A new plan changes the rate limit unless an operator has set it. Turning auto-reload on resets its
 * failure count. Setting a default webhook URL enables its endpoint.
 * @throws AppError not_found
 */
export async function updateOrganisation({
  env,
  actor,
  organisationId,
  change,
}: OrganisationRequest & { change: OrganisationChange }): Promise<void> {
  await requirePermissionFor(change, { env, actor, organisationId })
  const db = database(env)
  const isOrganisation = eq(organisations.id, organisationId)
  const [before] = await db
    .select()
    .from(organisations)
    .where(and(isOrganisation, organisationExists()))
  if (!before) throw new AppError('not_found', 'No organisation with this id.')
  const { rateLimitPerMinute: _, ...others } = change
  const fields = {
    ...(change.status === 'active' && { suspensionReason: null }),
    ...others,
    ...rateLimitAfter(change, before),
  }
  const details = changedDetails(before, fields)
  if (details) {
    // Makes the next run of retention apply the new retention period.
    const due = 'outputRetentionDays' in change && { retentionDueAt: new Date() }
    await db.batch([
      db
        .update(organisations)
        .set({ ...fields, ...due })
        .where(isOrganisation),
      auditInsert(
        env,
        { organisationId, actor, action: 'organisation.updated', target: organisationId, details },
        sql`exists (select 1 from ${organisations} where ${isOrganisation})`,
      ),
    ])
  }
  // Runs even if nothing changed: an earlier equal request may have failed before these steps.
  await organisationStub(env, organisationId).refresh()
  if (change.autoReloadEnabled) {
    await creditAccountOf(env, organisationId).resetAutoReload({ organisationId })
  }
  if (change.status === 'suspended') await withdrawAllPending({ env, organisationId })
  const url = change.defaultWebhookUrl
  if (url) await enableEndpoint({ env, actor, organisationId, url })
}

/** The fields to set: the rate limit follows the plan unless an operator has set it. */
function rateLimitAfter(
  { plan, rateLimitPerMinute }: OrganisationChange,
  before: OrganisationRow,
): Partial<Pick<OrganisationRow, 'rateLimitPerMinute' | 'rateLimitOverridden'>> {
  if (typeof rateLimitPerMinute === 'number') {
    return { rateLimitPerMinute, rateLimitOverridden: true }
  }
  const followsPlan =
    rateLimitPerMinute === null || (plan !== undefined && !before.rateLimitOverridden)
  if (!followsPlan) return {}
  return { rateLimitPerMinute: rateLimitOf(plan ?? before.plan), rateLimitOverridden: false }
}

async function requirePermissionFor(
  change: OrganisationChange,
  request: OrganisationRequest,
): Promise<void> {
  if (OPERATOR_FIELDS.some((field) => field in change)) return requireOperator(request.actor)
  if (OWNER_FIELDS.some((field) => field in change)) {
    await requirePermission(request, 'administer')
    return
  }
  return requireUnlimited(request, 'develop')
}
