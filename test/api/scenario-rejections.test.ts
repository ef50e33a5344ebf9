// The scenarios /refuse/{code} of test mode: the submission itself returns an API error.
import { describe, expect, it } from 'vitest'
import { errorOf } from '../support/client.ts'
import { count } from '../support/retention.ts'
import { IMAGES, newOrganisation, operator, type TestOrganisation } from '../support/world.ts'

const scenario = (path: string) => `https://test.invalid/${path}`

describe('/refuse/{code}', () => {
  const submitRejected = (shop: TestOrganisation, code: string, headers = {}) =>
    shop.test.post(
      '/v1/tryon',
      { ...IMAGES, garment_image_url: scenario(`refuse/${code}`) },
      headers,
    )

  it.each([
    [
      402,
      'insufficient_credits',
      /There are no credits left\. Buy credits at https:\/\/try-on\.test\//,
    ],
    [403, 'account_suspended', /^This organisation is suspended or scheduled for deletion/],
    [429, 'rate_limit_exceeded', /^Too many requests\. Wait for the number of seconds/],
    [500, 'internal_error', /^Something went wrong on our side/],
    [401, 'api_key_revoked', /^This API key has been revoked/],
    [404, 'workspace_not_found', /^This organisation has no active workspace/],
    [422, 'idempotency_key_reused', /^This Idempotency-Key was used/],
  ])('returns %i %s and stores nothing', async (status, code, message) => {
    const shop = await newOrganisation()
    const response = await submitRejected(shop, code, { 'Idempotency-Key': 'rejected' })
    expect(response.status).toBe(status)
    expect(await errorOf(response)).toEqual({ code, message: expect.stringMatching(message) })
    expect(response.headers.get('X-Request-Id')).toBeTruthy()
    expect(await count('jobs', 'organisation_id = ?', shop.orgId)).toBe(0)
    const again = await shop.test.post('/v1/tryon', IMAGES, { 'Idempotency-Key': 'rejected' })
    expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([202, null])
  })

  it('has the headers of a request over the rate limit, and does not count as one', async () => {
    const shop = await newOrganisation({ rate_limit_per_minute: 2 })
    for (let n = 0; n < 4; n++) {
      const response = await submitRejected(shop, 'rate_limit_exceeded')
      expect(response.status).toBe(429)
      expect(response.headers.get('Retry-After')).toBe('1')
      expect(response.headers.get('RateLimit')).toBe('"default";r=0;t=1')
      expect(response.headers.get('RateLimit-Policy')).toBe('"default";q=2;w=60')
    }
    expect((await submitRejected(shop, 'internal_error')).headers.get('RateLimit')).toBe(
      '"default";r=1;t=0',
    )
    await submitRejected(shop, 'insufficient_credits')
    const limited = await submitRejected(shop, 'internal_error')
    expect([limited.status, limited.headers.get('Retry-After')]).toEqual([429, '60'])
  })

  it('does not precede errors of the key and of the body', async () => {
    const shop = await newOrganisation()
    const body = { garment_image_url: scenario('refuse/internal_error') }
    expect((await shop.test.post('/v1/tryon', body)).status).toBe(422)
    await operator.patch(`/operator/organisations/${shop.orgId}`, { status: 'suspended' })
    const response = await submitRejected(shop, 'insufficient_credits')
    expect([response.status, (await errorOf(response)).code]).toEqual([403, 'account_suspended'])
  })

  it('uses the first of two codes, and precedes other scenarios', async () => {
    const shop = await newOrganisation()
    const both = {
      model_image_url: scenario('refuse/account_suspended'),
      garment_image_url: scenario('refuse/internal_error'),
    }
    expect((await shop.test.post('/v1/tryon', both)).status).toBe(403)
    const other = { ...both, model_image_url: scenario('withdraw') }
    expect((await shop.test.post('/v1/tryon', other)).status).toBe(500)
  })
})
