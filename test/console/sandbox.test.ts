// The pages of the payment sandbox over HTTP.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { log } from '../../src/platform/log.ts'
import { newBrowser } from '../support/browser.ts'
import {
  CARDS,
  confirm,
  packRequest,
  paid,
  pathOf,
  pay,
  planRequest,
  provider,
  startCheckout,
  stateOf,
} from '../support/sandbox.ts'

const BANNER = 'Sandbox payments: no money moves.'

const newCheckout = async (request = packRequest()) => {
  const { actionUrl, reference } = await startCheckout(request)
  return { request, actionUrl, reference, path: pathOf(actionUrl) }
}

/** The messages next to the fields. */
const errorsOf = (html: string) =>
  [...html.matchAll(/<small id="(\w+)-error" class="error">([^<]*)/g)].map(([, field, text]) => [
    field,
    text,
  ])

describe('checkout page', () => {
  it('shows what is bought and the test cards', async () => {
    const { path } = await newCheckout()
    const { status, html, headers } = await newBrowser().get(path)
    expect(status).toBe(200)
    expect(html).toContain(BANNER)
    expect(html).toContain('500 credits')
    expect(html).toContain('Pay $40</button>')
    for (const number of Object.values(CARDS)) expect(html).toContain(number)
    expect(headers.get('Cache-Control')).toBe('no-store')
  })

  it('shows the monthly fee of a plan', async () => {
    const { path } = await newCheckout(planRequest('growth'))
    const { html } = await newBrowser().get(path)
    expect(html).toContain('Plan Growth, 1 month')
    expect(html).toContain('per month')
  })

  it('returns to the service after the payment', async () => {
    const { actionUrl } = await newCheckout()
    expect((await pay(actionUrl, CARDS.success)).path).toBe('/pricing?returned=1')
  })

  it('shows a decline and accepts another card', async () => {
    const { actionUrl, request } = await newCheckout()
    const declined = await pay(actionUrl, CARDS.insufficientFunds)
    expect(declined.status).toBe(422)
    expect(declined.html).toContain(
      'The card has insufficient funds. You were not charged. Try another card.',
    )
    await pay(actionUrl, CARDS.success)
    expect(await stateOf(request)).toMatchObject({ status: 'paid' })
  })

  it('rejects real card numbers, and neither shows nor logs them', async () => {
    const info = vi.spyOn(log, 'info')
    const error = vi.spyOn(log, 'error')
    const { actionUrl } = await newCheckout()
    const { status, html } = await pay(actionUrl, '5555 5555 5555 4444')
    expect(status).toBe(422)
    expect(errorsOf(html)).toEqual([
      ['number', 'Only test cards are accepted. Never enter a real card number here.'],
    ])
    expect(html).not.toContain('5555')
    expect(JSON.stringify([info.mock.calls, error.mock.calls])).not.toContain('5555')
  })

  it('rejects a form without fields', async () => {
    const { path } = await newCheckout()
    expect((await newBrowser().post(path)).status).toBe(422)
  })

  it('rejects forms of other origins', async () => {
    const { path, request } = await newCheckout()
    const fields = { number: CARDS.success }
    const page = await newBrowser().post(path, fields, { origin: 'https://attacker.test' })
    expect(page.status).toBe(403)
    expect(await stateOf(request)).toMatchObject({ status: 'open' })
  })

  it.each(['key=wrong', 'key=', ''])('is not found with the query "%s"', async (query) => {
    const { path } = await newCheckout()
    const wrong = path.replace(/\?.*/, `?${query}`)
    expect((await newBrowser().get(wrong)).status).toBe(404)
    const posted = await newBrowser().post(wrong, { number: CARDS.success })
    expect(posted.status).toBe(404)
    expect(posted.html).toContain('Payment page not found')
  })

  it('is not found for the id of another object', async () => {
    const { request, path } = await newCheckout()
    const { customerId } = await stateOf(request)
    const other = path.replace(/ch_\w+/, customerId ?? '')
    expect((await newBrowser().get(other)).status).toBe(404)
  })

  it('states that it is already paid', async () => {
    const { actionUrl, path } = await newCheckout()
    await pay(actionUrl, CARDS.success)
    const { html } = await newBrowser().get(path)
    expect(html).toContain('Already paid')
    expect(html).toContain('/pricing?returned=1')
    expect((await pay(actionUrl, CARDS.success)).path).toBe('/pricing?returned=1')
  })

  it('states that a payment is being processed', async () => {
    const { actionUrl, path } = await newCheckout()
    expect((await pay(actionUrl, CARDS.late)).path).toBe('/pricing?returned=1')
    expect((await newBrowser().get(path)).html).toContain('The payment is being processed')
  })

  it('states that it has expired', async () => {
    const { actionUrl, path, reference } = await newCheckout()
    await env.DB.prepare('UPDATE sandbox_payments SET expires_at = 1 WHERE id = ?')
      .bind(reference)
      .run()
    const { status, html } = await newBrowser().get(path)
    expect(status).toBe(409)
    expect(html).toContain('This payment page has expired')
    expect(html).toContain('/pricing?cancelled=1')
    expect((await pay(actionUrl, CARDS.success)).status).toBe(409)
  })

  it('redirects only to this service', async () => {
    const request = packRequest()
    const { actionUrl } = await provider.startCheckout({
      ...request,
      returnUrl: 'https://attacker.test//attacker.test/page',
      cancelUrl: 'https://attacker.test/cancel',
    })
    const path = (actionUrl ?? '').replace('https://attacker.test', '')
    expect((await newBrowser().get(path)).html).toContain('href="https://try-on.test/cancel"')
    const page = await newBrowser().post(path, { number: CARDS.success })
    expect(page.path).toBe('//attacker.test/page')
  })
})

