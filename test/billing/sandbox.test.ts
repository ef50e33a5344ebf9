// The sandbox as a payment provider: test cards, idempotency, refunds, due changes.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { providerFor } from '../../src/billing/choose-provider.ts'
import type { ProviderEvent } from '../../src/billing/payment-provider.ts'
import { newId } from '../../src/platform/ids.ts'
import { count, DAY_MS, fakeClock, pass, retain } from '../support/retention.ts'
import {
  CARDS,
  confirm,
  loseNextResponse,
  packRequest,
  paid,
  pay,
  provider,
  startCheckout,
  stateOf,
} from '../support/sandbox.ts'
import { eventsSince } from '../support/provider-events.ts'

fakeClock()

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

describe('choice of the provider', () => {
  const withProvider = (name: string) => ({ ...env, PAYMENT_PROVIDER: name }) as Env

  it('is the sandbox on a private address', () => {
    expect(providerFor(env, 'http://localhost:8787')?.name).toBe('sandbox')
  })

  it.each(['https://try-on.example.com', 'http://try-on.example.com', 'http://8.8.8.8:8787'])(
    'is none on a public address without a setting: %s',
    (address) => {
      expect(providerFor(env, address)).toBeNull()
    },
  )

  it('is the sandbox on a public https address that sets it', () => {
    expect(providerFor(withProvider('sandbox'), 'https://try-on.example.com')?.name).toBe('sandbox')
  })
})

