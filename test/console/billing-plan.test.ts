import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  buy,
  expireReads,
  GROWTH,
  open,
  PACK,
  PAGE,
  paymentIdsOf,
  setPaymentProvider,
} from '../support/billing-page.ts'
import { newOwner, PASSWORD, type Owner } from '../support/browser.ts'
import { fakePayments } from '../support/fake-payment-provider.ts'

beforeEach(() => setPaymentProvider('sandbox'))

/** The values of hidden fields of a page. */
const hiddenFields = (html: string, ...names: string[]): Record<string, string> =>
  Object.fromEntries(
    names.map((name) => [name, new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '']),
  )

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
    const scale = { ...GROWTH, plan: 'scale', amount: '29900' }
    const quote = await browser.post(`${PAGE}/plan`, scale)
    expect(quote.html).toContain('€125 plus tax')
    expect(quote.html).toContain('Visa •••• 4242')
    expect(quote.html).toMatch(/€299 per month, next on <time/)
    expect(quote.html).toMatch(/Credits added now<\/dt><dd>5,250/)
    expect(provider.calls).not.toContain('upgrade')
    const confirmed: Record<string, string> = {
      ...scale,
      ...hiddenFields(quote.html, 'charge', 'at'),
    }
    provider.proration = 13_000
    const changed = await browser.post(`${PAGE}/plan`, confirmed)
    expect(changed.status).toBe(422)
    expect(changed.html).toContain('The price has changed. Start the upgrade again.')
    provider.proration = 12_500
    const late = new Date(Date.parse(confirmed['at'] ?? '') - 31 * 60_000).toISOString()
    expect((await browser.post(`${PAGE}/plan`, { ...confirmed, at: late })).status).toBe(422)
    expect(provider.calls).not.toContain('upgrade')
    const up = await browser.post(`${PAGE}/plan`, confirmed)
    expect(up.html).toContain('Payment received.')
    expect((await browser.get(PAGE)).html).toContain('Plan Scale')
    const { results } = await env.DB.prepare(
      `SELECT action, details FROM audit_log WHERE organisation_id = ? AND target = ? ORDER BY id`,
    )
      .bind(organisationId, (await paymentIdsOf(organisationId))[0])
      .all<{ action: string; details: string }>()
    expect(results.map(({ action, details }) => [action, JSON.parse(details)])).toEqual([
      [
        'payment.started',
        { kind: 'plan', amount: 12_500, currency: 'EUR', credits: expect.any(Number) },
      ],
      ['payment.paid', { amount: 12_500, currency: 'EUR', credits: expect.any(Number) }],
    ])
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
    provider.card = 'Mastercard •••• 4444'
    expect((await browser.get(`${PAGE}/portal/return`)).html).toContain('Mastercard •••• 4444')
    provider.card = 'Visa •••• 1111'
    provider.fail('paymentMethod', 'before')
    expect((await browser.get(`${PAGE}/portal/return`)).html).toContain('Mastercard •••• 4444')
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
    expect(page.html).toContain('Auto-reload on')
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
    expect((await browser.post(`${PAGE}/auto-reload`, off)).html).toContain('Auto-reload off')
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

describe('an old session', () => {
  const AUTO_RELOAD = { enabled: 'on', threshold: '20', pack: '500', monthly_max: '100' }

  /** An owner with a stored payment method, whose session is older than 15 minutes. */
  async function oldSession() {
    const provider = fakePayments()
    const owner = await newOwner()
    const paymentId = await buy(owner)
    provider.pay(paymentId)
    await expireReads(owner.organisationId)
    await open(owner.browser, paymentId)
    await env.DB.prepare('UPDATE sessions SET created_at = created_at - 1000000').run()
    return { ...owner, provider, calls: provider.calls.length }
  }

  it.each([
    ['plan', GROWTH],
    ['auto-reload', AUTO_RELOAD],
    ['portal', {}],
  ])('confirms the password before %s', async (form, fields) => {
    const { browser, organisationId, provider, calls } = await oldSession()
    const page = await browser.post(`${PAGE}/${form}`, fields)
    expect(page.status).toBe(403)
    expect(page.html).toContain('Confirm your password')
    expect(provider.calls).toHaveLength(calls)
    const row = () =>
      env.DB.prepare('SELECT plan, auto_reload_enabled FROM organisations WHERE id = ?')
        .bind(organisationId)
        .first()
    expect(await row()).toEqual({ plan: 'starter', auto_reload_enabled: 0 })
    const wrong = { ...fields, confirm_password: 'not the password' }
    expect((await browser.post(`${PAGE}/${form}`, wrong)).status).toBe(422)
    const confirmed = await browser.post(`${PAGE}/${form}`, {
      ...fields,
      confirm_password: PASSWORD,
    })
    expect(confirmed.status).toBeLessThan(400)
    if (form === 'auto-reload') expect(await row()).toMatchObject({ auto_reload_enabled: 1 })
    else expect(confirmed.path).toMatch(/^https:\/\/pay\.test\//)
  })

  it('turns auto-reload off, and buys a pack on the page of the provider', async () => {
    const { browser, organisationId } = await oldSession()
    await env.DB.prepare('UPDATE organisations SET auto_reload_enabled = 1 WHERE id = ?')
      .bind(organisationId)
      .run()
    const { enabled: _, ...off } = AUTO_RELOAD
    const page = await browser.post(`${PAGE}/auto-reload`, off)
    expect(page.html).toContain('Auto-reload off')
    expect((await browser.post(`${PAGE}/packs`, PACK)).path).toMatch(/^https:\/\/pay\.test\//)
  })
})

describe('a monthly maximum above the ceiling', () => {
  it('is rejected at its field, which names the ceiling and support', async () => {
    fakePayments()
    const { browser } = await newOwner()
    const above = { enabled: 'on', threshold: '20', pack: '500', monthly_max: '5001' }
    const page = await browser.post(`${PAGE}/auto-reload`, above)
    expect(page.status).toBe(422)
    expect(page.html).toMatch(/id="monthly_max-error"[^>]*>[^<]*€5,000\. Contact support/)
  })
})
