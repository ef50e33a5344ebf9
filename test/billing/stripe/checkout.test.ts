// Stripe: Checkout of packs and plans, and finding payments.
import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/platform/ids.ts'
import { useFakeStripe } from '../../support/fake-stripe.ts'
import { checkoutOf, find, packOf, planOf, provider, requestOf } from './support.ts'

describe('the checkout of a pack', () => {
  it('creates a page for the price in the organisation’s currency', async () => {
    const stripe = useFakeStripe()
    const request = checkoutOf(packOf(2_000, 14_000))
    const state = await provider().startCheckout(request)
    expect(state).toMatchObject({
      status: 'open',
      actionUrl: 'https://checkout.stripe.com/c/pay/test',
      amount: 14_000,
      currency: 'USD',
      customerId: expect.stringMatching(/^cus_/),
      subscriptionId: null,
    })
    const [sent] = stripe.sent('POST /v1/checkout/sessions')
    const metadata = {
      organisation_id: request.customer.organisationId,
      payment_id: request.paymentId,
    }
    expect(sent).toMatchObject({
      idempotencyKey: request.paymentId,
      body: {
        mode: 'payment',
        metadata,
        customer: state.customerId,
        success_url: request.returnUrl,
        cancel_url: request.cancelUrl,
        line_items: [
          {
            quantity: 1,
            price_data: {
              currency: 'usd',
              unit_amount: 14_000,
              tax_behavior: 'exclusive',
              product_data: { name: '2,000 credits' },
            },
          },
        ],
        payment_intent_data: { setup_future_usage: 'off_session', metadata },
        invoice_creation: { enabled: true },
        automatic_tax: { enabled: false },
      },
    })
  })

  it('returns the same page when it is repeated', async () => {
    const stripe = useFakeStripe()
    const request = checkoutOf(packOf(100, 800))
    const first = await provider().startCheckout(request)
    expect(await provider().startCheckout(request)).toEqual(first)
    expect(stripe.all('checkout.session')).toHaveLength(1)
    expect(stripe.all('customer')).toHaveLength(1)
  })

  it('reports the payment, the card and the invoice once the customer has paid', async () => {
    const stripe = useFakeStripe()
    const request = checkoutOf(packOf(100, 800))
    const { reference } = await provider().startCheckout(request)
    expect(await find(request, { reference })).toMatchObject({ status: 'open' })
    stripe.pay(reference)
    expect(await find(request, { reference })).toEqual({
      reference,
      status: 'paid',
      failure: null,
      actionUrl: null,
      amount: 800,
      tax: 0,
      currency: 'USD',
      amountRefunded: 0,
      dispute: null,
      invoiceUrl: expect.stringContaining('https://invoice.stripe.com/'),
      customerId: expect.stringMatching(/^cus_/),
      paymentMethod: 'Visa •••• 4242',
      subscriptionId: null,
    })
  })

  it('stays open after a declined card, because the customer can use another one', async () => {
    const stripe = useFakeStripe()
    const request = checkoutOf(packOf(100, 800))
    const { reference } = await provider().startCheckout(request)
    stripe.pay(reference, 'declined')
    expect(await find(request, { reference })).toMatchObject({ status: 'open', failure: null })
    stripe.pay(reference)
    expect(await find(request, { reference })).toMatchObject({ status: 'paid' })
  })

  it.each([
    [true, 'paid', null],
    [false, 'failed', 'The card has insufficient funds.'],
  ])('waits for a bank debit, which confirms later: %s', async (succeeds, status, failure) => {
    const stripe = useFakeStripe()
    const request = checkoutOf(packOf(100, 800))
    const { reference } = await provider().startCheckout(request)
    stripe.payByDebit(reference)
    expect(await find(request, { reference })).toMatchObject({ status: 'open', actionUrl: null })
    stripe.endDebit(reference, succeeds)
    expect(await find(request, { reference })).toMatchObject({ status, failure })
  })

  it('expires', async () => {
    const stripe = useFakeStripe()
    const request = checkoutOf(packOf(100, 800))
    const { reference } = await provider().startCheckout(request)
    stripe.expireSession(reference)
    expect(await find(request, { reference })).toMatchObject({ status: 'expired', actionUrl: null })
  })

  it('adds tax to the price and reports the amount without it', async () => {
    const stripe = useFakeStripe()
    const request = checkoutOf(packOf(100, 800))
    const { reference } = await provider({ STRIPE_AUTOMATIC_TAX: 'true' }).startCheckout(request)
    stripe.pay(reference)
    expect(stripe.all('payment_intent')[0]).toMatchObject({ amount: 960 })
    expect(await find(request, { reference })).toMatchObject({
      status: 'paid',
      amount: 800,
      tax: 160,
    })
  })
})

