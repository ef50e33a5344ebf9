// What an Organisation remembers when it has slept: it loses its memory after 10 s without requests.
import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'
import { newOrganisation } from '../support/world.ts'

it('still knows the requests of the last minute, and when its keys were used', async () => {
  const shop = await newOrganisation({ rate_limit_per_minute: 3 })
  for (let n = 0; n < 3; n++) expect((await shop.live.get('/v1/account')).status).toBe(200)

  const object = env.ORGANISATION.getByName(shop.orgId)
  const writtenDown = () =>
    runInDurableObject(object, (_, { storage }) => storage.kv.get('rate-window') !== undefined)
  await vi.waitUntil(writtenDown, { timeout: 25_000, interval: 250 })
  await evictDurableObject(object)

  const refused = await shop.live.get('/v1/account')
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
  const used = await env.DB.prepare(
    'SELECT count(*) AS n FROM api_keys WHERE organisation_id = ? AND last_used_at IS NOT NULL',
  )
    .bind(shop.orgId)
    .first<number>('n')
  expect(used).toBe(1)
}, 40_000)
