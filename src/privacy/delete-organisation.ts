// Schedules and cancels the deletion of an organisation. While it is scheduled, /v1 treats the
// organisation as suspended.
import { and, eq, gt, isNull } from 'drizzle-orm'
import { organisationStub } from '../credits/organisation-stub.ts'
import { AppError } from '../domain/errors.ts'
import { withdrawAllPending } from '../jobs/cancel.ts'
import { mailMembers } from '../mail/mail-members.ts'
import { organisationDeletionEmail } from '../mail/templates.tsx'
import { auditInsert } from '../organisations/audit-log.ts'
import { requirePermission, type OrganisationRequest } from '../organisations/authorisation.ts'
import { organisationExists } from '../organisations/organisations.ts'
import { graceEnd } from '../organisations/grace-period.ts'
import { billingAccounts } from '../platform/db/billing-schema.ts'
import { database, IF_CHANGED } from '../platform/db/database.ts'
import { organisations, type OrganisationRow } from '../platform/db/schema.ts'

/**
 * Schedules the deletion, withdraws pending jobs and sends email to the owners. Repeating it changes
 * nothing. For owners.
 * @param baseUrl the start of the link in the email
 * @throws AppError not_found
 */
export async function scheduleOrganisationDeletion(
  request: OrganisationRequest & { baseUrl: string },
): Promise<OrganisationRow & { deleteAfter: Date }> {
  const { env, organisationId, baseUrl } = request
  await requirePermission(request, 'administer')
  const db = database(env)
  const deleteAfter = graceEnd()
  const isUnscheduled = and(eq(organisations.id, organisationId), isNull(organisations.deleteAfter))
  const details = { delete_after: deleteAfter.toISOString() }
  const [scheduled, , [organisation]] = await db.batch([
    db.update(organisations).set({ deleteAfter }).where(isUnscheduled),
    auditInsert({ ...request, action: 'organisation.deletion_scheduled', details }, IF_CHANGED),
    db
      .select()
      .from(organisations)
      .where(and(eq(organisations.id, organisationId), organisationExists())),
  ])
  if (!organisation?.deleteAfter) {
    throw new AppError('not_found', 'No organisation with this id.')
  }
  const due = organisation.deleteAfter
  // A failure of one must not stop the other. If they fail, the snapshot expires and consumers withdraw
  // the jobs.
  const results = await Promise.allSettled([
    suspendScheduled(env, organisationId),
    scheduled.meta.changes > 0 &&
      mailMembers({
        env,
        organisationId,
        to: 'owners',
        page: '/settings/organisation',
        email: organisationDeletionEmail(due),
        baseUrl,
      }),
  ])
  for (const result of results) if (result.status === 'rejected') throw result.reason
  return { ...organisation, deleteAfter: due }
}

/** Makes a scheduled deletion effective for /v1. */
export async function suspendScheduled(env: Env, organisationId: string): Promise<void> {
  const organisation = organisationStub(env, organisationId)
  await organisation.refresh()
  // The billing tasks end the subscription with its period.
  await organisation.scheduleBilling({ organisationId, at: Date.now() })
  await withdrawAllPending({ env, organisationId })
}

/**
 * Cancels the deletion within the grace period. A suspension by an operator remains. Changes
 * nothing when no deletion is scheduled. For owners.
 * @returns `planEnds`: whether the plan ends with its period, which the deletion has caused
 * @throws AppError not_found, also once the grace period is over
 */
export async function cancelOrganisationDeletion(request: OrganisationRequest) {
  const { env, organisationId } = request
  await requirePermission(request, 'administer')
  const db = database(env)
  // Starting the deletion sets the column to 0, so only the first of the two statements applies.
  const isScheduled = and(
    eq(organisations.id, organisationId),
    gt(organisations.deleteAfter, new Date()),
  )
  const [, , found, [billing]] = await db.batch([
    db.update(organisations).set({ deleteAfter: null }).where(isScheduled),
    auditInsert({ ...request, action: 'organisation.deletion_cancelled' }, IF_CHANGED),
    db
      .select({ id: organisations.id })
      .from(organisations)
      .where(and(eq(organisations.id, organisationId), isNull(organisations.deleteAfter))),
    db
      .select({ nextPlan: billingAccounts.nextPlan })
      .from(billingAccounts)
      .where(eq(billingAccounts.organisationId, organisationId)),
  ])
  if (found.length === 0) throw new AppError('not_found', 'No organisation with this id.')
  await organisationStub(env, organisationId).refresh()
  return { planEnds: billing?.nextPlan === 'starter' }
}
