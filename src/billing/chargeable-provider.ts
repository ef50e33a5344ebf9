// Whether an organisation can be charged without its customer being present.
import type { BillingAccountRow } from '../platform/db/billing-schema.ts'
import { configuredProvider } from './choose-provider.ts'
import type { PaymentProvider } from './payment-provider.ts'

/**
 * The provider that has stored the organisation's payment method.
 * @returns null without one, also when it is stored at a provider that is no longer used
 */
export function chargeableProvider(
  env: Env,
  billing: BillingAccountRow | undefined,
): PaymentProvider | null {
  const provider = configuredProvider(env)
  const isStored =
    billing !== undefined &&
    billing.customerId !== null &&
    billing.paymentMethod !== null &&
    billing.provider === provider?.name
  return isStored ? provider : null
}
