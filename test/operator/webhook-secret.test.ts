// The signing secret of organisations that use the API only.
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { fakeUpstream } from '../support/upstream.ts'
import { newOrganisation, operator, submit } from '../support/world.ts'

const upstream = fakeUpstream()

const path = (orgId: string) => `/operator/organisations/${orgId}/webhook-secret/rotate`

describe('POST /operator/organisations/{org_id}/webhook-secret/rotate', () => {
  it('gives a new secret, and deliveries are signed with both', async () => {
    const shop = await newOrganisation()
    const answer = await operator.post(path(shop.orgId))
    expect(answer.status).toBe(200)
    const { webhook_secret, ...rest } = await answer.json<{ webhook_secret: string }>()
    expect(rest).toEqual({})
    expect(webhook_secret).toMatch(/^whsec_[A-Za-z0-9+/=]{32}$/)
    upstream.on('https://hooks.test/rotated', () => new Response())
    await submit(shop.test, { webhook_url: 'https://hooks.test/rotated' })
    const delivery = await vi.waitUntil(() => upstream.seen('https://hooks.test/rotated')[0])
    for (const secret of [shop.webhookSecret, webhook_secret]) {
      const { body, headers } = delivery
      expect(() => new Webhook(secret).verify(body, Object.fromEntries(headers))).not.toThrow()
    }
    const allowed = await operator.get(path(shop.orgId))
    expect([allowed.status, allowed.headers.get('Allow')]).toEqual([405, 'POST'])
  })
})
