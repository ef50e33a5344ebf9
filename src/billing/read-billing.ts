// Reads the billing account and the payments of an organisation.
import { requirePermission } from '../organisations/authorisation.ts'
import type { OrganisationRequest } from '../organisations/authorisation.ts'
import type { BillingAccountRow, PaymentRow } from '../platform/db/billing-schema.ts'
import { monthStart } from '../domain/month.ts'
import { findBillingAccount } from './billing-account.ts'
import { autoReloadSpent, paymentsOf } from './payment-lists.ts'

const PAGE = 20

/**
 * A page of payments, newest first, with the billing account. For the permission `billing`.
 * @param beforeId the last payment of the previous page
 * @throws AppError not_found
 */
export async function readBilling({
  env,
  actor,
  organisationId,
  beforeId,
}: OrganisationRequest & { beforeId?: string | undefined }): Promise<{
  /** Undefined before the first payment. */
  account: BillingAccountRow | undefined
  payments: PaymentRow[]
  hasMore: boolean
  /** Of automatic payments in this month (UTC), minor units. */
  autoReloadSpent: number
}> {
  await requirePermission({ env, actor, organisationId }, 'billing')
  const [account, rows, spent] = await Promise.all([
    findBillingAccount(env, organisationId),
    paymentsOf(env, organisationId, { limit: PAGE + 1, beforeId }),
    autoReloadSpent(env, organisationId, monthStart(new Date())),
  ])
  return {
    account,
    payments: rows.slice(0, PAGE),
    hasMore: rows.length > PAGE,
    autoReloadSpent: spent,
  }
}
