import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import {
  latestMail,
  newFounder,
  newVisitor,
  PASSWORD,
  signUp,
  totalsOf,
  verify,
} from '../support/visitor.ts'
import { clientOf } from '../support/client.ts'

const name = '/console/onboarding/name'
const region = '/console/onboarding/region'
const workspace = '/console/onboarding/workspace'
const SHOWN_KEY = /svc_test_sk_\w{64}/

describe('onboarding', () => {
  it('gives a key that works, an organisation with its region and 100 credits', async () => {
    const visitor = newVisitor()
    await signUp(visitor)
    await visitor.post(name, { name: 'Acme & Söhne' })
    await visitor.post(region, { region: 'IN' })
    const page = await visitor.post(workspace, { name: 'Shop' })
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

  it('goes on where it was left, from another browser too', async () => {
    const first = newVisitor()
    const email = await signUp(first)
    const elsewhere = async () => {
      const visitor = newVisitor()
      const page = await visitor.post('/console/sign-in', { email, password: PASSWORD })
      return { visitor, path: page.path }
    }
    expect((await elsewhere()).path).toBe(name)
    await first.post(name, { name: 'Acme' })
    expect((await elsewhere()).path).toBe(region)
    await first.post(region, { region: 'US' })
    expect((await elsewhere()).path).toBe(workspace)
    await first.post(workspace, { name: 'Default' })
    expect((await elsewhere()).path).toBe('/console')
  })

  it('skips no step', async () => {
    const visitor = newVisitor()
    await signUp(visitor)
    expect((await visitor.get(region)).path).toBe(name)
    expect((await visitor.post(region, { region: 'US' })).path).toBe(name)
    expect((await visitor.post(workspace, { name: 'Default' })).path).toBe(name)
    expect((await visitor.get('/console/settings/api-keys')).path).toBe(name)
  })

  it('keeps the region that was chosen first, whatever form is forged', async () => {
    const visitor = newVisitor()
    await signUp(visitor)
    await visitor.post(name, { name: 'Acme' })
    await Promise.all([
      visitor.post(region, { region: 'EU' }),
      visitor.post(region, { region: 'EU' }),
    ])
    expect((await visitor.post(region, { region: 'IN' })).path).toBe(workspace)
    // Going back to the name is possible, but does not open the choice again.
    await visitor.post(name, { name: 'Acme Europe' })
    expect((await visitor.post(region, { region: 'IN' })).path).toBe(workspace)
    const page = await visitor.post(workspace, { name: 'Default', region: 'IN', regionCode: 'IN' })
    const [key = ''] = SHOWN_KEY.exec(page.html) ?? []
    const account = await (await clientOf(key).get('/v1/account')).json()
    expect(account).toMatchObject({ name: 'Acme Europe', region_code: 'EU', currency_code: 'EUR' })
    await visitor.post(region, { region: 'IN' })
    expect(await (await clientOf(key).get('/v1/account')).json()).toEqual(account)
  })

  it('refuses a region that does not exist, beside the choice', async () => {
    const visitor = newVisitor()
    await signUp(visitor)
    await visitor.post(name, { name: 'Acme' })
    const page = await visitor.post(region, { region: 'MOON' })
    expect(page.status).toBe(422)
    expect(page.html).toContain('id="region-error"')
  })

  it('founds one organisation with one key and 100 credits, however it is raced', async () => {
    const visitor = newVisitor()
    await signUp(visitor)
    await visitor.post(name, { name: 'Acme' })
    await visitor.post(region, { region: 'US' })
    const pages = await Promise.all(
      Array.from({ length: 5 }, () => visitor.post(workspace, { name: 'Default' })),
    )
    const keys = pages.flatMap(({ html }) => SHOWN_KEY.exec(html) ?? [])
    expect(new Set(keys).size).toBe(1)
    const organisationId = `org_${keys[0]?.slice(12, 38)}`
    expect(await totalsOf(organisationId)).toMatchObject({ granted: 100, balance: 100 })
    const list = await visitor.get('/console/settings/api-keys')
    expect(list.html.match(/svc_test_sk_…/g)).toHaveLength(1)
  })

  it('survives a database that fails while it founds, with 100 credits all the same', async () => {
    const visitor = newVisitor()
    await signUp(visitor)
    await visitor.post(name, { name: 'Acme' })
    await visitor.post(region, { region: 'US' })
    vi.spyOn(env.DB, 'batch').mockRejectedValueOnce(new Error('D1 is away'))
    const failed = await visitor.post(workspace, { name: 'Default' })
    expect(failed.status).toBe(500)
    expect(failed.html).not.toContain('D1 is away')
    expect((await visitor.get('/console')).path).toBe(workspace)
    const page = await visitor.post(workspace, { name: 'Default' })
    const [key = ''] = SHOWN_KEY.exec(page.html) ?? []
    expect(await totalsOf(`org_${key.slice(12, 38)}`)).toMatchObject({ granted: 100 })
  })

  it('shows the key once: a reload says how to get another', async () => {
    const { visitor, testKey, organisationId } = await newFounder()
    const again = await visitor.post(workspace, { name: 'Default' })
    expect(again.path).toBe('/console/onboarding/key')
    expect(again.html).toContain('cannot be shown again')
    expect(again.html).not.toContain(testKey)
    expect((await totalsOf(organisationId)).granted).toBe(100)
  })

  it('claims to have sent a link only when it has', async () => {
    const visitor = newVisitor()
    expect((await visitor.get('/console/check-inbox')).html).not.toMatch(
      /have sent|Check your inbox/,
    )
    const refused = await visitor.post('/console/resend', { email: 'nonsense' })
    expect(refused.status).toBe(422)
    expect(refused.html).toContain('id="email-error"')
    expect(refused.html).toContain('value="nonsense"')
    expect(refused.html).not.toContain('on its way')
  })

  it('sends the link again on request', async () => {
    const visitor = newVisitor()
    const email = `again-${crypto.randomUUID()}@shop.example`
    await visitor.post('/console/sign-up', { email, password: PASSWORD, organisation: 'Acme' })
    const first = await latestMail(email)
    await visitor.post('/console/resend', { email })
    const second = await latestMail(email)
    expect(second.subject).toBe(first.subject)
    expect((await verify(visitor, email)).path).toBe(name)
  })
})
