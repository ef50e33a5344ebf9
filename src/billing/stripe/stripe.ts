// Payments through Stripe.
import { settingsOf } from '../../platform/settings.ts'
import type { PaymentProvider } from '../payment-provider.ts'
import { paymentMethod, portalUrl } from './customers.ts'
import { createdAtOf, describeEvent, missingEvents, readEvent } from './events.ts'
import { withClient } from './stripe-client.ts'
import { charge, expireCheckout, findPayment, refund, startCheckout } from './stripe-payments.ts'
import {
  endSubscription,
  findSubscription,
  quoteUpgrade,
  setNextPlan,
  upgrade,
} from './stripe-subscriptions.ts'

/** The payment provider Stripe. Needs STRIPE_SECRET_KEY, and STRIPE_WEBHOOK_SECRET for `readEvent`. */
export function stripe(env: Env): PaymentProvider {
  const { webhookSecret, automaticTax } = settingsOf(env).stripe
  return {
    name: 'stripe',
    startCheckout: (request) =>
      withClient(env, (client) => startCheckout(client, request, { automaticTax })),
    expireCheckout: (reference) => withClient(env, (client) => expireCheckout(client, reference)),
    charge: (request) => withClient(env, (client) => charge(client, request, { automaticTax })),
    findPayment: (payment) => withClient(env, (client) => findPayment(client, payment)),
    quoteUpgrade: (change) => withClient(env, (client) => quoteUpgrade(client, change)),
    upgrade: (request) => withClient(env, (client) => upgrade(client, request)),
    setNextPlan: (change) => withClient(env, (client) => setNextPlan(client, change)),
    endSubscription: (id) => withClient(env, (client) => endSubscription(client, id)),
    findSubscription: (id) => withClient(env, (client) => findSubscription(client, id)),
    refund: (request) => withClient(env, (client) => refund(client, request)),
    paymentMethod: (id) => withClient(env, (client) => paymentMethod(client, id)),
    portalUrl: (customer) => withClient(env, (client) => portalUrl(client, customer)),
    readEvent: (request) =>
      withClient(env, (client) => {
        if (!webhookSecret) throw new Error('STRIPE_WEBHOOK_SECRET is not set')
        return readEvent(client, request, webhookSecret)
      }),
    async missingEvents(request) {
      const events = await withClient(env, (client) => missingEvents(client, request))
      return events.map((event) => ({
        id: event.id,
        createdAt: createdAtOf(event),
        read: () => withClient(env, (client) => describeEvent(client, event)),
      }))
    },
  }
}
