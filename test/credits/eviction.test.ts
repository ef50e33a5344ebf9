// The rate limit after an eviction: an idle Organisation loses its memory after 10 s.
import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { newOrganisation } from '../support/world.ts'

it('restores the requests of the last minute except a tenth of the limit', async () => {
  const shop = await newOrganisation({ rate_limit_per_minute: 20 })
  const passed = async () => (await shop.live.get('/v1/account')).status === 200
  for (let n = 0; n < 20; n++) expect(await passed()).toBe(true)
  await evictDurableObject(env.ORGANISATION.getByName(shop.orgId))
  const rejected = await shop.live.get('/v1/account')
  expect(rejected.status).toBe(429)
  expect(Number(rejected.headers.get('Retry-After'))).toBeGreaterThan(0)
})

it('loses less than a tenth of the limit in one eviction', async () => {
  const shop = await newOrganisation({ rate_limit_per_minute: 40 })
  const remaining = async () =>
    Number(/r=(\d+)/.exec((await shop.live.get('/v1/account')).headers.get('RateLimit') ?? '')?.[1])
  let left = NaN
  for (let n = 0; n < 19; n++) left = await remaining()
  expect(left).toBe(21)
  await evictDurableObject(env.ORGANISATION.getByName(shop.orgId))
  expect(await remaining()).toBeLessThan(21 + 4)
})
