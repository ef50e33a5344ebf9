// Billing in the responses of /operator. Amounts are minor units of `currency_code`.
import { autoReloadCeiling, autoReloadSettings } from '../billing/auto-reload-settings.ts'
import { paymentFields, termsFields } from '../billing/present-payment.ts'
import type { BillingAccountRow, PaymentRow } from '../platform/db/billing-schema.ts'
import type { OrganisationRow } from '../platform/db/schema.ts'
import type { EnterpriseTerms } from '../domain/billing.ts'
import { currencyOf } from '../domain/organisation.ts'

export const presentTerms = (organisation: OrganisationRow, terms: EnterpriseTerms) => ({
  org_id: organisation.id,
  currency_code: currencyOf(organisation.regionCode),
  ...termsFields(terms),
  rate_limit_per_minute: organisation.rateLimitPerMinute,
})

/** @param account undefined before the first payment */
export const presentBilling = (
  organisation: OrganisationRow,
  account: BillingAccountRow | undefined,
) => ({
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
  auto_reload: presentAutoReload(organisation, account?.enterpriseTerms),
})

/** The settings in force, including the defaults. */
function presentAutoReload(
  organisation: OrganisationRow,
  terms: EnterpriseTerms | null | undefined,
) {
  const { threshold, pack, amount, monthlyMax } = autoReloadSettings(organisation, terms)
  return {
    enabled: organisation.autoReloadEnabled,
    threshold,
    pack,
    pack_price: amount,
    monthly_max: monthlyMax,
    ceiling: autoReloadCeiling(organisation),
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
