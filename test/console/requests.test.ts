// The pages of the request log, and the bounds of what it stores and reads.
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { hashKey } from '../../src/credits/api-key.ts'
import type { LoggedRequest, RequestQuery } from '../../src/credits/request-log.ts'
import { newMember, newOwner, type Browser, type Owner, type Page } from '../support/browser.ts'
import { clientOf } from '../support/client.ts'
import { logged } from '../support/request-log.ts'
import { operator, submit } from '../support/world.ts'

const LOG = '/console/requests'
const DAY_MS = 24 * 60 * 60_000

let owner: Owner
let browser: Browser
let jobId: string
let liveKeyId: string

/** The status and route of each row. */
const rowsOf = ({ html }: Page) =>
  [...html.matchAll(/<td data-label="Status".*?>(\d{3})<.*?<code>([^<]+)<\/code>/g)].map(
    ([, status, route]) => `${status} ${route}`,
  )

const linksOf = ({ html }: Page) =>
  new Map(
    [...html.matchAll(/<a href="([^"]+)">(Newer|Older|Continue searching)<\/a>/g)].map(
      ([, href = '', label = '']) => [label, href.replaceAll('&amp;', '&')],
    ),
  )

beforeAll(async () => {
  owner = await newOwner()
  browser = owner.browser
  const test = clientOf(owner.testKey)
  const path = `/operator/organisations/${owner.organisationId}/api-keys`
  const created = await operator.post(path, { mode: 'live' })
  const liveKey = await created.json<{ id: string; key: string }>()
  liveKeyId = liveKey.id
  await browser.post('/console/mode', { mode: 'test' })
  jobId = (await submit(test)).job_id
  await test.get(`/v1/jobs/${jobId}`)
  await test.post('/v1/tryon', {})
  await test.get('/v1/nonsense')
  await clientOf(liveKey.key).get('/v1/account')
  await logged({ orgId: owner.organisationId }, 5)
})

describe('the list', () => {
  it('shows the requests of the mode, newest first', async () => {
    const page = await browser.get(LOG)
    expect(rowsOf(page)).toEqual([
      '404 GET unknown path',
      '422 POST /v1/tryon',
      '200 GET /v1/jobs/{jobId}',
      '202 POST /v1/tryon',
    ])
    expect(page.html).toContain('validation_error')
    expect(page.html).toContain(`/jobs/${jobId}`)
    expect(page.html).toContain(owner.testKey.slice(-4))
    await browser.post('/console/mode', { mode: 'live' })
    expect(rowsOf(await browser.get(LOG))).toEqual(['200 GET /v1/account'])
    await browser.post('/console/mode', { mode: 'test' })
  })

  it.each([
    ['status=4xx', ['404 GET unknown path', '422 POST /v1/tryon']],
    ['status=5xx', []],
    ['code=validation_error', ['422 POST /v1/tryon']],
    ['route=POST /v1/tryon&status=2xx', ['202 POST /v1/tryon']],
    ['status=nonsense&before=nonsense', { length: 4 }],
  ])('filters by %s', async (query, expected) => {
    expect(rowsOf(await browser.get(`${LOG}?${query.replaceAll(' ', '+')}`))).toMatchObject(
      expected,
    )
  })

  it('filters by key, which may be the key of another organisation', async () => {
    const keys = await browser.get('/console/settings/api-keys')
    const own = keys.html.match(/key_\w{26}/g)?.find((id) => id !== liveKeyId) ?? ''
    expect(rowsOf(await browser.get(`${LOG}?key=${own}`))).toHaveLength(4)
    expect(rowsOf(await browser.get(`${LOG}?key=${liveKeyId}`))).toEqual([])
    const page = await browser.get(`${LOG}?key=${newId('key')}`)
    expect(rowsOf(page)).toEqual([])
    expect(page.html).toContain('Clear filters')
  })

  it('finds requests by job ID and by request ID in both modes', async () => {
    const page = await browser.get(`${LOG}?q=${jobId}`)
    expect(rowsOf(page)).toEqual(['200 GET /v1/jobs/{jobId}', '202 POST /v1/tryon'])
    const entries = await logged({ orgId: owner.organisationId }, 5)
    const live = entries.find(({ mode }) => mode === 'live')
    expect(rowsOf(await browser.get(`${LOG}?q=+${live?.requestId}+`))).toEqual([
      '200 GET /v1/account',
    ])
  })
})