describe('the checkout of a plan', () => {
  it('creates the product and price at the first purchase only', async () => {
    const stripe = useFakeStripe()
    await provider().startCheckout(checkoutOf(planOf('growth', 4_900)))
    await provider().startCheckout(checkoutOf(planOf('growth', 4_900)))
    await provider().startCheckout(checkoutOf(planOf('growth', 5_900)))
    expect(stripe.all('product')).toMatchObject([{ id: 'try_on_growth', name: 'Plan Growth' }])
    const keys = stripe.all('price').map((price) => price['lookup_key'])
    expect(keys).toEqual(['try_on_growth_usd_5900', 'try_on_growth_usd_4900'])
  })

  it('creates a new price when the previous one was archived', async () => {
    const stripe = useFakeStripe()
    await provider().startCheckout(checkoutOf(planOf('growth', 4_900)))
    Object.assign(stripe.all('price')[0] ?? {}, { active: false })
    stripe.forgetIdempotencyKeys()
    await provider().startCheckout(checkoutOf(planOf('growth', 4_900)))
    const prices = stripe.all('price').map(({ active, lookup_key: key }) => [active, key])
    expect(prices).toEqual([
      [true, 'try_on_growth_usd_4900'],
      [false, null],
    ])
  })

  it('reports the first month with its subscription', async () => {
    const stripe = useFakeStripe()
    const request = checkoutOf(planOf('scale', 29_900))
    const { reference } = await provider().startCheckout(request)
    stripe.pay(reference)
    expect(await find(request, { reference })).toMatchObject({
      status: 'paid',
      amount: 29_900,
      subscriptionId: expect.stringMatching(/^sub_/),
      paymentMethod: 'Visa •••• 4242',
      invoiceUrl: expect.stringContaining('https://invoice.stripe.com/'),
    })
  })
})

describe('a second checkout of a plan', () => {
  it('closes the first one, so that only one subscription can start', async () => {
    const stripe = useFakeStripe()
    const organisationId = newId('org')
    const pack = checkoutOf(packOf(100, 800), { organisationId })
    const packPage = await provider().startCheckout(pack)
    const first = checkoutOf(planOf('growth', 4_900), { organisationId })
    const firstPage = await provider().startCheckout(first)
    const second = checkoutOf(planOf('scale', 29_900), { organisationId })
    const secondPage = await provider().startCheckout(second)
    await provider().startCheckout(second)
    expect(await find(first, firstPage)).toMatchObject({ status: 'expired' })
    expect(await find(second, secondPage)).toMatchObject({ status: 'open' })
    expect(await find(pack, packPage)).toMatchObject({ status: 'open' })
    stripe.pay(secondPage.reference)
    expect(await find(second, secondPage)).toMatchObject({ status: 'paid' })
  })
})

describe('the customer', () => {
  it('is created again when the stored one is unknown, as after the test mode', async () => {
    const stripe = useFakeStripe()
    const request = checkoutOf(packOf(100, 800), { customerId: 'cus_test_mode' })
    const { customerId } = await provider().startCheckout(request)
    expect(customerId).toBe(stripe.all('customer')[0]?.['id'])
    const later = { organisationId: request.customer.organisationId, customerId }
    const { customerId: same } = await provider().startCheckout(checkoutOf(packOf(100, 800), later))
    expect(same).toBe(customerId)
  })

  it('is the same for all payments of an organisation', async () => {
    const stripe = useFakeStripe()
    const organisationId = newId('org')
    await provider().startCheckout(checkoutOf(packOf(100, 800), { organisationId }))
    await provider().startCheckout(checkoutOf(packOf(500, 4_000), { organisationId }))
    expect(stripe.all('customer')).toHaveLength(1)
    expect(stripe.all('customer')[0]).toMatchObject({
      metadata: { organisation_id: organisationId },
      name: 'Shop',
      email: 'owner@shop.example',
    })
  })

  it('is found by its address after the idempotency key has expired', async () => {
    const stripe = useFakeStripe()
    const customer = { organisationId: newId('org') }
    await provider().startCheckout(checkoutOf(packOf(100, 800), customer))
    stripe.forgetIdempotencyKeys()
    await provider().startCheckout(checkoutOf(packOf(100, 800), customer))
    await provider().startCheckout(checkoutOf(packOf(100, 800)))
    expect(stripe.all('customer')).toHaveLength(2)
  })
})

describe('a payment whose response was lost', () => {
  it.each([packOf(100, 800), planOf('growth', 4_900)])(
    'is found by its metadata: $kind',
    async (purchase) => {
      const stripe = useFakeStripe()
      const request = checkoutOf(purchase)
      await provider().startCheckout(checkoutOf(purchase))
      const { reference, customerId } = await provider().startCheckout(request)
      await provider().startCheckout(checkoutOf(purchase))
      stripe.forgetIdempotencyKeys()
      expect(await find(request, {})).toMatchObject({ reference, status: 'open' })
      expect(await find(request, { customerId })).toMatchObject({ reference })
    },
  )

  it('is found among more than one page of others', async () => {
    useFakeStripe()
    const request = checkoutOf(packOf(100, 800))
    const { reference } = await provider().startCheckout(request)
    await Promise.all(
      Array.from({ length: 101 }, () => provider().startCheckout(checkoutOf(packOf(100, 800)))),
    )
    expect(await find(request, {})).toMatchObject({ reference })
  })

  it('does not exist when Stripe has never received it', async () => {
    useFakeStripe()
    expect(await find(requestOf(packOf(100, 800)), {})).toBeNull()
    expect(await find(requestOf(packOf(100, 800)), { customerId: 'cus_1' })).toBeNull()
    expect(await find(requestOf(packOf(100, 800)), { reference: 'cs_unknown' })).toBeNull()
  })

  it('is not created twice', async () => {
    const stripe = useFakeStripe()
    const organisationId = newId('org')
    const before = checkoutOf(packOf(100, 800), { organisationId })
    const { customerId } = await provider().startCheckout(before)
    const request = checkoutOf(packOf(100, 800), { organisationId, customerId })
    stripe.passNext(1) // the customer
    stripe.loseNextResponse()
    await expect(provider().startCheckout(request)).rejects.toMatchObject({ code: 'unavailable' })
    const { reference } = await provider().startCheckout(request)
    expect(stripe.all('checkout.session')).toHaveLength(2)
    expect(await find(request, { customerId })).toMatchObject({ reference })
  })
})
