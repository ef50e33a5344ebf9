import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import {
  latestMail,
  newOwner,
  newBrowser,
  PASSWORD,
  signUp,
  totalsOf,
  verify,
} from '../support/browser.ts'
import { claimantOf } from '../../src/organisations/free-credits.ts'
import { clientOf } from '../support/client.ts'
import { InjectedError } from '../support/injected-error.ts'
import { operator } from '../support/world.ts'

const name = '/console/onboarding/name'
const region = '/console/onboarding/region'
const workspace = '/console/onboarding/workspace'
const SHOWN_KEY = /svc_test_sk_\w{64}/

describe('onboarding', () => {
  it('creates an organisation with its region, 100 credits and a working key', async () => {
    const browser = newBrowser()
    await signUp(browser)
    await browser.post(name, { name: 'Acme & Söhne' })
    await browser.post(region, { region: 'IN' })
    const page = await browser.post(workspace, { name: 'Shop' })
    expect(page.headers.get('Cache-Control')).toBe('no-store')
    const [key = ''] = SHOWN_KEY.exec(page.html) ?? []
    const client = clientOf(key)
    expect(await (await client.get('/v1/account')).json()).toEqual({
      org_id: expect.stringMatching(/^org_/),
      name: 'Acme & Söhne',
      plan: 'starter',
      region_code: 'IN',
      currency_code: 'INR',
      credits: 100,
      auto_reload_enabled: false,
    })
    expect(await (await client.get('/v1/workspaces')).json()).toMatchObject({
      workspaces: [{ name: 'Shop', status: 'active' }],
    })
  })

  it('chooses the region and creates the organisation with one form, which shows the key once', async () => {
    const browser = newBrowser()
    await signUp(browser)
    await browser.post(name, { name: 'Acme' })
    const invalid = await browser.post(region, { region: 'EU', name: '' })
    expect(invalid.status).toBe(422)
    expect((await browser.get(workspace)).path).toBe(region)
    const pages = await Promise.all(
      ['EU', 'US'].map((code) => browser.post(region, { region: code, name: 'Shop' })),
    )
    const keys = pages.flatMap(({ html }) => SHOWN_KEY.exec(html) ?? [])
    expect(keys).toHaveLength(1)
    const client = clientOf(keys[0] ?? '')
    expect(await (await client.get('/v1/workspaces')).json()).toMatchObject({
      workspaces: [{ name: 'Shop' }],
    })
    const again = await browser.post(region, { region: 'US', name: 'Shop' })
    expect(again.path).toBe('/console/onboarding/key')
    expect(again.html).not.toMatch(SHOWN_KEY)
  })

  it('continues at the current step, also in another browser', async () => {
    const first = newBrowser()
    const email = await signUp(first)
    const signInElsewhere = async () => {
      const browser = newBrowser()
      const page = await browser.post('/console/sign-in', { email, password: PASSWORD })
      return { browser, path: page.path }
    }
    expect((await signInElsewhere()).path).toBe(name)
    await first.post(name, { name: 'Acme' })
    expect((await signInElsewhere()).path).toBe(region)
    await first.post(region, { region: 'US' })
    expect((await signInElsewhere()).path).toBe(workspace)
    await first.post(workspace, { name: 'Default' })
    expect((await signInElsewhere()).path).toBe('/console')
  })

  it('does not allow skipping a step', async () => {
    const browser = newBrowser()
    await signUp(browser)
    expect((await browser.get(region)).path).toBe(name)
    expect((await browser.post(region, { region: 'US' })).path).toBe(name)
    expect((await browser.post(workspace, { name: 'Default' })).path).toBe(name)
    expect((await browser.get('/console/settings/api-keys')).path).toBe(name)
  })

  it('does not change the region once it is chosen, even by a forged form', async () => {
    const browser = newBrowser()
    await signUp(browser)
    await browser.post(name, { name: 'Acme' })
    await Promise.all([
      browser.post(region, { region: 'EU' }),
      browser.post(region, { region: 'EU' }),
    ])
    expect((await browser.post(region, { region: 'IN' })).path).toBe(workspace)
    // Changing the name again does not allow changing the region.
    await browser.post(name, { name: 'Acme Europe' })
    expect((await browser.post(region, { region: 'IN' })).path).toBe(workspace)
    const page = await browser.post(workspace, { name: 'Default', region: 'IN', regionCode: 'IN' })
    const [key = ''] = SHOWN_KEY.exec(page.html) ?? []
    const account = await (await clientOf(key).get('/v1/account')).json()
    expect(account).toMatchObject({ name: 'Acme Europe', region_code: 'EU', currency_code: 'EUR' })
    await browser.post(region, { region: 'IN' })
    expect(await (await clientOf(key).get('/v1/account')).json()).toEqual(account)
  })

  it('rejects an unknown region with an error at the field', async () => {
    const browser = newBrowser()
    await signUp(browser)
    await browser.post(name, { name: 'Acme' })
    const page = await browser.post(region, { region: 'MOON' })
    expect(page.status).toBe(422)
    expect(page.html).toContain('id="region-error"')
  })

  it('creates one organisation with one key and 100 credits from concurrent requests', async () => {
    const browser = newBrowser()
    await signUp(browser)
    await browser.post(name, { name: 'Acme' })
    await browser.post(region, { region: 'US' })
    const pages = await Promise.all(
      Array.from({ length: 5 }, () => browser.post(workspace, { name: 'Default' })),
    )
    const keys = pages.flatMap(({ html }) => SHOWN_KEY.exec(html) ?? [])
    expect(new Set(keys).size).toBe(1)
    const organisationId = `org_${keys[0]?.slice(12, 38)}`
    expect(await totalsOf(organisationId)).toMatchObject({ granted: 100, balance: 100 })
    const list = await browser.get('/console/settings/api-keys')
    expect(list.html.match(/svc_test_sk_…/g)).toHaveLength(1)
  })

  it('grants 100 credits if the step is repeated after a database error', async () => {
    const browser = newBrowser()
    await signUp(browser)
    await browser.post(name, { name: 'Acme' })
    await browser.post(region, { region: 'US' })
    // Not mockRejectedValueOnce: the alarm of another test's organisation could consume it.
    const down = vi.spyOn(env.DB, 'batch').mockRejectedValue(new Error('D1 is unavailable'))
    const failed = await browser.post(workspace, { name: 'Default' })
    down.mockRestore()
    expect(failed.status).toBe(500)
    expect(failed.html).not.toContain('D1 is unavailable')
    expect((await browser.get('/console')).path).toBe(workspace)
    const page = await browser.post(workspace, { name: 'Default' })
    const [key = ''] = SHOWN_KEY.exec(page.html) ?? []
    expect(await totalsOf(`org_${key.slice(12, 38)}`)).toMatchObject({ granted: 100 })
  })

  it('ends with code that works as it is, and with an offer of a live picture', async () => {
    const browser = newBrowser()
    await signUp(browser)
    await browser.post(name, { name: 'Acme' })
    await browser.post(region, { region: 'US' })
    const { html } = await browser.post(workspace, { name: 'Default' })
    const [, body = ''] = /-d &#39;(\{[^}]*\})/.exec(html) ?? []
    const request: unknown = JSON.parse(body.replaceAll('&quot;', '"'))
    const client = clientOf(SHOWN_KEY.exec(html)?.[0] ?? '')
    expect((await client.post('/v1/tryon', request)).status).toBe(202)
    expect(html).toContain('new TryOnClient({')
    expect(html).toContain('TryOnClient(\n')
    expect(html).toContain('uses 1 of your 100 free credits')
    expect(html).toContain('<input type="hidden" name="mode" value="live"/>')
  })

  it('shows the key once, and explains after a reload how to create another', async () => {
    const { browser, testKey, organisationId } = await newOwner()
    const again = await browser.post(workspace, { name: 'Default' })
    expect(again.path).toBe('/console/onboarding/key')
    expect(again.html).toContain('cannot be shown again')
    expect(again.html).not.toContain(testKey)
    expect((await totalsOf(organisationId)).granted).toBe(100)
  })

  it('does not state that a link was sent before one was sent', async () => {
    const browser = newBrowser()
    expect((await browser.get('/console/check-inbox')).html).not.toMatch(
      /[Ww]e sent|Check your inbox/,
    )
    const rejected = await browser.post('/console/resend', { email: 'invalid' })
    expect(rejected.status).toBe(422)
    expect(rejected.html).toContain('id="email-error"')
    expect(rejected.html).toContain('value="invalid"')
    expect(rejected.html).not.toContain('we sent')
  })

  it('resends the link', async () => {
    const browser = newBrowser()
    const email = `again-${crypto.randomUUID()}@shop.example`
    await browser.post('/console/sign-up', { email, password: PASSWORD, organisation: 'Acme' })
    const first = latestMail(email)
    await browser.post('/console/resend', { email })
    const second = latestMail(email)
    expect(second.subject).toBe(first.subject)
    expect((await verify(browser, email)).path).toBe(name)
  })

  describe('free credits', () => {
    const company = () => `${crypto.randomUUID()}.com`
    const NONE = 'Your company’s domain has already received its free credits.'

    /** Completes onboarding and returns the last page and the credits. */
    async function create(email: string) {
      const browser = newBrowser()
      await signUp(browser, email)
      await browser.post(name, { name: 'Acme' })
      await browser.post(region, { region: 'US' })
      const page = await browser.post(workspace, { name: 'Default' })
      const [key = ''] = SHOWN_KEY.exec(page.html) ?? []
      const account = await (await clientOf(key).get('/v1/account')).json<{ credits: number }>()
      const totals = await totalsOf(`org_${key.slice(12, 38)}`)
      return { page, browser, organisationId: `org_${key.slice(12, 38)}`, totals, ...account }
    }

    it('are granted once per registrable domain', async () => {
      const domain = company()
      const first = await create(`ada@${domain}`)
      expect(first.credits).toBe(100)
      expect(first.page.html).toContain('100 free credits')
      expect(first.page.html).not.toContain(NONE)
      for (const email of [`ada+1@${domain}`, `bob@${domain}`, `bob@mail.${domain}`]) {
        const next = await create(email)
        expect(next.credits, email).toBe(0)
        expect(next.totals).toEqual({ granted: 0, balance: 0, reserved: 0, consumed: 0 })
        expect(next.page.html).toContain(NONE)
        expect(next.page.html).not.toContain('free credits. Jobs in test mode')
      }
    })

    it('are granted once per mailbox if the domain does not belong to a company', async () => {
      const mailbox = crypto.randomUUID()
      expect((await create(`${mailbox}@shop.example`)).credits).toBe(100)
      expect((await create(`${mailbox}+1@shop.example`)).credits).toBe(0)
      expect((await create(`${crypto.randomUUID()}@shop.example`)).credits).toBe(100)
    })

    it('are not granted to an invited personal email address', async () => {
      const owner = await newOwner()
      const email = `${crypto.randomUUID()}@mailinator.com`
      await owner.browser.post('/console/settings/team/invitations', { email, role: 'developer' })
      const browser = newBrowser()
      await browser.post(latestMail(email).path, { password: PASSWORD })
      await browser.post(name, { name: 'Farm' })
      await browser.post(region, { region: 'US' })
      const page = await browser.post(workspace, { name: 'Default' })
      expect(page.html).toContain('Free credits are for work email addresses.')
      const [key = ''] = SHOWN_KEY.exec(page.html) ?? []
      expect((await totalsOf(`org_${key.slice(12, 38)}`)).granted).toBe(0)
    })

    it('are granted on retry if the first attempt failed between claim and grant', async () => {
      const browser = newBrowser()
      const domain = company()
      await signUp(browser, `ada@${domain}`)
      await browser.post(name, { name: 'Acme' })
      await browser.post(region, { region: 'US' })
      const unreachable = vi.spyOn(env.ORGANISATION, 'getByName').mockImplementation(() => {
        throw new InjectedError('the object is unreachable')
      })
      vi.spyOn(console, 'error').mockImplementation(() => {})
      expect((await browser.post(workspace, { name: 'Default' })).status).toBe(500)
      unreachable.mockRestore()
      const page = await browser.post(workspace, { name: 'Default' })
      const [key = ''] = SHOWN_KEY.exec(page.html) ?? []
      expect(await totalsOf(`org_${key.slice(12, 38)}`)).toMatchObject({ granted: 100 })
    })

    it('can be granted by an operator', async () => {
      const domain = company()
      await create(`ada@${domain}`)
      const { organisationId } = await create(`bob@${domain}`)
      const granted = await operator.post(`/operator/organisations/${organisationId}/credits`, {
        amount: 25,
        reason: 'Trial',
        reference: 'trial-1',
      })
      expect(await granted.json()).toEqual({ credits: 25 })
    })

    it.each([
      ['ada@Shop.co.uk', 'bob@mail.shop.co.uk', true],
      ['ada@shop.co.uk', 'ada@other.co.uk', false],
      ['a.da+x@gmail.com', 'ADA@googlemail.com', true],
      ['ada@gmail.com', 'bob@gmail.com', false],
      ['a.da@shop.test', 'ada@shop.test', false],
      ['ada@example.com', 'bob@example.com', false],
      ['ada+x@localhost', 'ada@localhost', true],
      ['ada@[203.0.113.7]', 'bob@[203.0.113.7]', false],
    ])('treat %s and %s as one claimant: %s', (one, other, same) => {
      expect(claimantOf(one) === claimantOf(other)).toBe(same)
    })
  })
})
