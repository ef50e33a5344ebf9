// Chooses the payment provider: of new payments, of existing ones, and of charges without the customer.
import type { PaymentProviderName } from '../domain/billing.ts'
import type { BillingAccountRow } from '../platform/db/billing-schema.ts'
import { isPublicUrl } from '../platform/public-deployment.ts'
import { settingsOf } from '../platform/settings.ts'
import type { PaymentProvider } from './payment-provider.ts'
import { sandbox } from './sandbox/sandbox.ts'
import { stripe } from './stripe/stripe.ts'

/** Tests replace the entries. */
export const PROVIDERS: Record<PaymentProviderName, (env: Env) => PaymentProvider> = {
  sandbox,
  stripe,
}

/** The provider of an existing payment or subscription. */
export const providerNamed = (env: Env, name: PaymentProviderName): PaymentProvider =>
  PROVIDERS[name](env)

/**
 * The provider of new payments: PAYMENT_PROVIDER, by default the sandbox. On a public address, the
 * sandbox must be set explicitly, since everyone can take credits from it for free.
 * @param baseUrl the address of this deployment
 * @returns null when payments are not set up
 */
export function providerFor(env: Env, baseUrl: string): PaymentProvider | null {
  const { paymentProvider } = settingsOf(env)
  if (paymentProvider) return providerNamed(env, paymentProvider)
  return isPublicUrl(baseUrl) ? null : providerNamed(env, 'sandbox')
}

/** The provider of background tasks. Without BASE_URL, the deployment is local. */
export const configuredProvider = (env: Env): PaymentProvider | null =>
  providerFor(env, settingsOf(env).baseUrl ?? 'http://localhost')

/** Whether no money moves: for the banner. */
export const isSandbox = (env: Env, baseUrl: string): boolean =>
  providerFor(env, baseUrl)?.name === 'sandbox'

/**
 * The provider that has stored the organisation's payment method.
 * @returns null without one, also when it is stored at a provider that is no longer used
 */
export function chargeableProvider(env: Env, billing: BillingAccountRow | undefined) {
  const provider = configuredProvider(env)
  const isStored = billing?.customerId && billing.paymentMethod
  return isStored && billing.provider === provider?.name ? provider : null
}
