// API keys, suspension and the rate limit at every endpoint, and the order of these checks.
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { createKey } from '../../src/credits/api-key.ts'
import { codeOf, clientOf, request } from '../support/client.ts'
import { IMAGES, newOrganisation, operator, submit } from '../support/world.ts'

const UNKNOWN_JOB = newId('job')

/** Each endpoint, and whether it rejects a suspended organisation. */
const ENDPOINTS = [
  ['POST', '/v1/tryon', true],
  ['GET', '/v1/jobs', false],
  ['GET', `/v1/jobs/${UNKNOWN_JOB}`, true],
  ['DELETE', `/v1/jobs/${UNKNOWN_JOB}`, false],
  ['GET', '/v1/workspaces', false],
  ['GET', '/v1/account', false],
] as const

const call = (method: string, path: string, authorization?: string) =>
  request(path, {
    method,
    headers: authorization === undefined ? {} : { Authorization: authorization },
    ...(method === 'POST' && { body: JSON.stringify(IMAGES) }),
  })

describe.each(ENDPOINTS)('%s %s', (method, path, rejectsSuspended) => {
  it.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['another scheme', 'Basic dXNlcjpwYXNz'],
    ['a scheme without a key', 'Bearer '],
    ['a malformed key', 'Bearer svc_live_sk_short'],
    ['a well-formed key of an unknown organisation', `Bearer ${createKey(newId('org'), 'live')}`],
    ['two keys', 'Bearer a b'],
  ])('returns 401 invalid_api_key for %s', async (_, authorization) => {
    const response = await call(method, path, authorization)
    expect(response.status).toBe(401)
    expect(await codeOf(response)).toBe('invalid_api_key')
    expect(response.headers.get('X-Request-Id')).toMatch(/^[\w-]{20,}$/)
  })

  it('returns 401 invalid_api_key for an unknown key of an existing organisation', async () => {
    const { orgId } = await newOrganisation()
    const response = await call(method, path, `Bearer ${createKey(orgId, 'test')}`)
    expect(await codeOf(response)).toBe('invalid_api_key')
  })

  it('returns 401 api_key_revoked for the first request after the revocation', async () => {
    const { orgId, test } = await newOrganisation()
    const created = await operator.post(`/operator/organisations/${orgId}/api-keys`, {
      mode: 'test',
    })
    const { id, key } = await created.json<{ id: string; key: string }>()
    expect((await call(method, path, `Bearer ${key}`)).status).not.toBe(401)
    await operator.delete(`/operator/organisations/${orgId}/api-keys/${id}`)
    const response = await call(method, path, `Bearer ${key}`)
    expect(response.status).toBe(401)
    expect(await codeOf(response)).toBe('api_key_revoked')
    expect((await test.get('/v1/account')).status).toBe(200)
  })

  it(`${rejectsSuspended ? 'rejects' : 'serves'} a suspended organisation`, async () => {
    const { orgId, keys } = await newOrganisation()
    await operator.patch(`/operator/organisations/${orgId}`, { status: 'suspended' })
    const response = await call(method, path, `Bearer ${keys.live}`)
    if (rejectsSuspended) {
      expect(response.status).toBe(403)
      expect(await codeOf(response)).toBe('account_suspended')
    } else {
      expect(response.status).not.toBe(403)
    }
    await operator.patch(`/operator/organisations/${orgId}`, { status: 'active' })
    expect((await call(method, path, `Bearer ${keys.live}`)).status).not.toBe(403)
  })

  it('returns 429 with Retry-After over the limit, and counts all other requests', async () => {
    const { keys } = await newOrganisation({ rate_limit_per_minute: 2 })
    const first = await call(method, path, `Bearer ${keys.live}`)
    expect(first.headers.get('RateLimit-Policy')).toBe('"default";q=2;w=60')
    expect(first.headers.get('RateLimit')).toBe('"default";r=1;t=0')
    const second = await call(method, path, `Bearer ${keys.test}`) // the limit is the organisation's
    expect(second.headers.get('RateLimit')).toMatch(/^"default";r=0;t=(59|60)$/)

    const third = await call(method, path, `Bearer ${keys.live}`)
    expect(third.status).toBe(429)
    const retryAfter = Number(third.headers.get('Retry-After'))
    expect(retryAfter).toBeGreaterThanOrEqual(59)
    expect(retryAfter).toBeLessThanOrEqual(60)
    const { error } = await third.json<{ error: { code: string; message: string } }>()
    expect(error.code).toBe('rate_limit_exceeded')
    expect(error.message).toContain('Retry-After')
  })

  it('returns 405 with Allow for an unsupported method, even without a key', async () => {
    const response = await call('PUT', path)
    expect(response.status).toBe(405)
    expect(response.headers.get('Allow')?.split(', ')).toContain(method)
    expect(await codeOf(response)).toBe('method_not_allowed')
  })
})