describe('confirmation page', () => {
  it('is shown after a card that needs it, and pays when approved', async () => {
    const { actionUrl, request } = await newCheckout()
    const page = await pay(actionUrl, CARDS.confirmOnce)
    expect(page.path).toBe(pathOf(actionUrl).replace('?', '/confirm?'))
    expect(page.html).toContain('Visa •••• 3155')
    expect(page.html).toContain(BANNER)
    expect((await confirm(actionUrl, 'approve')).path).toBe('/pricing?returned=1')
    expect(await stateOf(request)).toMatchObject({ status: 'paid' })
  })

  it('returns to the checkout when declined', async () => {
    const { actionUrl } = await newCheckout()
    await pay(actionUrl, CARDS.confirmAlways)
    const { path, html } = await confirm(actionUrl, 'decline')
    expect(path).toBe(`${pathOf(actionUrl)}&declined=1`)
    expect(html).toContain('The confirmation was declined. You were not charged.')
  })

  it('redirects to the checkout when there is nothing to confirm', async () => {
    const { actionUrl, path, request } = await newCheckout()
    expect((await newBrowser().get(path.replace('?', '/confirm?'))).path).toBe(path)
    await confirm(actionUrl, 'approve')
    expect(await stateOf(request)).toMatchObject({ status: 'open' })
  })
})

describe('card page', () => {
  async function newCardPage() {
    const { request, state } = await paid('success')
    const customerId = state.customerId ?? ''
    const url = await provider.portalUrl({ customerId, returnUrl: 'https://try-on.test/pricing' })
    return { request, customerId, url, path: pathOf(url) }
  }

  it('changes the card', async () => {
    const { request, path, url } = await newCardPage()
    const { html } = await newBrowser().get(path)
    expect(html).toContain('Current card: Visa •••• 4242')
    expect(html).toContain(BANNER)
    const page = await pay(url, CARDS.confirmOnce)
    expect(page.html).toContain('The card was changed.')
    expect(page.html).toContain('Current card: Visa •••• 3155')
    expect(await stateOf(request)).toMatchObject({ paymentMethod: 'Visa •••• 3155' })
  })

  it('shows the error of the form', async () => {
    const { request, url } = await newCardPage()
    const { status, html } = await pay(url, '1')
    expect(status).toBe(422)
    expect(errorsOf(html).map(([field]) => field)).toEqual(['number'])
    expect(await stateOf(request)).toMatchObject({ paymentMethod: 'Visa •••• 4242' })
  })

  it('is not found with a wrong key', async () => {
    const { path } = await newCardPage()
    const wrong = path.replace(/.$/, 'x')
    expect((await newBrowser().post(wrong, { number: CARDS.success })).status).toBe(404)
    expect((await newBrowser().get('/sandbox/card?key=ch_1')).status).toBe(404)
    expect((await newBrowser().get('/sandbox/card')).status).toBe(404)
  })

  it('expires after an hour', async () => {
    const { customerId, path, url } = await newCardPage()
    await env.DB.prepare('UPDATE sandbox_customers SET card_page_expires_at = 1 WHERE id = ?')
      .bind(customerId)
      .run()
    expect((await newBrowser().get(path)).status).toBe(404)
    expect((await pay(url, CARDS.confirmOnce)).html).toContain('has expired')
  })
})

describe('invoice page', () => {
  it('shows number, date, buyer, amount and refunds', async () => {
    const order = packRequest()
    order.customer.organisationName = 'Acme <Ltd>'
    const { actionUrl, request } = await newCheckout(order)
    await pay(actionUrl, CARDS.success)
    const { invoiceUrl, reference } = await stateOf(request)
    await provider.refund({ refundId: 'one', reference, amount: 1_050 })
    const { status, html } = await newBrowser().get(pathOf(invoiceUrl))
    expect(status).toBe(200)
    expect(html).toMatch(/SB-[0-9A-Z]{10}</)
    expect(html).toContain('Acme &lt;Ltd&gt;')
    expect(html).toContain('500 credits')
    expect(html).toContain('Paid with Visa •••• 4242')
    expect(html).toContain('−$10.50')
    expect(html).toContain('Paid, partly refunded')
  })

  it('is not found with a wrong key or before the payment', async () => {
    const { state } = await paid('success')
    const path = pathOf(state.invoiceUrl).replace(/.$/, 'x')
    expect((await newBrowser().get(path)).status).toBe(404)
    const open = await newCheckout()
    const early = open.path.replace('checkout', 'invoices')
    expect((await newBrowser().get(early)).status).toBe(404)
  })
})
