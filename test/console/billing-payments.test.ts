import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import {
  buy,
  expireReads,
  open,
  PACK,
  PAGE,
  paymentIdsOf,
  setPaymentProvider,
} from '../support/billing-page.ts'
import { newMember, newOwner, totalsOf } from '../support/browser.ts'
import { fakePayments } from '../support/fake-payment-provider.ts'

beforeEach(() => setPaymentProvider('sandbox'))

describe('buying credits', () => {
  it('opens the page of the provider and lists the open payment', async () => {
    fakePayments()
    const owner = await newOwner()
    const paymentId = await buy(owner)
    const { html } = await owner.browser.get(PAGE)
    expect(html).toContain(`${PAGE}/payments/${paymentId}`)
    expect(html).toContain('Continue payment')
    expect(html).toContain('https://pay.test/')
  })

  it('rejects a changed price, another currency and unknown packs', async () => {
    const provider = fakePayments()
    const { browser, organisationId } = await newOwner()
    await browser.get(PAGE)
    for (const change of [
      { amount: '1' },
      { amount: '-4000' },
      { amount: 'x' },
      { currency: 'INR' },
      { pack: '501' },
      { pack: '' },
    ]) {
      const { status, html } = await browser.post(`${PAGE}/packs`, { ...PACK, ...change })
      expect(status).toBe(422)
      expect(html).toContain('class="notice bad" role="alert"')
    }
    expect(provider.calls).toEqual([])
    expect(await paymentIdsOf(organisationId)).toEqual([])
  })

  it('rejects the form of another organisation', async () => {
    const provider = fakePayments()
    const [mine, theirs] = [await newOwner(), await newOwner()]
    const path = `/console/${theirs.organisationId}/billing/packs`
    expect((await mine.browser.post(path, PACK)).status).toBe(404)
    expect(provider.calls).toEqual([])
  })

  it('shows a notice when the provider cannot be reached', async () => {
    const provider = fakePayments()
    provider.fail('startCheckout', 'before')
    const { browser } = await newOwner()
    await browser.get(PAGE)
    const { status, html } = await browser.post(`${PAGE}/packs`, PACK)
    expect(status).toBe(503)
    expect(html).toContain('The payment provider cannot be reached. Try again in a few minutes.')
    expect(html).toContain('You were not charged.')
  })

  it('shows the failed payment when the provider rejects the request', async () => {
    const provider = fakePayments()
    provider.fail('startCheckout', 'rejected')
    const { browser, organisationId } = await newOwner()
    await browser.get(PAGE)
    const { path, html } = await browser.post(`${PAGE}/packs`, PACK)
    expect(path).toBe(`${PAGE}/payments/${(await paymentIdsOf(organisationId))[0]}`)
    expect(html).toContain('The payment failed.')
  })

  it('is rejected while the deletion of the organisation is scheduled', async () => {
    const provider = fakePayments()
    const { browser, organisationId } = await newOwner()
    await browser.get(PAGE)
    await env.DB.prepare('UPDATE organisations SET delete_after = ? WHERE id = ?')
      .bind(Date.now() + 86_400_000, organisationId)
      .run()
    const { status, html } = await browser.post(`${PAGE}/packs`, PACK)
    expect(status).toBe(409)
    expect(html).toContain('scheduled for deletion')
    expect(provider.calls).toEqual([])
  })
})

