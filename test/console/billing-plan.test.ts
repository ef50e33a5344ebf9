import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  buy,
  expireReads,
  GROWTH,
  open,
  PAGE,
  paymentIdsOf,
  setPaymentProvider,
} from '../support/billing-page.ts'
import { newOwner } from '../support/browser.ts'
import type { Owner } from '../support/browser.ts'
import { fakePayments } from '../support/fake-payment-provider.ts'

beforeEach(() => setPaymentProvider('sandbox'))

describe('changing the plan', () => {
  it('opens the page of the provider for the first paid plan', async () => {
    fakePayments()
    const { browser } = await newOwner()
    await browser.get(PAGE)
    expect((await browser.post(`${PAGE}/plan`, GROWTH)).path).toMatch(/^https:\/\/pay\.test\//)
    expect((await browser.get(PAGE)).html).toContain('Plan Starter')
  })

  it('upgrades at once, schedules a downgrade and cancels it', async () => {
    const provider = fakePayments()
    const { browser, organisationId } = await newOwner()
    await browser.get(PAGE)
    await browser.post(`${PAGE}/plan`, GROWTH)
    const [paymentId = ''] = await paymentIdsOf(organisationId)
    provider.pay(paymentId)
    await expireReads(organisationId)
    expect(await open(browser, paymentId)).toContain('750 credits were added')
    const growth = await browser.get(PAGE)
    expect(growth.html).toContain('Plan Growth')
    expect(growth.html).toContain('300 requests per minute')
    const down = await browser.post(`${PAGE}/plan`, { ...GROWTH, plan: 'starter', amount: '0' })
    expect(down.html).toContain('Plan change scheduled')
    expect(down.html).toContain('The plan changes to Starter on')
    const unchanged = await browser.post(`${PAGE}/plan`, GROWTH)
    expect(unchanged.html).toContain('Your plan remains Growth.')
    expect(unchanged.html).not.toContain('The plan changes to Starter on')
    const up = await browser.post(`${PAGE}/plan`, { ...GROWTH, plan: 'scale', amount: '29900' })
    expect(up.html).toContain('Payment received.')
    expect((await browser.get(PAGE)).html).toContain('Plan Scale')
  })

  it('rejects unknown plans and changed prices', async () => {
    const provider = fakePayments()
    const { browser, organisationId } = await newOwner()
    await browser.get(PAGE)
    for (const change of [
      { plan: 'gold' },
      { plan: 'enterprise' },
      { amount: '1' },
      { currency: 'USD' },
      { plan: '' },
    ]) {
      const { status, html } = await browser.post(`${PAGE}/plan`, { ...GROWTH, ...change })
      expect(status).toBe(422)
      expect(html).toContain('class="notice bad" role="alert"')
    }
    expect(provider.calls).toEqual([])
    expect(await paymentIdsOf(organisationId)).toEqual([])
  })

  it('asks to check the payments when the provider cannot be reached', async () => {
    const provider = fakePayments()
    provider.fail('startCheckout', 'after')
    const { browser } = await newOwner()
    await browser.get(PAGE)
    const { status, html } = await browser.post(`${PAGE}/plan`, GROWTH)
    expect(status).toBe(503)
    expect(html).toContain('Check your payments below')
  })

  it('ends a plan without a subscription at once', async () => {
    fakePayments()
    const { browser, organisationId } = await newOwner()
    await env.DB.prepare(`UPDATE organisations SET plan = 'growth' WHERE id = ?`)
      .bind(organisationId)
      .run()
    expect((await browser.get(PAGE)).html).toContain('The plan changes to Starter at once.')
    const page = await browser.post(`${PAGE}/plan`, { ...GROWTH, plan: 'starter', amount: '0' })
    expect(page.html).toContain('Your plan is now Starter.')
  })

  it('is not offered to organisations on the plan enterprise', async () => {
    const { browser, organisationId } = await newOwner()
    await env.DB.prepare(`UPDATE organisations SET plan = 'enterprise' WHERE id = ?`)
      .bind(organisationId)
      .run()
    const { html } = await browser.get(PAGE)
    expect(html).toContain('Plan Enterprise')
    expect(html).not.toContain(`action="${PAGE}/plan"`)
  })
})

describe('billing details', () => {
  it('opens the portal of the provider after the first payment', async () => {
    const provider = fakePayments()
    const owner = await newOwner()
    const { browser, organisationId } = owner
    expect((await browser.get(PAGE)).html).not.toContain(`${PAGE}/portal`)
    expect((await browser.post(`${PAGE}/portal`)).status).toBe(422)
    const paymentId = await buy(owner)
    provider.pay(paymentId)
    await expireReads(organisationId)
    await open(browser, paymentId)
    expect((await browser.get(PAGE)).html).toContain('Visa •••• 4242')
    expect((await browser.post(`${PAGE}/portal`)).path).toMatch(/^https:\/\/pay\.test\/portal\//)
    provider.fail('portalUrl', 'before')
    const down = await browser.post(`${PAGE}/portal`)
    expect(down.status).toBe(503)
    expect(down.html).toContain('The payment provider cannot be reached.')
  })
})

describe('auto-reload', () => {
  const SETTINGS = { enabled: 'on', threshold: '20', pack: '500', monthly_max: '100' }

  /** An owner whose organisation has a stored payment method. */
  async function newCustomer(): Promise<Owner> {
    const provider = fakePayments()
    const owner = await newOwner()
    const paymentId = await buy(owner)
    provider.pay(paymentId)
    await expireReads(owner.organisationId)
    await open(owner.browser, paymentId)
    return owner
  }

  it('is saved with the monthly maximum in minor units', async () => {
    const { browser, organisationId } = await newCustomer()
    const page = await browser.post(`${PAGE}/auto-reload`, SETTINGS)
    expect(page.html).toContain('Auto-reload settings saved.')
    expect(page.html).toMatch(/id="monthly_max"[^>]*value="100"/)
    expect(page.html).toMatch(/Auto-reload<\/dt><dd>On/)
    const row = await env.DB.prepare('SELECT * FROM organisations WHERE id = ?')
      .bind(organisationId)
      .first()
    expect(row).toMatchObject({
      auto_reload_enabled: 1,
      auto_reload_threshold: 20,
      auto_reload_pack: 500,
      auto_reload_monthly_max: 10_000,
    })
    const { enabled: _, ...off } = SETTINGS
    expect((await browser.post(`${PAGE}/auto-reload`, off)).html).toMatch(
      /Auto-reload<\/dt><dd>Off/,
    )
  })

  it('shows errors at the fields and keeps the entered values', async () => {
    const { browser } = await newCustomer()
    const wrong = { ...SETTINGS, threshold: '1.5', monthly_max: '' }
    const page = await browser.post(`${PAGE}/auto-reload`, wrong)
    expect(page.status).toBe(422)
    expect(page.html).toContain('Enter a whole number of credits.')
    expect(page.html).toContain('Enter a whole amount, such as 200.')
    expect(page.html).toMatch(/id="threshold"[^>]*value="1.5"/)
    expect(page.html).toMatch(/name="enabled" checked/)
  })

  it('shows why settings are rejected', async () => {
    const { browser } = await newCustomer()
    const low = await browser.post(`${PAGE}/auto-reload`, { ...SETTINGS, monthly_max: '10' })
    expect(low.status).toBe(422)
    expect(low.html).toContain('The monthly maximum must be from €40')
    const pack = await browser.post(`${PAGE}/auto-reload`, { ...SETTINGS, pack: '7' })
    expect(pack.html).toContain('The pack must be one of')
    const other = await newOwner()
    await other.browser.get(PAGE)
    const without = await other.browser.post(`${PAGE}/auto-reload`, SETTINGS)
    expect(without.status).toBe(422)
    expect(without.html).toContain('Auto-reload requires a stored payment method.')
  })
})
