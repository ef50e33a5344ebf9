// Cross-origin requests to /v1, as browsers send them.
import { describe, expect, it } from 'vitest'
import { request } from '../support/client.ts'
import { IMAGES, newOrganisation } from '../support/world.ts'

const ORIGIN = { Origin: 'https://shop.example' }
const allowedOrigin = ({ headers }: Response) => headers.get('Access-Control-Allow-Origin')

describe('a preflight request', () => {
  it.each([
    ['/v1/tryon', 'POST'],
    ['/v1/jobs/job_1', 'DELETE'],
    ['/v1/account', 'GET'],
  ])('to %s is allowed without an API key', async (path, method) => {
    const headers = { ...ORIGIN, 'Access-Control-Request-Method': method }
    const response = await request(path, { method: 'OPTIONS', headers })
    expect(response.status).toBe(204)
    expect(allowedOrigin(response)).toBe('*')
    expect(response.headers.get('Access-Control-Allow-Methods')).toContain(method)
    expect(response.headers.get('Access-Control-Allow-Headers')?.split(', ')).toEqual([
      'Authorization',
      'Content-Type',
      'Idempotency-Key',
      'Prefer',
    ])
    expect(response.headers.has('Access-Control-Allow-Credentials')).toBe(false)
  })

  it.each(['/operator/organisations', '/console', '/outputs/job_1.png'])(
    'to %s is not allowed',
    async (path) => {
      const headers = { ...ORIGIN, 'Access-Control-Request-Method': 'GET' }
      const response = await request(path, { method: 'OPTIONS', headers })
      expect(allowedOrigin(response)).toBeNull()
    },
  )
})

describe('a cross-origin request', () => {
  it('gets a response that scripts can read, with its headers', async () => {
    const shop = await newOrganisation()
    const response = await shop.test.post('/v1/tryon', IMAGES, ORIGIN)
    expect(response.status).toBe(202)
    expect(allowedOrigin(response)).toBe('*')
    const exposed = response.headers.get('Access-Control-Expose-Headers')?.split(', ')
    expect(exposed).toEqual(
      expect.arrayContaining(['X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'Retry-After']),
    )
  })

  it.each([
    ['an invalid key', '/v1/account', 'GET', 401],
    ['an unknown path', '/v1/unknown', 'GET', 404],
    ['an unsupported method', '/v1/jobs', 'PUT', 405],
    ['OPTIONS that is not a preflight request', '/v1/jobs', 'OPTIONS', 405],
  ])('gets a readable error for %s', async (_, path, method, status) => {
    const response = await request(path, { method, headers: ORIGIN })
    expect(response.status).toBe(status)
    expect(allowedOrigin(response)).toBe('*')
  })
})

describe('a request without Origin', () => {
  it('gets no CORS headers', async () => {
    const shop = await newOrganisation()
    const response = await shop.test.get('/v1/account')
    expect(allowedOrigin(response)).toBeNull()
    expect((await request('/v1/jobs', { method: 'OPTIONS' })).status).toBe(405)
  })
})
