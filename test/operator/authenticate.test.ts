// The door of /operator.
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
  ])('is asked for: %s gives 401', async (authorization) => {
    const headers: HeadersInit = authorization === undefined ? {} : { Authorization: authorization }
    const answer = await request('/operator/organisations', { headers })
    expect(answer.status).toBe(401)
    expect(await codeOf(answer)).toBe('unauthorized')
  })

  it.each([undefined, ''])(
    'hides the whole surface when it is set to %j',
    async (OPERATOR_TOKEN) => {
      const context = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} }
      const answer = await worker.fetch(
        new Request('https://try-on.test/operator/organisations', {
          headers: { Authorization: 'Bearer undefined' },
        }),
        Object.assign({ ...env }, { OPERATOR_TOKEN }),
        context,
      )
      expect(answer.status).toBe(404)
      expect(await codeOf(answer)).toBe('not_found')
    },
  )
})
