import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'
import { firstIdSince, newId } from '../../src/platform/ids.ts'
import { GROWTH, PACK, PAGE, paymentIdsOf, setPaymentProvider } from '../support/billing-page.ts'
import { newBrowser, newMember, newOwner } from '../support/browser.ts'
import { fakePayments } from '../support/fake-payment-provider.ts'
import { jobsDb, newJobId } from '../support/jobs-database.ts'

beforeEach(() => setPaymentProvider('sandbox'))

describe('the page Billing', () => {
  it('shows owners the packs and plans in the currency of the organisation', async () => {
    const { browser } = await newOwner()
    const { status, html } = await browser.get(PAGE)
    expect(status).toBe(200)
    expect(html).toContain('aria-label="Buy 500 credits for €40"')
    expect(html).toContain('aria-label="Upgrade to Growth"')
    expect(html).toContain('60 requests per minute')
    expect(html).toContain('No payments yet')
    expect(html).toContain('no money moves')
    expect(html).not.toContain('$')
  })

  it('is for owners and the role billing', async () => {
    const { organisationId } = await newOwner()
    const buyer = await newMember(organisationId, 'billing')
    expect((await buyer.browser.get(PAGE)).html).toContain('aria-label="Buy 500 credits for €40"')
    const developer = await newMember(organisationId)
    expect((await developer.browser.get(PAGE)).status).toBe(404)
  })

  it('rejects the forms of developers', async () => {
    const provider = fakePayments()
    const { organisationId } = await newOwner()
    const { browser } = await newMember(organisationId)
    const pages = await Promise.all([
      browser.post(`${PAGE}/packs`, PACK),
      browser.post(`${PAGE}/plan`, GROWTH),
      browser.post(`${PAGE}/auto-reload`, { threshold: '50', pack: '500', monthly_max: '100' }),
      browser.post(`${PAGE}/portal`),
    ])
    expect(pages.map(({ status }) => status)).toEqual([404, 404, 404, 404])
    expect(provider.calls).toEqual([])
    expect(await paymentIdsOf(organisationId)).toEqual([])
  })

  it('redirects guests to the sign-in page, and the URLs of its forms to itself', async () => {
    expect((await newBrowser().get(PAGE)).path).toMatch(/^\/console\/sign-in/)
    const { browser } = await newOwner()
    expect((await browser.get(`${PAGE}/packs`)).path).toBe(PAGE)
  })

  it('counts completed live jobs of this month as usage', async () => {
    const { browser, organisationId } = await newOwner()
    const now = new Date()
    const lastMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) - 1
    const insert = (id: string, mode: string, status: string, at: number) =>
      jobsDb(organisationId)
        .prepare(
          `INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, base_url, created_at, due_at)
         VALUES (?, ?, 'ws', ?, ?, '', ?, 0)`,
        )
        .bind(id, organisationId, mode, status, at)
    await jobsDb(organisationId).batch([
      ...[1, 2, 3].map(() => insert(newJobId(organisationId), 'live', 'completed', now.getTime())),
      insert(newJobId(organisationId), 'test', 'completed', now.getTime()),
      insert(newJobId(organisationId), 'live', 'failed', now.getTime()),
      insert(firstIdSince('job', lastMonth), 'live', 'completed', lastMonth),
    ])
    const { html } = await browser.get(PAGE)
    expect(html).toContain('3 used this month')
    const day = now.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
    expect(html).toContain(`${day}: 3 credits used`)
  })

  it('lists payments in pages of 20', async () => {
    const { browser, organisationId } = await newOwner()
    const ids = Array.from({ length: 21 }, () => newId('pay'))
    const insert = env.DB.prepare(
      `INSERT INTO payments (id, organisation_id, kind, status, credits, amount, currency, provider,
         failure, created_at, checked_at)
       VALUES (?, ?, 'pack', 'failed', 500, 4000, 'EUR', 'sandbox', 'The card was declined.', 0, 0)`,
    )
    await env.DB.batch(ids.map((id) => insert.bind(id, organisationId)))
    const newest = await browser.get(PAGE)
    expect(newest.html).toContain(`/payments/${ids.at(-1)}`)
    expect(newest.html).toContain('The card was declined.')
    expect(newest.html).not.toContain(`/payments/${ids[0]}`)
    const [, older = ''] = /href="([^"]*before=[^"#]*)/.exec(newest.html) ?? []
    expect((await browser.get(older)).html).toContain(`/payments/${ids[0]}`)
    expect((await browser.get(`${PAGE}?before=nonsense`)).html).toContain(`/${ids.at(-1)}`)
  })

  it('shows no forms when payments are not set up', async () => {
    setPaymentProvider(undefined)
    const { browser } = await newOwner()
    const { html } = await browser.get(PAGE)
    expect(html).toContain('Payments are not set up.')
    expect(html).not.toContain(`action="${PAGE}`)
    const bought = await browser.post(`${PAGE}/packs`, PACK)
    expect(bought.status).toBe(422)
    expect(bought.html).toContain('Payments are not set up.')
  })

  it('allows forms to redirect to its own pages and to those of the provider only', async () => {
    const formAction = async () => {
      const { headers } = await newBrowser().get('/console/sign-in')
      return /form-action ([^;]*);/.exec(headers.get('Content-Security-Policy') ?? '')?.[1]
    }
    expect(await formAction()).toBe("'self'")
    setPaymentProvider('stripe')
    expect(await formAction()).toBe(
      "'self' https://checkout.stripe.com https://billing.stripe.com https://invoice.stripe.com",
    )
  })
})