describe('checkout', () => {
  it('is open until the customer pays', async () => {
    const request = packRequest()
    expect(await startCheckout(request)).toEqual({
      reference: expect.stringMatching(/^ch_/),
      status: 'open',
      failure: null,
      actionUrl: expect.stringMatching(
        /^https:\/\/try-on\.test\/sandbox\/checkout\/ch_\w{26}\?key=[0-9a-f]{32}$/,
      ),
      amount: 4_000,
      tax: 0,
      currency: 'USD',
      amountRefunded: 0,
      dispute: null,
      invoiceUrl: null,
      customerId: expect.stringMatching(/^cus_/),
      paymentMethod: null,
      subscriptionId: null,
    })
  })

  it('returns the same page when it is repeated, also concurrently', async () => {
    const request = packRequest()
    const states = await Promise.all([1, 2, 3, 4].map(() => startCheckout(request)))
    expect(new Set(states.map(({ actionUrl }) => actionUrl)).size).toBe(1)
    expect(await startCheckout(request)).toEqual(states[0])
  })

  it('does not take the amount of a repeated request', async () => {
    const request = packRequest()
    await startCheckout(request)
    const cheaper = { ...request.purchase, amount: 1 } as typeof request.purchase
    expect((await startCheckout({ ...request, purchase: cheaper })).amount).toBe(4_000)
  })

  it('rejects return addresses of different origins', async () => {
    const call = provider.startCheckout({
      ...packRequest(),
      returnUrl: 'https://try-on.test/console',
      cancelUrl: 'https://other.test/console',
    })
    await expect(call).rejects.toMatchObject({ code: 'rejected' })
  })

  it('is paid once when the form is sent several times at once', async () => {
    const request = packRequest()
    const { actionUrl } = await startCheckout(request)
    await Promise.all([1, 2, 3, 4].map(() => pay(actionUrl, CARDS.success)))
    expect(await stateOf(request)).toMatchObject({
      status: 'paid',
      actionUrl: null,
      invoiceUrl: expect.stringContaining('/sandbox/invoices/'),
      paymentMethod: 'Visa •••• 4242',
    })
    const events = await eventsSince(provider, new Date(Date.now() - MINUTE_MS))
    expect(events.filter(({ paymentId }) => paymentId === request.paymentId)).toHaveLength(1)
  })

  it('stays open after a declined card and accepts another one', async () => {
    const request = packRequest()
    const { actionUrl } = await startCheckout(request)
    await pay(actionUrl, CARDS.declined)
    expect(await stateOf(request)).toMatchObject({ status: 'open', actionUrl, paymentMethod: null })
    await pay(actionUrl, CARDS.success)
    expect(await stateOf(request)).toMatchObject({ status: 'paid' })
  })

  it('is paid once the holder has confirmed', async () => {
    const request = packRequest()
    const { actionUrl } = await startCheckout(request)
    await pay(actionUrl, CARDS.confirmOnce)
    expect(await stateOf(request)).toMatchObject({ status: 'open' })
    await Promise.all([confirm(actionUrl, 'approve'), confirm(actionUrl, 'approve')])
    expect(await stateOf(request)).toMatchObject({
      status: 'paid',
      paymentMethod: 'Visa •••• 3155',
    })
  })

  it('stays open when the holder declines', async () => {
    const request = packRequest()
    const { actionUrl } = await startCheckout(request)
    await pay(actionUrl, CARDS.confirmAlways)
    await confirm(actionUrl, 'decline')
    expect(await stateOf(request)).toMatchObject({ status: 'open', paymentMethod: null })
    await confirm(actionUrl, 'approve')
    expect(await stateOf(request)).toMatchObject({ status: 'open' })
  })

  it('succeeds late, without a further request of the customer', async () => {
    const { request, state } = await paid('late')
    expect(state).toMatchObject({ status: 'open', actionUrl: null })
    const since = new Date()
    pass(19 * SECOND_MS)
    expect(await stateOf(request)).toMatchObject({ status: 'open' })
    pass(SECOND_MS)
    const events = await eventsSince(provider, since)
    expect(events).toContainEqual({
      id: expect.stringMatching(/^ev_/),
      createdAt: expect.any(Date),
      organisationId: request.customer.organisationId,
      paymentId: request.paymentId,
      subscriptionId: null,
      reference: null,
    })
    expect(await stateOf(request)).toMatchObject({ status: 'paid', invoiceUrl: expect.anything() })
  })

  it('expires after 2 hours', async () => {
    const request = packRequest()
    const { actionUrl } = await startCheckout(request)
    pass(2 * HOUR_MS)
    expect(await stateOf(request)).toMatchObject({ status: 'expired', actionUrl: null })
    await pay(actionUrl, CARDS.success)
    expect(await stateOf(request)).toMatchObject({ status: 'expired' })
  })

  it('is unavailable while the database is', async () => {
    const request = packRequest()
    vi.spyOn(env.DB, 'prepare').mockImplementation(() => {
      throw new Error('D1 is down')
    })
    await expect(startCheckout(request)).rejects.toMatchObject({ code: 'unavailable' })
    vi.restoreAllMocks()
    expect(await startCheckout(request)).toMatchObject({ status: 'open' })
  })

  it('is unknown before it is started', async () => {
    const payment = { paymentId: newId('pay'), reference: null, customerId: null }
    expect(await provider.findPayment({ ...payment, createdAt: new Date() })).toBeNull()
  })
})