describe('the order of checks', () => {
  it('checks the suspension before the rate limit, and the rate limit before the body', async () => {
    const { orgId, live } = await newOrganisation({ rate_limit_per_minute: 1 })
    expect((await live.post('/v1/tryon', {})).status).toBe(422)
    expect((await live.post('/v1/tryon', {})).status).toBe(429)
    await operator.patch(`/operator/organisations/${orgId}`, { status: 'suspended' })
    expect((await live.post('/v1/tryon', {})).status).toBe(403)
  })

  it('checks the body before the workspace, and the workspace before the credits', async () => {
    const { live } = await newOrganisation({ credits: 0 })
    expect((await live.post('/v1/tryon', { workspace_id: newId('ws') })).status).toBe(422)
    const unknown = await live.post('/v1/tryon', { ...IMAGES, workspace_id: newId('ws') })
    expect(unknown.status).toBe(404)
    expect((await live.post('/v1/tryon', IMAGES)).status).toBe(402)
  })

  it('does not count a request that was rejected with 429', async () => {
    const { orgId, test } = await newOrganisation({ rate_limit_per_minute: 1 })
    await test.get('/v1/account')
    for (let i = 0; i < 5; i++) expect((await test.get('/v1/account')).status).toBe(429)
    await operator.patch(`/operator/organisations/${orgId}`, { rate_limit_per_minute: 2 })
    expect((await test.get('/v1/account')).status).toBe(200)
    expect((await test.get('/v1/account')).status).toBe(429)
  })
})

describe('a read-only path outside /v1', () => {
  it.each(['/', '/openapi.json', '/openapi.yaml', '/outputs/job_1.png', '/inputs/job_1/model.png'])(
    'returns 405 with Allow for other methods, and responds to HEAD like GET: %s',
    async (path) => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const response = await request(path, { method })
        expect(response.status, method).toBe(405)
        expect(response.headers.get('Allow')).toBe('GET, HEAD')
        expect(await codeOf(response)).toBe('method_not_allowed')
        expect(response.headers.get('X-Request-Id')).not.toBeNull()
      }
      const [get, head] = [
        await request(path, { redirect: 'manual' }),
        await request(path, { method: 'HEAD', redirect: 'manual' }),
      ]
      expect(head.status).toBe(get.status)
      expect(head.status).not.toBe(405)
      expect(await head.text()).toBe('')
      await get.body?.cancel()
    },
  )
})

describe('an unknown path', () => {
  it.each(['/v1/nothing', '/v1', '/v1/jobs/a/b', '/nothing', '/V1/account', '/v1/tryon/'])(
    'returns 404 not_found in the envelope: %s',
    async (path) => {
      const response = await request(path)
      expect(response.status).toBe(404)
      expect(await codeOf(response)).toBe('not_found')
      expect(response.headers.get('X-Request-Id')).not.toBeNull()
    },
  )
})

describe('an API key', () => {
  it('works for its own mode only', async () => {
    const shop = await newOrganisation()
    expect((await submit(shop.test))['mode']).toBe('test')
    const swapped = clientOf(shop.keys.test.replace('_test_', '_live_'))
    expect((await swapped.get('/v1/account')).status).toBe(401)
  })

  it('is accepted with the scheme in lower case (RFC 9110)', async () => {
    const { keys } = await newOrganisation()
    const response = await call('GET', '/v1/account', `bearer ${keys.test}`)
    expect(response.status).toBe(200)
  })
})
