// The plan `enterprise`: terms that operators agree with an organisation, and its monthly credits. The
// monthly fee is invoiced outside this service.
import { eq } from 'drizzle-orm'
import { organisationStub } from '../credits/organisation-stub.ts'
import type { EnterpriseTerms } from '../domain/billing.ts'
import { AppError } from '../domain/errors.ts'
import { monthOf, monthStart } from '../domain/month.ts'
import { auditInsert, changedDetails } from '../organisations/audit-log.ts'
import { requireOperator, type OrganisationRequest } from '../organisations/authorisation.ts'
import { database, IF_CHANGED } from '../platform/db/database.ts'
import { organisations } from '../platform/db/schema.ts'
import {
  endWithPeriod,
  findBillableOrganisation,
  findBillingAccount,
  hasSubscription,
  saveBillingAccount,
  type BillingTask,
} from './billing-account.ts'

/** The ledger reference of a month's grant is this and the month, such as `terms:2026-11`. */
export const TERMS_REFERENCE = 'terms:'

/** When the alarm grants the first credits if this request fails before it has done so, ms. */
const REPAIR_AFTER_MS = 10 * 60_000

/**
 * Sets the terms of an organisation with the plan `enterprise` and its own rate limit, effective
 * immediately, and grants the credits of the current month. A subscription ends with its period. May be
 * repeated. For operators.
 * @throws AppError not_found
 * @throws PaymentError when the subscription's provider cannot be reached; nothing is changed then
 */
export async function setEnterpriseTerms(
  request: OrganisationRequest & { terms: EnterpriseTerms; rateLimitPerMinute: number },
): Promise<void> {
  const { env, actor, organisationId, terms, rateLimitPerMinute } = request
  requireOperator(actor)
  const organisation = await findBillableOrganisation(env, organisationId)
  if (!organisation) throw new AppError('not_found', 'No organisation with this id.')
  const billing = await findBillingAccount(env, organisationId)
  if (hasSubscription(billing)) await endWithPeriod(env, billing, organisation)
  const account = organisationStub(env, organisationId)
  await account.scheduleBilling({ organisationId, at: Date.now() + REPAIR_AFTER_MS })
  const fields = { plan: 'enterprise', rateLimitPerMinute, rateLimitOverridden: true } as const
  const details = changedDetails(
    { ...organisation, ...billing?.enterpriseTerms },
    { ...fields, ...terms },
  )
  if (details) {
    const db = database(env)
    const entry = { env, organisationId, actor, target: organisationId, details }
    await db.batch([
      db.update(organisations).set(fields).where(eq(organisations.id, organisationId)),
      auditInsert({ ...entry, action: 'enterprise_terms.updated' }, IF_CHANGED),
      saveBillingAccount(env, organisationId, { enterpriseTerms: terms }),
    ])
  }
  // Runs even if nothing changed: an earlier equal request may have failed before these steps.
  await account.refresh()
  await grantIncludedCredits({ env, account, organisationId, now: Date.now() })
}

/**
 * Grants the credits of the current month (UTC) to an organisation on the plan `enterprise`, once.
 * A change of the terms affects the credits of the next month.
 * @param request `now` in ms since 1970
 * @returns when to call it again, ms since 1970; undefined for an organisation without included credits
 */
export async function grantIncludedCredits(request: BillingTask & { now: number }) {
  const { env, account, organisationId, now } = request
  const billing = await findBillingAccount(env, organisationId)
  const amount = billing?.enterpriseTerms?.includedCredits
  if (!amount) return undefined
  // A grant would store data in an Organisation that is deleted or about to be.
  const organisation = await findBillableOrganisation(env, organisationId)
  if (organisation?.plan !== 'enterprise') return undefined
  const today = new Date(now)
  const reference = `${TERMS_REFERENCE}${monthOf(today)}`
  await account.grant({ amount, reference, reason: 'Credits included in the plan' })
  return monthStart(today, 1).getTime()
}
