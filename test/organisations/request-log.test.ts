// Which requests to /v1 are logged, and what an entry contains.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { v1 } from '../../src/api/v1.ts'
import { newId } from '../../src/platform/ids.ts'
import { createKey, hashKey } from '../../src/credits/api-key.ts'
import { Organisation } from '../../src/organisation-object.ts'
import { keyReference } from '../../src/credits/request-log.ts'
import { ROUTES } from '../../src/organisations/request-log/logged-routes.ts'
import { InjectedError } from '../support/injected-error.ts'
import { clientOf, request } from '../support/client.ts'
import { logged } from '../support/request-log.ts'
import { DELAYED, IMAGES, newOrganisation, operator, submit } from '../support/world.ts'
import { spyPrepare } from '../support/jobs-database.ts'

describe('an entry', () => {
  it('has the key, route, status, error code, duration, request ID and job', async () => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test, { webhook_url: 'https://hooks.test/secret-path' })
    await shop.test.get(`/v1/jobs/${job_id}?secret=query`)
    await shop.live.get('/v1/account')
    await shop.test.post('/v1/tryon', { model_image_url: 'secret-value' })
    const entries = await logged(shop, 4)
    const base = { position: expect.any(String), at: expect.any(Number), ms: expect.any(Number) }
    const key = keyReference(hashKey(shop.keys.test))
    const requestId = expect.stringMatching(/^[\w-]{36}$/)
    const test = { ...base, mode: 'test', key, requestId, message: null, body: null }
    expect(entries).toEqual([
      {
        ...test,
        method: 'POST',
        route: '/v1/tryon',
        status: 202,
        code: null,
        jobId: job_id,
      },
      {
        ...test,
        method: 'GET',
        route: '/v1/jobs/{jobId}',
        status: 200,
        code: null,
        jobId: job_id,
      },
      {
        ...test,
        mode: 'live',
        key: keyReference(hashKey(shop.keys.live)),
        method: 'GET',
        route: '/v1/account',
        status: 200,
        code: null,
        jobId: null,
      },
      {
        ...test,
        method: 'POST',
        route: '/v1/tryon',
        status: 422,
        code: 'validation_error',
        jobId: null,
        message:
          'model_image_url must be an absolute http or https URL; garment_image_url is required: a string, the URL of an image.',
        body: '{\n  "model_image_url": "[string of 12 characters]"\n}',
      },
    ])
    expect(entries[0]?.at).toBeGreaterThan(Date.now() - 60_000)
    expect(JSON.stringify(entries)).not.toContain('secret')
  })

  it('has of a rejected submission no query, no value of another field, and at most 2 KB', async () => {
    const shop = await newOrganisation()
    const { test, keys, workspaceId } = shop
    await test.post('/v1/tryon', {
      model_image_url: 'https://user:secret@cdn.test/model.jpg?signature=secret#secret',
      garment_image_url: `data:image/png;base64,${'secret'.repeat(1_000)}`,
      webhook_url: `https://hooks.test/${keys.live}/${'x'.repeat(3_000)}`,
      workspace_id: workspaceId,
      metadata: { order: 'secret' },
      note: 'secret',
      count: 7,
      list: ['secret'],
      nothing: null,
      ['\ttab\nline']: 'secret',
    })
    await test.post('/v1/tryon', ['secret'])
    await test.post('/v1/tryon', '{ "secret"')
    await test.post(
      '/v1/tryon',
      Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`f${n}`, n])),
    )
    await test.delete('/v1/jobs/secret')
    await clientOf(createKey(shop.orgId, 'live')).post('/v1/tryon', {})
    const [first, list, noJson, many, noBody, unknown] = await logged(shop, 6)
    expect(JSON.parse(first?.body?.replace(/x+\.{3}/, '') ?? '')).toEqual({
      model_image_url: 'https://cdn.test/model.jpg',
      garment_image_url: '[string of 6022 characters]',
      webhook_url: 'https://hooks.test/svc_live_sk_[REDACTED]/',
      workspace_id: workspaceId,
      metadata: '[object]',
      note: '[string of 6 characters]',
      count: '[number]',
      list: '[array]',
      nothing: '[null]',
    })
    expect(first?.message).toContain('model_image_url must not')
    expect(list).toMatchObject({ body: '[array]', message: 'The body must be a JSON object.' })
    expect(noJson?.body).toBeNull()
    expect(noJson?.message).toBe('The body is not valid JSON in UTF-8.')
    expect(many?.body?.length).toBeLessThan(2_049)
    expect(noBody).toMatchObject({ code: 'job_not_found', body: null, message: expect.any(String) })
    expect(unknown).toMatchObject({ code: 'invalid_api_key', message: null, body: null })
    const everything = JSON.stringify([first, list, noJson, many, noBody, unknown])
    expect(everything).not.toContain('secret')
    expect(everything).not.toContain(keys.live)
  })

  it('has the message of an error of the service, without its cause', async () => {
    const shop = await newOrganisation()
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const spy = spyPrepare((prepare, sql) => {
      if (sql.startsWith('insert into "jobs"')) throw new Error('D1 is unavailable')
      return prepare(sql)
    })
    await shop.test.post('/v1/tryon', IMAGES)
    spy.mockRestore()
    const [entry] = await logged(shop, 1)
    expect(entry).toMatchObject({
      status: 500,
      message: expect.stringContaining('Something went wrong on our side.'),
      body: expect.stringContaining('https://shop.test/garment.png'),
    })
  })

  it('exists for every error of a request with a key', async () => {
    const shop = await newOrganisation({ rate_limit_per_minute: 9, credits: 0 })
    const { orgId, test, live, keys } = shop
    const created = await operator.post(`/operator/organisations/${orgId}/api-keys`, {
      mode: 'test',
    })
    const revoked = await created.json<{ id: string; key: string }>()
    await operator.delete(`/operator/organisations/${orgId}/api-keys/${revoked.id}`)
    const unknownJob = newId('job')
    await test.get(`/v1/jobs/${unknownJob}`)
    await test.get('/v1/nonsense?a=b')
    await test.delete('/v1/tryon')
    await test.post('/v1/tryon', 'x'.repeat(70_000))
    await live.post('/v1/tryon', IMAGES)
    await clientOf(revoked.key).get('/v1/account')
    await clientOf(createKey(orgId, 'live')).get('/v1/account')
    const spy = spyPrepare((prepare, sql) => {
      if (sql.includes('from "jobs"')) throw new Error('D1 is unavailable')
      return prepare(sql)
    })
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await test.get('/v1/jobs')
    spy.mockRestore()
    for (let n = 0; n < 6; n++) await test.get('/v1/account')
    const entries = await logged(shop, 14)
    const seen = entries.map(({ method, route, status, code, jobId, key }) =>
      [status, code, `${method} ${route}`, jobId, key && 'known'].join(' '),
    )
    expect(seen.slice(0, 9)).toEqual([
      `404 job_not_found GET /v1/jobs/{jobId} ${unknownJob} known`,
      '404 not_found GET   known',
      '405 method_not_allowed DELETE /v1/tryon  known',
      '413 payload_too_large POST /v1/tryon  known',
      '402 insufficient_credits POST /v1/tryon  known',
      '401 api_key_revoked GET /v1/account  known',
      '401 invalid_api_key GET /v1/account  ',
      '500 internal_error GET /v1/jobs  known',
      '200  GET /v1/account  known',
    ])
    expect(seen.at(-1)).toBe('429 rate_limit_exceeded GET /v1/account  known')
    expect(entries[4]?.mode).toBe('live')
    expect(JSON.stringify(entries)).not.toContain(keys.test)
  })

  it('has the pattern of every route of the API', () => {
    const routes = v1.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} /v1${path.replace(/:(\w+)/, '{$1}')}`)
      .map((route) => route.replace(/\/$/, ''))
    expect([...ROUTES].sort()).toEqual([...new Set(routes)].sort())
  })
})

describe('the log', () => {
  it('has no requests without a well-formed key, and stores nothing for unknown organisations', async () => {
    const orgId = newId('org')
    const calls = vi.spyOn(env.ORGANISATION, 'getByName')
    await request('/v1/account')
    await clientOf('svc_live_sk_nonsense').get('/v1/account')
    await clientOf(createKey(orgId, 'live')).get('/v1/account')
    await vi.waitUntil(() => calls.mock.calls.filter(([name]) => name === orgId).length === 2)
    expect(await env.ORGANISATION.getByName(orgId).readRequests(NEWEST)).toEqual({
      entries: [],
      continueFrom: undefined,
    })
  })

  it('receives many requests in few calls', async () => {
    const shop = await newOrganisation()
    const calls = vi.spyOn(Organisation.prototype, 'logRequests')
    const sizes = () => calls.mock.calls.map(([, requests]) => requests.length)
    await Promise.all(Array.from({ length: 120 }, () => shop.test.get('/v1/account')))
    await vi.waitUntil(() => sizes().reduce((sum, size) => sum + size, 0) === 120)
    // One for each second that the requests took, and one because a batch was full.
    expect(calls.mock.calls.length).toBeLessThan(20)
    expect(Math.max(...sizes())).toBeLessThanOrEqual(100)
  })

  it('does not delay or fail a request if it is unavailable', async () => {
    const shop = await newOrganisation()
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    vi.spyOn(Organisation.prototype, 'logRequests').mockRejectedValue(
      new InjectedError('unavailable'),
    )
    const { status } = await shop.test.post('/v1/tryon', { ...IMAGES, ...DELAYED })
    expect(status).toBe(202)
    await vi.waitUntil(() => errors.mock.calls.length > 0)
    expect(errors.mock.calls[0]?.[0]).toContain('requests not logged')
  })
})

const NEWEST = { filter: {}, limit: 100, direction: 'older' } as const
