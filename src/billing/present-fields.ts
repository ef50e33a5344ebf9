// The fields of organisations, payments and terms that the export of an organisation and /operator have in common.
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import type { EnterpriseTerms } from '../domain/billing.ts'
import { currencyOf } from '../domain/organisation.ts'
import type { OrganisationRow } from '../platform/db/schema.ts'

/** Without its id. */
export const organisationFields = (
  organisation: OrganisationRow,
  defaultUrl: string | null | undefined,
) => ({
  name: organisation.name,
  plan: organisation.plan,
  region_code: organisation.regionCode,
  currency_code: currencyOf(organisation.regionCode),
  status: organisation.status,
  rate_limit_per_minute: organisation.rateLimitPerMinute,
  default_webhook_url: defaultUrl ?? null,
  auto_reload_enabled: organisation.autoReloadEnabled,
  output_retention_days: organisation.outputRetentionDays,
  delete_after: organisation.deleteAfter?.toISOString() ?? null,
})

/** Without ids and URLs. Amounts are minor units of `currency_code`. */
export const paymentFields = (payment: PaymentRow) => ({
  kind: payment.kind,
  status: payment.status,
  plan: payment.plan,
  credits: payment.credits,
  credits_reversed: payment.creditsReversed,
  amount: payment.amount,
  amount_refunded: payment.amountRefunded,
  currency_code: payment.currency,
  dispute: payment.dispute,
  failure: payment.failure,
  created_by: payment.createdBy,
  created_at: payment.createdAt.toISOString(),
  paid_at: payment.paidAt?.toISOString() ?? null,
})

/** Amounts are minor units of the organisation's currency. */
export const termsFields = (terms: EnterpriseTerms) => ({
  monthly_fee: terms.monthlyFee,
  included_credits: terms.includedCredits,
  credit_price: terms.creditPrice,
})