describe('automatic charge', () => {
  async function charge(card: keyof typeof CARDS) {
    const { request, state } = await paid(card)
    const next = packRequest(request.customer.organisationId, state.customerId)
    return { request: next, state: await provider.charge(next) }
  }

  it.each(['success', 'confirmOnce', 'renewalDeclined'] as const)('succeeds: %s', async (card) => {
    const { request, state } = await charge(card)
    expect(state).toMatchObject({ status: 'paid', amount: 4_000 })
    expect(await stateOf(request)).toEqual(state)
  })

  it.each([
    ['confirmAlways', 'The card requires a confirmation by its holder.'],
    ['offSessionDeclined', 'The card was declined.'],
  ] as const)('fails: %s', async (card, failure) => {
    const { request, state } = await charge(card)
    expect(state).toMatchObject({ status: 'failed', failure, invoiceUrl: null })
    expect(await provider.charge(request)).toEqual(state)
  })

  it('succeeds late', async () => {
    const { request } = await paid('late')
    pass(MINUTE_MS)
    const { customerId } = await stateOf(request)
    const next = packRequest(request.customer.organisationId, customerId)
    expect(await provider.charge(next)).toMatchObject({ status: 'open', actionUrl: null })
    pass(20 * SECOND_MS)
    expect(await stateOf(next)).toMatchObject({ status: 'paid' })
  })

  it('charges once when it is repeated, also concurrently', async () => {
    const { request, state } = await paid('success')
    const { organisationId } = request.customer
    const next = packRequest(organisationId, state.customerId)
    const states = await Promise.all([1, 2, 3, 4].map(() => provider.charge(next)))
    expect(new Set(states.map(({ reference }) => reference)).size).toBe(1)
    expect(states.every(({ status }) => status === 'paid')).toBe(true)
    const events = await eventsSince(provider, new Date(Date.now() - MINUTE_MS))
    expect(events.filter(({ paymentId }) => paymentId === next.paymentId)).toHaveLength(1)
  })

  it('charges once when the response of the database is lost', async () => {
    const { request, state } = await paid('success')
    const next = packRequest(request.customer.organisationId, state.customerId)
    loseNextResponse()
    await expect(provider.charge(next)).rejects.toMatchObject({ code: 'unavailable' })
    const found = await stateOf(next)
    expect(found).toMatchObject({ status: 'paid' })
    expect(await provider.charge(next)).toEqual(found)
  })

  it('rejects a customer without a card', async () => {
    const request = packRequest()
    const { customerId } = await startCheckout(request)
    const call = provider.charge(packRequest(request.customer.organisationId, customerId))
    await expect(call).rejects.toMatchObject({ code: 'rejected' })
  })

  it('rejects the customer of another organisation', async () => {
    const { state } = await paid('success')
    const call = provider.charge(packRequest(newId('org'), state.customerId))
    await expect(call).rejects.toMatchObject({ code: 'rejected' })
  })
})

describe('refunds and disputes', () => {
  it('refunds once per refund id', async () => {
    const { request, state } = await paid('success')
    const refund = { refundId: 'one', reference: state.reference, amount: 1_000 }
    await Promise.all([provider.refund(refund), provider.refund(refund)])
    await provider.refund({ ...refund, refundId: 'two', amount: 500 })
    expect(await stateOf(request)).toMatchObject({ status: 'paid', amountRefunded: 1_500 })
  })

  it('refunds once when the response of the database is lost', async () => {
    const { request, state } = await paid('success')
    const refund = { refundId: 'one', reference: state.reference, amount: 1_000 }
    loseNextResponse()
    await expect(provider.refund(refund)).rejects.toMatchObject({ code: 'unavailable' })
    await provider.refund(refund)
    expect(await stateOf(request)).toMatchObject({ amountRefunded: 1_000 })
  })

  it('rejects refunds of more than was paid', async () => {
    const { request, state } = await paid('success')
    const { reference } = state
    const refundOf = (amount: number) =>
      provider.refund({ refundId: `r${amount}`, reference, amount })
    await expect(refundOf(4_001)).rejects.toMatchObject({ code: 'rejected' })
    await expect(refundOf(0)).rejects.toMatchObject({ code: 'rejected' })
    const results = await Promise.allSettled([refundOf(3_000), refundOf(2_000)])
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const { amountRefunded } = await stateOf(request)
    expect([3_000, 2_000]).toContain(amountRefunded)
  })

  it('rejects refunds of a payment that is not paid', async () => {
    const { reference } = await startCheckout(packRequest())
    const call = provider.refund({ refundId: 'one', reference, amount: 1 })
    await expect(call).rejects.toMatchObject({ code: 'rejected' })
  })

  it('refunds the rest of a payment later', async () => {
    const { request, state } = await paid('refunded')
    await provider.refund({ refundId: 'one', reference: state.reference, amount: 1_000 })
    const since = new Date()
    pass(MINUTE_MS)
    const events = await eventsSince(provider, since)
    expect(events.map(({ paymentId }) => paymentId)).toContain(request.paymentId)
    expect(await stateOf(request)).toMatchObject({ status: 'paid', amountRefunded: 4_000 })
  })

  it('disputes a payment later, and loses the dispute', async () => {
    const { request, state } = await paid('disputed')
    expect(state).toMatchObject({ status: 'paid', dispute: null })
    pass(MINUTE_MS)
    expect(await stateOf(request)).toMatchObject({ dispute: 'open', amountRefunded: 0 })
    const refund = { refundId: 'one', reference: state.reference, amount: 1 }
    await expect(provider.refund(refund)).rejects.toMatchObject({ code: 'rejected' })
    pass(MINUTE_MS)
    expect(await stateOf(request)).toMatchObject({ dispute: 'lost', amountRefunded: 4_000 })
  })
})

