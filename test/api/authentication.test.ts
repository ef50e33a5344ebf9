// What every endpoint does with keys, suspension and the rate limit, and in which order.
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/ids.ts'
import { createKey } from '../../src/organisation/api-key.ts'
import { codeOf, clientOf, request } from '../support/client.ts'
import { IMAGES, newOrganisation, operator, submit } from '../support/world.ts'

const UNKNOWN_JOB = newId('job')

/** Each endpoint, with whether a suspended organisation is refused there. */
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

describe.each(ENDPOINTS)('%s %s', (method, path, refusesSuspended) => {
  it.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['another scheme', 'Basic dXNlcjpwYXNz'],
    ['a scheme without a key', 'Bearer '],
    ['a key of the wrong shape', 'Bearer svc_live_sk_short'],
    ['a well-formed key of no organisation', `Bearer ${createKey(newId('org'), 'live')}`],
    ['two keys', 'Bearer a b'],
  ])('answers 401 invalid_api_key to %s', async (_, authorization) => {
    const answer = await call(method, path, authorization)
    expect(answer.status).toBe(401)
    expect(await codeOf(answer)).toBe('invalid_api_key')
    expect(answer.headers.get('X-Request-Id')).toMatch(/^[\w-]{20,}$/)
  })

  it('answers 401 invalid_api_key to a well-formed key that its organisation never had', async () => {
    const { orgId } = await newOrganisation()
    const answer = await call(method, path, `Bearer ${createKey(orgId, 'test')}`)
    expect(await codeOf(answer)).toBe('invalid_api_key')
  })

  it('answers 401 api_key_revoked at the request that follows the revocation', async () => {
    const { orgId, test } = await newOrganisation()
    const made = await operator.post(`/operator/organisations/${orgId}/api-keys`, { mode: 'test' })
    const { id, key } = await made.json<{ id: string; key: string }>()
    expect((await call(method, path, `Bearer ${key}`)).status).not.toBe(401)
    await operator.delete(`/operator/organisations/${orgId}/api-keys/${id}`)
    const answer = await call(method, path, `Bearer ${key}`)
    expect(answer.status).toBe(401)
    expect(await codeOf(answer)).toBe('api_key_revoked')
    expect((await test.get('/v1/account')).status).toBe(200)
  })

  it(`${refusesSuspended ? 'refuses' : 'serves'} a suspended organisation`, async () => {
    const { orgId, keys } = await newOrganisation()
    await operator.patch(`/operator/organisations/${orgId}`, { status: 'suspended' })
    const answer = await call(method, path, `Bearer ${keys.live}`)
    if (refusesSuspended) {
      expect(answer.status).toBe(403)
      expect(await codeOf(answer)).toBe('account_suspended')
    } else {
      expect(answer.status).not.toBe(403)
    }
    await operator.patch(`/operator/organisations/${orgId}`, { status: 'active' })
    expect((await call(method, path, `Bearer ${keys.live}`)).status).not.toBe(403)
  })

  it('answers 429 with Retry-After over the limit, and counts every other request', async () => {
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

  it('answers 405 with Allow to methods it does not take, whoever asks', async () => {
    const answer = await call('PUT', path)
    expect(answer.status).toBe(405)
    expect(answer.headers.get('Allow')?.split(', ')).toContain(method)
    expect(await codeOf(answer)).toBe('method_not_allowed')
  })
})

describe('the order of checks', () => {
  it('tells of suspension before the rate limit, and of that before the body', async () => {
    const { orgId, live } = await newOrganisation({ rate_limit_per_minute: 1 })
    expect((await live.post('/v1/tryon', {})).status).toBe(422)
    expect((await live.post('/v1/tryon', {})).status).toBe(429)
    await operator.patch(`/operator/organisations/${orgId}`, { status: 'suspended' })
    expect((await live.post('/v1/tryon', {})).status).toBe(403)
  })

  it('tells of the body before the workspace, and of that before the credits', async () => {
    const { live } = await newOrganisation({ credits: 0 })
    expect((await live.post('/v1/tryon', { workspace_id: newId('ws') })).status).toBe(422)
    const unknown = await live.post('/v1/tryon', { ...IMAGES, workspace_id: newId('ws') })
    expect(unknown.status).toBe(404)
    expect((await live.post('/v1/tryon', IMAGES)).status).toBe(402)
  })

  it('does not count a request that was refused with 429', async () => {
    const { orgId, test } = await newOrganisation({ rate_limit_per_minute: 1 })
    await test.get('/v1/account')
    for (let i = 0; i < 5; i++) expect((await test.get('/v1/account')).status).toBe(429)
    await operator.patch(`/operator/organisations/${orgId}`, { rate_limit_per_minute: 2 })
    expect((await test.get('/v1/account')).status).toBe(200)
    expect((await test.get('/v1/account')).status).toBe(429)
  })
})

describe('an address outside /v1 that can only be read', () => {
  it.each(['/', '/openapi.json', '/outputs/job_1.png', '/inputs/job_1/model.png'])(
    'answers 405 with Allow to other methods, and HEAD as GET: %s',
    async (path) => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const answer = await request(path, { method })
        expect(answer.status, method).toBe(405)
        expect(answer.headers.get('Allow')).toBe('GET, HEAD')
        expect(await codeOf(answer)).toBe('method_not_allowed')
        expect(answer.headers.get('X-Request-Id')).not.toBeNull()
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

describe('an unknown address', () => {
  it.each(['/v1/nothing', '/v1', '/v1/jobs/a/b', '/nothing', '/V1/account', '/v1/tryon/'])(
    'is 404 not_found in the envelope: %s',
    async (path) => {
      const answer = await request(path)
      expect(answer.status).toBe(404)
      expect(await codeOf(answer)).toBe('not_found')
      expect(answer.headers.get('X-Request-Id')).not.toBeNull()
    },
  )
})

describe('a key', () => {
  it('lets its own mode only', async () => {
    const shop = await newOrganisation()
    expect((await submit(shop.test))['mode']).toBe('test')
    const swapped = clientOf(shop.keys.test.replace('_test_', '_live_'))
    expect((await swapped.get('/v1/account')).status).toBe(401)
  })

  it('is taken with any spelling of the scheme, as RFC 9110 has it', async () => {
    const { keys } = await newOrganisation()
    const answer = await call('GET', '/v1/account', `bearer ${keys.test}`)
    expect(answer.status).toBe(200)
  })
})