describe('an organisation that cannot pay', () => {
  it.each([
    ['suspended', "status = 'suspended'", 'is suspended. Contact support'],
    ['to be deleted', 'delete_after = 4102444800000', 'Cancel the deletion to buy credits'],
  ])('sees why, and its buttons are disabled: %s', async (_, change, reason) => {
    const provider = fakePayments()
    const { browser, organisationId } = await newOwner()
    await browser.get(PAGE)
    await env.DB.prepare(`UPDATE organisations SET ${change} WHERE id = ?`)
      .bind(organisationId)
      .run()
    const page = await browser.get(PAGE)
    expect(page.html).toContain(reason)
    expect(page.html).toMatch(/<button[^>]*disabled[^>]*aria-label="Buy 500 credits/)
    expect(page.html).not.toContain(`action="${PAGE}/plan"`)
    expect((await browser.post(`${PAGE}/packs`, PACK)).html).toContain(reason)
    expect(provider.calls).toEqual([])
  })
})

describe('an organisation whose deletion is cancelled', () => {
  it('is offered to keep the plan that the deletion ends', async () => {
    fakePayments()
    const { browser, organisationId } = await newOwner()
    await browser.get(PAGE)
    await env.DB.batch([
      env.DB.prepare(
        "UPDATE organisations SET plan = 'growth', delete_after = 4102444800000 WHERE id = ?",
      ).bind(organisationId),
      env.DB.prepare(
        `INSERT INTO billing_accounts (organisation_id, subscription_status, next_plan, period_end)
         VALUES (?, 'active', 'starter', 4102444800000)`,
      ).bind(organisationId),
    ])
    const page = await browser.post('/console/settings/organisation/keep')
    expect(page.path).toBe(PAGE)
    expect(page.html).toContain('Deletion cancelled.')
    expect(page.html).toContain('The plan changes to Starter on')
    expect(page.html).toContain('Keep the plan')
  })
})

describe('an abandoned payment', () => {
  it('can be continued, or discarded', async () => {
    const provider = fakePayments()
    const owner = await newOwner()
    const paymentId = await buy(owner)
    const page = `${PAGE}/payments/${paymentId}`
    const { html } = await owner.browser.get(page)
    expect(html).toContain('The payment is not complete.')
    expect(html).not.toContain('waiting for the confirmation')
    expect(html).toContain('Continue payment')
    provider.fail('expireCheckout', 'before')
    expect((await owner.browser.post(`${page}/discard`)).html).toContain('cannot be reached')
    const discarded = await owner.browser.post(`${page}/discard`)
    expect(discarded.html).toContain('The payment was not completed. You were not charged.')
    expect(provider.stateOf(paymentId).status).toBe('expired')
  })

  it('stays paid when it was paid before it is discarded', async () => {
    const provider = fakePayments()
    const owner = await newOwner()
    const paymentId = await buy(owner)
    provider.pay(paymentId)
    const page = await owner.browser.post(`${PAGE}/payments/${paymentId}/discard`)
    expect(page.html).not.toContain('The payment was not completed')
    await expireReads(owner.organisationId)
    expect(await open(owner.browser, paymentId)).toContain('Payment received.')
  })

  it('cannot be continued at another price', async () => {
    fakePayments()
    const owner = await newOwner()
    const paymentId = await buy(owner)
    await env.DB.prepare('UPDATE payments SET amount = 3900 WHERE id = ?').bind(paymentId).run()
    for (const path of [PAGE, `${PAGE}/payments/${paymentId}`]) {
      expect((await owner.browser.get(path)).html).not.toContain('Continue payment')
    }
  })
})

describe('the page of a payment', () => {
  it('waits for the confirmation and shows the new balance', async () => {
    const provider = fakePayments()
    const owner = await newOwner()
    const { browser, organisationId } = owner
    const paymentId = await buy(owner)
    const waiting = await browser.get(`${PAGE}/payments/${paymentId}`)
    expect(waiting.html).toContain('The payment is not complete.')
    expect(waiting.html).toContain(`data-live="${PAGE}/payments/${paymentId}/live"`)
    expect(waiting.html).toContain('<meta http-equiv="refresh" content="5"')
    provider.pay(paymentId)
    await expireReads(organisationId)
    const paid = await open(browser, paymentId)
    expect(paid).toContain('Payment received.')
    expect(paid).toContain('500 credits were added')
    expect(paid).toContain('<span data-balance="true">600</span>')
    expect(paid).toMatch(
      /<dt>Amount without tax<\/dt><dd>€40<\/dd><dt>Tax<\/dt><dd>€8<\/dd><dt>Total<\/dt><dd><strong>€48</,
    )
    expect(paid).toContain('<dt>Paid with</dt><dd>Visa •••• 4242</dd>')
    expect(paid).toContain('View invoice')
    expect(paid).not.toContain('data-live')
    expect(await totalsOf(organisationId)).toMatchObject({ balance: 600 })
    expect((await browser.get(`${PAGE}/payments/${paymentId}`)).html).not.toContain('http-equiv')
  })

  it('shows why a payment failed and that a page has expired', async () => {
    const provider = fakePayments()
    const owner = await newOwner()
    const declined = await buy(owner)
    const expired = await buy(owner)
    provider.decline(declined)
    provider.expire(expired)
    await expireReads(owner.organisationId)
    expect(await open(owner.browser, declined)).toContain('The card was declined.')
    expect(await open(owner.browser, declined)).toContain('Try again')
    expect(await open(owner.browser, expired)).toContain('The payment was not completed.')
    expect(await totalsOf(owner.organisationId)).toMatchObject({ balance: 100 })
  })

  it('shows the stored state when the provider cannot be reached', async () => {
    const provider = fakePayments()
    const owner = await newOwner()
    const paymentId = await buy(owner)
    provider.fail('findPayment', 'before')
    await expireReads(owner.organisationId)
    const page = await owner.browser.get(`${PAGE}/payments/${paymentId}`)
    expect(page.status).toBe(200)
    expect(page.html).toContain('The payment is not complete.')
  })

  it('shows a refund and the credits that were taken back', async () => {
    fakePayments()
    const owner = await newOwner()
    const paymentId = await buy(owner)
    await env.DB.prepare(
      `UPDATE payments SET status = 'paid', amount_refunded = 2000, credits_reversed = 250 WHERE id = ?`,
    )
      .bind(paymentId)
      .run()
    const html = await open(owner.browser, paymentId)
    expect(html).toContain('€20 of this payment was refunded. 250 credits were taken back.')
    expect((await owner.browser.get(PAGE)).html).toContain('partially refunded')
  })

  it('selects the organisation of the payment when another one is selected', async () => {
    fakePayments()
    const { organisationId } = await newOwner()
    const { browser } = await newMember(organisationId, 'owner')
    await browser.get(PAGE)
    await browser.post(`${PAGE}/packs`, PACK)
    const [paymentId] = await paymentIdsOf(organisationId)
    browser.cookies.delete('try-on.organisation')
    const { status, html } = await browser.get(`${PAGE}/payments/${paymentId}`)
    expect(status).toBe(200)
    expect(html).toContain('The payment is not complete.')
    expect(browser.cookies.get('try-on.organisation')).toBe(organisationId)
  })

  it('returns 404 for another organisation, members and unknown ids', async () => {
    fakePayments()
    const owner = await newOwner()
    const paymentId = await buy(owner)
    const other = await newOwner()
    const member = await newMember(owner.organisationId)
    const pages = await Promise.all([
      other.browser.get(`${PAGE}/payments/${paymentId}`),
      other.browser.get(`${PAGE}/payments/${paymentId}/live`),
      member.browser.get(`${PAGE}/payments/${paymentId}`),
      owner.browser.get(`${PAGE}/payments/${newId('pay')}`),
      owner.browser.get(`${PAGE}/payments/nonsense`),
    ])
    expect(pages.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
  })
})
