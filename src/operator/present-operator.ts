// Organisations, their audit log and their billing in the responses of /operator. Amounts are minor units of
// `currency_code`.
import { autoReloadCeiling, autoReloadSettings } from '../billing/auto-reload-settings.ts'
import { organisationFields, paymentFields, termsFields } from '../billing/present-fields.ts'
import type { EnterpriseTerms } from '../domain/billing.ts'
import { currencyOf } from '../domain/organisation.ts'
import type { BillingAccountRow, PaymentRow } from '../platform/db/billing-schema.ts'
import type { AuditRow, OrganisationRow } from '../platform/db/schema.ts'

export const presentOrganisation = (
  organisation: OrganisationRow,
  defaultUrl: string | null | undefined,
) => ({ org_id: organisation.id, ...organisationFields(organisation, defaultUrl) })

export const presentAuditEntry = (entry: AuditRow) => ({
  id: entry.id,
  at: entry.at.toISOString(),
  actor: { type: entry.actorType, id: entry.actorId, email: entry.actorEmail },
  action: entry.action,
  target: entry.target,
  details: entry.details,
  ip_address: entry.ipAddress,
})

export const presentTerms = (organisation: OrganisationRow, terms: EnterpriseTerms) => ({
  org_id: organisation.id,
  currency_code: currencyOf(organisation.regionCode),
  ...termsFields(terms),
  rate_limit_per_minute: organisation.rateLimitPerMinute,
})

/** @param account undefined before the first payment */
export function presentBilling(
  organisation: OrganisationRow,
  account: BillingAccountRow | undefined,
) {
  const reload = autoReloadSettings(organisation, account?.enterpriseTerms)
  return {
    org_id: organisation.id,
    plan: organisation.plan,
    currency_code: currencyOf(organisation.regionCode),
    rate_limit_overridden: organisation.rateLimitOverridden,
    customer: account?.customerId
      ? {
          provider: account.provider,
          id: account.customerId,
          payment_method: account.paymentMethod,
        }
      : null,
    subscription: account?.subscriptionId
      ? {
          id: account.subscriptionId,
          status: account.subscriptionStatus,
          next_plan: account.nextPlan,
          period_end: account.periodEnd?.toISOString() ?? null,
          grace_until: account.graceUntil?.toISOString() ?? null,
        }
      : null,
    // The settings in force, including the defaults.
    auto_reload: {
      enabled: organisation.autoReloadEnabled,
      threshold: reload.threshold,
      pack: reload.pack,
      pack_price: reload.amount,
      monthly_max: reload.monthlyMax,
      ceiling: autoReloadCeiling(organisation),
    },
  }
}

/** A payment without the URL of its payment page, which is for the customer only. */
export const presentPayment = (payment: PaymentRow) => ({
  payment_id: payment.id,
  org_id: payment.organisationId,
  ...paymentFields(payment),
  provider: payment.provider,
  provider_reference: payment.providerReference,
  invoice_url: payment.invoiceUrl,
  checked_at: payment.checkedAt.toISOString(),
})
