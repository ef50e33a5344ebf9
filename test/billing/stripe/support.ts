// Requests to the provider `stripe`.
import { env } from 'cloudflare:workers'
import type { Pack, SelfServicePlan } from '../../../src/billing/plans.ts'
import type {
  Customer,
  PaymentProvider,
  PaymentRequest,
  PaymentState,
  Purchase,
} from '../../../src/billing/payment-provider.ts'
import { stripe } from '../../../src/billing/stripe/stripe.ts'
import { newId } from '../../../src/platform/ids.ts'
import { STRIPE_SECRET_KEY } from '../../support/fake-stripe.ts'
import { STRIPE_WEBHOOK_SECRET } from '../../support/stripe-event.ts'

/** The environment of a deployment that uses Stripe. */
export const stripeEnv = (vars: Record<string, string> = {}): Env =>
  Object.assign(
    { ...env },
    { PAYMENT_PROVIDER: 'stripe', STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET },
    vars,
  )

export const provider = (vars?: Record<string, string>): PaymentProvider => stripe(stripeEnv(vars))

export const packOf = (pack: Pack, amount: number): Purchase => ({ kind: 'pack', pack, amount })

export const reloadOf = (pack: Pack, amount: number): Purchase => ({
  kind: 'auto_reload',
  pack,
  amount,
})

export const planOf = (plan: SelfServicePlan, amount: number): Purchase => ({
  kind: 'plan',
  plan,
  amount,
})

export const requestOf = (
  purchase: Purchase,
  customer: Partial<Customer> = {},
): PaymentRequest => ({
  paymentId: newId('pay'),
  purchase,
  customer: {
    organisationId: newId('org'),
    organisationName: 'Shop',
    currency: 'USD',
    customerId: null,
    email: 'owner@shop.example',
    ...customer,
  },
})

export const checkoutOf = (purchase: Purchase, customer: Partial<Customer> = {}) => ({
  ...requestOf(purchase, customer),
  returnUrl: 'https://try-on.example/console/billing/payments/pay_1',
  cancelUrl: 'https://try-on.example/console/billing',
})

/** Asks Stripe about a payment. */
export const find = (
  { paymentId }: PaymentRequest,
  known: { reference?: string | null; customerId?: string | null },
): Promise<PaymentState | null> =>
  provider().findPayment({
    paymentId,
    reference: null,
    customerId: null,
    createdAt: new Date(),
    ...known,
  })