describe('events', () => {
  it('are listed again until they are older than the instant', async () => {
    const start = new Date()
    const { request } = await paid('success')
    const ofRequest = async (since: Date) =>
      (await eventsSince(provider, since)).filter(
        ({ paymentId }) => paymentId === request.paymentId,
      )
    const events = await ofRequest(start)
    expect(events).toHaveLength(1)
    expect(await ofRequest(start)).toEqual(events)
    pass(SECOND_MS)
    expect(await ofRequest(new Date())).toEqual([])
  })

  it('are listed behind a thousand known ones', async () => {
    const since = new Date()
    await env.DB.prepare(
      `INSERT INTO sandbox_payments
         (id, organisation_id, payment_id, secret, item, amount, currency, status, refunds, version,
          created_at, changed_at)
       SELECT 'ch_' || value, 'org_1', 'pay_' || value, '', '', 1, 'USD', 'paid', '{}', 'evt_' || value,
         ?1, ?1
       FROM json_each(?2)`,
    )
      .bind(
        since.getTime(),
        JSON.stringify(Array.from({ length: 1_000 }, () => newId('pay').slice(4))),
      )
      .run()
    pass(SECOND_MS)
    const { request } = await paid('success')
    const isOwn = (event: ProviderEvent) => event.paymentId === request.paymentId
    const others = (await eventsSince(provider, since)).filter((event) => !isOwn(event))
    expect(others.length).toBeGreaterThanOrEqual(1_000)
    const knownOf = async () => new Set(others.map(({ id }) => id))
    const listed = await provider.missingEvents({ since, limit: 1, knownOf })
    const events = await Promise.all(listed.map(({ read }) => read()))
    expect(events).toMatchObject([{ paymentId: request.paymentId }])
  })

  it('are never accepted over HTTP', async () => {
    const call = provider.readEvent({ headers: new Headers(), body: '{}' })
    await expect(call).rejects.toMatchObject({ code: 'invalid_signature' })
  })
})

describe('storage', () => {
  it('contains no card numbers', async () => {
    const { request } = await paid('success')
    const { organisationId } = request.customer
    const stored = await Promise.all(
      ['sandbox_customers', 'sandbox_payments', 'sandbox_subscriptions'].map((table) =>
        env.DB.prepare(`SELECT * FROM ${table} WHERE organisation_id = ?`)
          .bind(organisationId)
          .all(),
      ),
    )
    const text = JSON.stringify(stored.map(({ results }) => results))
    expect(text).toContain('"card":"4242"')
    expect(text).not.toMatch(/\d{12,}4242/)
  })

  it('deletes payments that were not paid within 30 days', async () => {
    const { request } = await paid('success')
    const { organisationId } = request.customer
    const open = await startCheckout(packRequest(organisationId))
    pass(3 * HOUR_MS)
    const stored = () => count('sandbox_payments', 'organisation_id = ?', organisationId)
    pass(29 * DAY_MS)
    await retain()
    expect(await stored()).toBe(2)
    pass(DAY_MS)
    await retain()
    expect(await stored()).toBe(1)
    expect(await stateOf(request)).toMatchObject({ status: 'paid' })
    expect((await pay(open.actionUrl, CARDS.success)).status).toBe(404)
  })
})