describe('the page of a request', () => {
  it('explains the error and links to its documentation', async () => {
    const list = await browser.get(`${LOG}?code=validation_error`)
    const [, href = ''] = /<a href="([^"]+\/requests\/[^"]+)" class="id"/.exec(list.html) ?? []
    const page = await browser.get(href)
    expect(page.status).toBe(200)
    expect(page.html).toContain('/docs/errors#validation_error')
    expect(page.html).toContain('names each wrong field')
    expect(page.html).toContain('model_image_url is required: a string, the URL of an image')
    expect(page.html).toMatch(/Request body.*\{\}/s)
    const withoutPosition = await browser.get(href.replace(/\?.*/, ''))
    expect(withoutPosition.html).toBe(page.html)
  })

  it('links to the job, and shows the latest request with an ID that a client repeats', async () => {
    const headers = { 'X-Request-Id': 'order-4711' }
    const client = clientOf(owner.testKey)
    await client.get('/v1/account', headers)
    await client.get(`/v1/jobs/${jobId}`, headers)
    await logged({ orgId: owner.organisationId }, 7)
    const page = await browser.get(`${LOG}/order-4711`)
    expect(page.html).toContain('GET /v1/jobs/{jobId}')
    expect(page.html).toContain(`/console/jobs/${jobId}`)
    const list = await browser.get(`${LOG}?q=order-4711`)
    const hrefs = [...list.html.matchAll(/<a href="([^"]+\/requests\/[^"]+)" class="id"/g)].map(
      ([, href]) => href,
    )
    expect(hrefs).toHaveLength(2)
    expect((await browser.get(hrefs[1] ?? '')).html).toContain('GET /v1/account')
  })

  it('is 404 for an unknown ID, a wrong position and another organisation', async () => {
    const [entry] = await logged({ orgId: owner.organisationId }, 5)
    const { browser: other } = await newOwner()
    const path = `${LOG}/${entry?.requestId}`
    expect((await browser.get(`${path}?entry=${entry?.position}`)).status).toBe(200)
    expect((await browser.get(`${path}?entry=1.1`)).status).toBe(404)
    expect((await browser.get(`${LOG}/unknown`)).status).toBe(404)
    expect((await other.get(path)).status).toBe(404)
    expect((await other.get(`${path}?entry=${entry?.position}`)).status).toBe(404)
  })
})

it('is for members who may read jobs', async () => {
  const member = await newMember(owner.organisationId)
  expect((await member.browser.get(LOG)).status).toBe(200)
  await env.DB.prepare("UPDATE members SET role = 'billing' WHERE user_id = ?")
    .bind(member.userId)
    .run()
  expect((await member.browser.get(LOG)).status).toBe(404)
  expect((await member.browser.get(`${LOG}/anything`)).status).toBe(404)
})

