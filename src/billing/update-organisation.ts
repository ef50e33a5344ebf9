// Updates organisations. D1 is the source of truth; the Organisation caches the fields that /v1 needs, so
// each change that concerns /v1 refreshes it. Every change is in the audit log. It is here because a plan
// sets the rate limit, and a suspension withdraws jobs: organisations/ imports neither billing nor jobs.
import { eq } from 'drizzle-orm'
import { organisationStub } from '../credits/organisation-stub.ts'
import { AppError } from '../domain/errors.ts'
import { withdrawAllPending } from '../jobs/cancel.ts'
import { audited, changedDetails } from '../organisations/audit-log.ts'
import {
  requireOperator,
  requirePermission,
  type OrganisationRequest,
} from '../organisations/authorisation.ts'
import { database } from '../platform/db/database.ts'
import { organisations, type OrganisationRow } from '../platform/db/schema.ts'
import { findBillableOrganisation } from './billing-account.ts'
import { rateLimitOf } from './plans.ts'

/** Members change auto-reload through billing/update-auto-reload, which checks its settings. */
const OPERATOR_FIELDS = [
  'status',
  'suspensionReason',
  'plan',
  'rateLimitPerMinute',
  'autoReloadEnabled',
  'autoReloadCeiling',
] as const

type ChangeableField = (typeof OPERATOR_FIELDS)[number] | 'name' | 'outputRetentionDays'

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
 * failure count.
 * @throws AppError not_found
 */
export async function updateOrganisation(
  request: OrganisationRequest & { change: OrganisationChange },
): Promise<void> {
  const { env, organisationId, change } = request
  const isForOperators = OPERATOR_FIELDS.some((field) => field in change)
  if (isForOperators) requireOperator(request.actor)
  else await requirePermission(request, 'administer')
  const before = await findBillableOrganisation(env, organisationId)
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
    await audited(
      { ...request, action: 'organisation.updated', target: organisationId, details },
      database(env)
        .update(organisations)
        .set({ ...fields, ...due })
        .where(eq(organisations.id, organisationId)),
    )
  }
  // Runs even if nothing changed: an earlier equal request may have failed before these steps.
  await organisationStub(env, organisationId).refresh()
  if (change.autoReloadEnabled) {
    await organisationStub(env, organisationId).resetAutoReload({ organisationId })
  }
  if (change.status === 'suspended') await withdrawAllPending({ env, organisationId })
}

/** The fields to set: the rate limit follows the plan unless an operator has set it. */
function rateLimitAfter({ plan, rateLimitPerMinute }: OrganisationChange, before: OrganisationRow) {
  if (typeof rateLimitPerMinute === 'number') {
    return { rateLimitPerMinute, rateLimitOverridden: true }
  }
  const followsPlan =
    rateLimitPerMinute === null || (plan !== undefined && !before.rateLimitOverridden)
  if (!followsPlan) return {}
  return { rateLimitPerMinute: rateLimitOf(plan ?? before.plan), rateLimitOverridden: false }
}
