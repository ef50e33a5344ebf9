// The budgets of requests: every route has one, and what an excess gets.
import { inspectRoutes } from 'hono/dev'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { app } from '../../src/app.ts'
import { pages, publicPages } from '../../src/console/console.tsx'
import { ROUTE_BUDGETS } from '../../src/domain/budgets.ts'
import { BUDGET_OF_ROUTES, budgetOf } from '../../src/http/route-budgets.ts'
import { TokenBuckets } from '../../src/platform/concurrency/token-buckets.ts'
import {
  createKey,
  exhaust,
  newBrowser,
  newMember,
  newOwner,
  PASSWORD,
  userIdOf,
} from '../support/browser.ts'
import { errorOf, request } from '../support/client.ts'

/** The routes of the Worker. The console's are mounted as `/console/*` and the like. */
const ROUTES = [app, pages, publicPages]
  .flatMap((each) => inspectRoutes(each as never))
  .filter(({ isMiddleware, method }) => !isMiddleware && method !== 'ALL')
  .map(({ method, path }) => ({ method, path }))

/** An address of a route. */
const exampleOf = (path: string) =>
  path
    .replace(/:organisationId\{[^}]*\}/, 'org_1')
    .replace(/:\w+\{(\w+)[^}]*\}/g, '$1')
    .replace(/:(\w+)/g, '$1')
    .replace('*', 'x')

afterEach(() => void vi.useRealTimers())

describe('the table of budgets', () => {
  it('has every route', () => {
    expect(ROUTES.length).toBeGreaterThan(150)
    for (const { method, path } of ROUTES) {
      expect(budgetOf(method, exampleOf(path)), `${method} ${path}`).not.toBe('unknown')
    }
  })

  it('has no pattern without a route', () => {
    const used = new Set(ROUTES.map(({ method, path }) => budgetOf(method, exampleOf(path))))
    expect([...used, 'unknown'].sort()).toEqual(Object.keys(ROUTE_BUDGETS).sort())
    for (const route of BUDGET_OF_ROUTES.flatMap(([, routes]) => routes)) {
      const [method, pattern = ''] = route.split(' ')
      const prefix = pattern.replace('/*', '')
      const matches = ROUTES.some(
        (each) =>
          (method === 'ALL' || each.method === method) &&
          (each.path === pattern || (pattern.endsWith('*') && each.path.startsWith(prefix))),
      )
      expect(matches, route).toBe(true)
    }
  })

  it('has a budget for addresses without a route', () => {
    expect(budgetOf('GET', '/nowhere')).toBe('unknown')
    expect(budgetOf('HEAD', '/outputs/job_1.png')).toBe('picture')
  })
})

describe('a network', () => {
  const get = (ip: string) => request('/health', { headers: { 'CF-Connecting-IP': ip } })

  it('gets 429 above its budget, in the whole /64 of an IPv6 address', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const max = ROUTE_BUDGETS.document.limits[0]?.max ?? 0
    for (let count = 0; count < max; count++) await get(`2001:db8:1:2::${count.toString(16)}`)
    const rejected = await get('2001:db8:1:2:ffff::1')
    expect(rejected.status).toBe(429)
    expect(Number(rejected.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect((await errorOf(rejected)).code).toBe('rate_limit_exceeded')
    expect((await get('2001:db8:1:3::1')).status).toBe(200)
  })

  it('gets a page that says when, without reading the form', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const max = ROUTE_BUDGETS.guestForm.limits[0]?.max ?? 0
    const browser = newBrowser('203.0.113.77')
    const sent = await Promise.all(
      Array.from({ length: max }, () => browser.post('/console/sign-in', {})),
    )
    expect(sent.map(({ status }) => status)).not.toContain(429)
    const rejected = await browser.post('/console/sign-in', {})
    expect(rejected.status).toBe(429)
    expect(rejected.html).toContain('Wait 1 minute and try again.')
  })
})

describe('a member above the budget of changes', () => {
  it('does not prevent an owner from changing and from protecting the organisation', async () => {
    const owner = await newOwner()
    const member = await newMember(owner.organisationId, 'developer')
    const key = { id: 'key_01h2xcejqtf2nbrexx3vqjhp41' }
    await exhaust(`change:user:${member.userId}`, 300)
    expect((await createKey(member.browser)).status).toBe(429)
    expect((await createKey(owner.browser, key)).status).toBe(200)
    await exhaust(`change:user:${await userIdOf(owner.email)}`, 300)
    expect((await createKey(owner.browser)).status).toBe(429)
    const revoked = await owner.browser.post(`/console/settings/api-keys/${key.id}/revoke`)
    expect(revoked.notice).toContain('revoked')
    const path = `/console/settings/team/members/${member.userId}/remove`
    expect((await owner.browser.post(path)).status).not.toBe(429)
    expect((await owner.browser.post('/console/sign-out')).path).toBe('/console/sign-in')
  })

  it('cannot export for others either', async () => {
    const owner = await newOwner()
    const viewer = await newMember(owner.organisationId, 'viewer')
    await exhaust(`export:user:${viewer.userId}`, 10)
    const file = '/console/credits/ledger.csv'
    expect((await viewer.browser.get(file)).status).toBe(429)
    expect((await owner.browser.get(file)).status).toBe(200)
    expect((await viewer.browser.post('/console/jobs/export')).status).toBe(429)
  })
})

describe('sign-ins', () => {
  it('that succeed are limited per user', async () => {
    const { email } = await newOwner()
    await exhaust(`sign-in:user:${await userIdOf(email)}`, 59)
    const signIn = () => newBrowser().post('/console/sign-in', { email, password: PASSWORD })
    expect((await signIn()).path).toBe('/console')
    expect((await signIn()).status).toBe(429)
  })
})

describe('a script of the console', () => {
  it('gets JSON', async () => {
    const { email, browser } = await newOwner()
    await exhaust(`consoleUpload:user:${await userIdOf(email)}`, 120)
    const { address } = await browser.get('/console/playground')
    const cookies = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await request(`${address}/uploads`, {
      method: 'POST',
      headers: { Cookie: cookies, Origin: 'https://try-on.test', Accept: 'application/json' },
      body: 'x',
    })
    expect(response.status).toBe(429)
    expect(await response.json()).toEqual({
      error: 'Too many requests. Try again in 60 minutes.',
    })
  })
})

describe('TokenBuckets', () => {
  const limit = (key: string) => ({ key, max: 2, windowSeconds: 60 })

  it('takes from all buckets or from none', () => {
    const buckets = new TokenBuckets()
    expect(buckets.take([limit('a')])).toBe(0)
    expect(buckets.take([limit('a'), limit('b')])).toBe(0)
    expect(buckets.take([limit('a'), limit('b')])).toBe(30)
    expect(buckets.take([limit('b')])).toBe(0)
    expect(buckets.take([limit('b')])).toBe(30)
  })

  it('drops the buckets that were not used for the longest time', () => {
    const buckets = new TokenBuckets()
    for (const key of ['a', 'b']) for (let i = 0; i < 2; i++) buckets.take([limit(key)])
    for (let i = 0; i < 9_999; i++) buckets.take([limit(`other ${i}`)])
    expect(buckets.take([limit('b')])).toBe(30)
    expect(buckets.take([limit('a')])).toBe(0)
  })
})