describe('a long log', () => {
  const entry = (n: number, overrides: Partial<LoggedRequest> = {}): LoggedRequest => ({
    at: Date.now(),
    mode: 'test',
    keyHash: hashKey(owner.testKey),
    method: 'GET',
    route: '/v1/account',
    status: 200,
    code: null,
    ms: n,
    requestId: `request-${n}`,
    jobId: null,
    message: null,
    body: null,
    ...overrides,
  })
  const stub = () => env.ORGANISATION.getByName(owner.organisationId)
  const fill = async (batches: number, size: number, overrides?: Partial<LoggedRequest>) => {
    for (let batch = 0; batch < batches; batch++) {
      const requests = Array.from({ length: size }, (_, n) => entry(batch * size + n, overrides))
      await stub().logRequests(owner.organisationId, requests)
    }
  }
  const read = (query: Partial<RequestQuery> = {}) =>
    stub().readRequests({ filter: {}, limit: 1_000, direction: 'older', ...query })

  beforeAll(async () => {
    owner = await newOwner()
    browser = owner.browser
    await fill(3, 40)
  })

  it('has pages that can be read in both directions', async () => {
    const durations = ({ html }: Page) =>
      [...html.matchAll(/<td data-label="Duration".*?>(\d+) ms/g)].map(([, ms]) => Number(ms))
    const range = (from: number, to: number) =>
      Array.from({ length: from - to + 1 }, (_, n) => from - n)
    const first = await browser.get(LOG)
    expect(durations(first)).toEqual(range(119, 70))
    expect([...linksOf(first).keys()]).toEqual(['Older'])
    const second = await browser.get(linksOf(first).get('Older') ?? '')
    expect(durations(second)).toEqual(range(69, 20))
    const third = await browser.get(linksOf(second).get('Older') ?? '')
    expect(durations(third)).toEqual(range(19, 0))
    expect([...linksOf(third).keys()]).toEqual(['Newer'])
    const back = await browser.get(linksOf(third).get('Newer') ?? '')
    expect(durations(back)).toEqual(range(69, 20))
    const newest = await browser.get(linksOf(back).get('Newer') ?? '')
    expect(durations(newest)).toEqual(range(119, 70))
    expect([...linksOf(newest).keys()]).toEqual(['Older'])
  })

  it('is read in bounded parts, and a search says that it has not ended', async () => {
    // Each batch has the longest request IDs, so that few are needed.
    await fill(400, 100, { requestId: 'x'.repeat(255) })
    const part = await read({ filter: { code: 'internal_error' } })
    expect(part.entries).toEqual([])
    expect(part.continueFrom).toBeDefined()
    const page = await browser.get(`${LOG}?code=internal_error`)
    expect(page.html).toContain('No matching requests so far')
    const last = await browser.get(linksOf(page).get('Continue searching') ?? '')
    expect(last.html).toContain('No matching requests')
    expect(linksOf(last).has('Continue searching')).toBe(false)
    expect(rowsOf(await browser.get(`${LOG}?q=request-3`))).toHaveLength(1)
  })

  it('limits requests with unknown keys to 100 per hour, also after an eviction', async () => {
    const keyHash = 'f'.repeat(64)
    const unknown = { keyHash, status: 401, code: 'invalid_api_key', requestId: 'unknown' }
    await fill(1, 80, unknown)
    await evictDurableObject(stub())
    await fill(1, 80, unknown)
    const { entries } = await read({ filter: { id: 'unknown' } })
    expect(entries.filter(({ key }) => key === null)).toHaveLength(100)
  })

  it('has a maximum length', async () => {
    const lengths = () =>
      runInDurableObject(stub(), (_, { storage }) =>
        storage.sql.exec<{ rows: number }>('SELECT count(*) AS rows FROM request_log').one(),
      )
    const { rows } = await lengths()
    await runInDurableObject(stub(), (_, { storage }) => {
      storage.sql.exec(
        'UPDATE request_log SET length_to_here = length_to_here + 63000000 WHERE id = (SELECT max(id) FROM request_log)',
      )
    })
    await fill(1, 1)
    expect((await lengths()).rows).toBeLessThan(rows)
    expect((await read({ filter: { id: 'request-0' } })).entries).toHaveLength(1)
  })

  it('is deleted after 7 days by the alarm', async () => {
    await fill(1, 2)
    vi.useFakeTimers({ toFake: ['Date'] })
    vi.setSystemTime(Date.now() + 7 * DAY_MS + 1_000)
    await fill(1, 1)
    await runDurableObjectAlarm(stub())
    expect(
      await runInDurableObject(stub(), (_, { storage }) => storage.getAlarm()),
    ).toBeLessThanOrEqual(Date.now() + 7 * DAY_MS)
    const { entries } = await read()
    vi.useRealTimers()
    expect(entries).toHaveLength(1)
  })
})
