// Authentication of /operator.
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import worker from '../../src/index.ts'
import { codeOf, request } from '../support/client.ts'

describe('the operator token', () => {
  it.each([
    undefined,
    'Bearer wrong',
    `Bearer ${env.OPERATOR_TOKEN}x`,
    'Bearer ',
    env.OPERATOR_TOKEN,
  ])('is required: %s returns 401', async (authorization) => {
    const headers: HeadersInit = authorization === undefined ? {} : { Authorization: authorization }
    const response = await request('/operator/organisations', { headers })
    expect(response.status).toBe(401)
    expect(await codeOf(response)).toBe('unauthorized')
  })

  it.each([undefined, ''])('disables /operator when it is %j', async (OPERATOR_TOKEN) => {
    const context = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} }
    const response = await worker.fetch(
      new Request('https://try-on.test/operator/organisations', {
        headers: { Authorization: 'Bearer undefined' },
      }),
      Object.assign({ ...env }, { OPERATOR_TOKEN }),
      context,
    )
    expect(response.status).toBe(404)
    expect(await codeOf(response)).toBe('not_found')
  })
})
