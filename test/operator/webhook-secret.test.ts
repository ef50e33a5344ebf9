// Rotating the webhook signing secret through /operator.
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { fakeUpstream } from '../support/upstream.ts'
import { newOrganisation, operator, submit } from '../support/world.ts'

const upstream = fakeUpstream()

const path = (orgId: string) => `/operator/organisations/${orgId}/webhook-secret/rotate`

describe('POST /operator/organisations/{org_id}/webhook-secret/rotate', () => {
  it('returns a new secret, and deliveries are signed with both', async () => {
    const shop = await newOrganisation()
    const response = await operator.post(path(shop.orgId))
    expect(response.status).toBe(200)
    const { webhook_secret, ...rest } = await response.json<{ webhook_secret: string }>()
    expect(rest).toEqual({})
    expect(webhook_secret).toMatch(/^whsec_[A-Za-z0-9+/=]{32}$/)
    upstream.on('https://hooks.test/rotated', () => new Response())
    await submit(shop.test, { webhook_url: 'https://hooks.test/rotated' })
    const delivery = await vi.waitUntil(() => upstream.seen('https://hooks.test/rotated')[0])
    for (const secret of [shop.webhookSecret, webhook_secret]) {
      const { body, headers } = delivery
      expect(() => new Webhook(secret).verify(body, Object.fromEntries(headers))).not.toThrow()
    }
    const wrongMethod = await operator.get(path(shop.orgId))
    expect([wrongMethod.status, wrongMethod.headers.get('Allow')]).toEqual([405, 'POST'])
  })
})
