// Payments in the sandbox: requests of the service, and the customer who pays on the sandbox's pages.
import { env } from 'cloudflare:workers'
import { vi } from 'vitest'
import type { PaymentRequest, PaymentState } from '../../src/billing/payment-provider.ts'
import { PLAN_TERMS, type SelfServicePlan } from '../../src/billing/plans.ts'
import { sandbox } from '../../src/billing/sandbox/sandbox.ts'
import { newId } from '../../src/platform/ids.ts'
import { newBrowser, type Page } from './browser.ts'
import { BASE } from './client.ts'

export const provider = sandbox(env)

export const CARDS = {
  success: '4242 4242 4242 4242',
  declined: '4000 0000 0000 0002',
  insufficientFunds: '4000 0000 0000 9995',
  confirmOnce: '4000 0025 0000 3155',
  confirmAlways: '4000 0027 6000 3184',
  offSessionDeclined: '4000 0000 0000 0341',
  renewalDeclined: '4000 0000 0000 6025',
  late: '4000 0000 0000 3030',
  refunded: '4000 0000 0000 7726',
  disputed: '4000 0000 0000 0259',
} as const

/** A purchase of 500 credits for $40 by an organisation, by default a new one. */
export const packRequest = (
  organisationId = newId('org'),
  customerId: string | null = null,
): PaymentRequest => ({
  paymentId: newId('pay'),
  customer: {
    organisationId,
    organisationName: 'Acme Fashion',
    currency: 'USD',
    customerId,
    email: 'ada@shop.example',
  },
  purchase: { kind: 'pack', pack: 500, amount: 4_000 },
})

export const planRequest = (
  plan: SelfServicePlan,
  organisationId = newId('org'),
): PaymentRequest => ({
  ...packRequest(organisationId),
  purchase: { kind: 'plan', plan, amount: PLAN_TERMS[plan].monthlyFee.USD },
})

export const startCheckout = (request: PaymentRequest): Promise<PaymentState> =>
  provider.startCheckout({
    ...request,
    returnUrl: `${BASE}/pricing?returned=1`,
    cancelUrl: `${BASE}/pricing?cancelled=1`,
  })

/** Submits the form of a checkout page, or of the page that changes the card. */
export const pay = (actionUrl: string | null, card: string): Promise<Page> =>
  newBrowser().post(pathOf(actionUrl), { number: card })

/** Decides on the confirmation page. */
export const confirm = (actionUrl: string | null, decision: 'approve' | 'decline'): Promise<Page> =>
  newBrowser().post(pathOf(actionUrl).replace('?', '/confirm?'), { decision })

export const pathOf = (url: string | null): string => (url ?? '').replace(BASE, '')

/** A request that was paid on its page. */
export async function paid(
  card: keyof typeof CARDS,
  request = packRequest(),
): Promise<{ request: PaymentRequest; state: PaymentState }> {
  const { actionUrl } = await startCheckout(request)
  await pay(actionUrl, CARDS[card])
  if (card.startsWith('confirm')) await confirm(actionUrl, 'approve')
  return { request, state: await stateOf(request) }
}

/** The state of a payment. */
export async function stateOf({ paymentId }: PaymentRequest): Promise<PaymentState> {
  const createdAt = new Date()
  const payment = { paymentId, reference: null, customerId: null, createdAt }
  const state = await provider.findPayment(payment)
  if (!state) throw new Error('The payment does not exist')
  return state
}

/** The next transaction of D1 is committed, but its response is lost. */
export function loseNextResponse(): void {
  const batch = env.DB.batch.bind(env.DB)
  vi.spyOn(env.DB, 'batch').mockImplementationOnce(async (statements) => {
    await batch(statements)
    throw new Error('Network connection lost.')
  })
}
