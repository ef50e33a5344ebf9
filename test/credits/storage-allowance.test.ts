// The daily storage allowance: how much one organisation can add to the shared database.
import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { dailyBytes, storedBytes } from '../../src/credits/storage-allowance.ts'
import { BASE, errorOf } from '../support/client.ts'
import { fakeClock, pass } from '../support/retention.ts'
import {
  IMAGES,
  ledgerOf,
  newOrganisation,
  operator,
  type TestOrganisation,
} from '../support/world.ts'

fakeClock()

const LONG = `https://shop.test/${'a'.repeat(2_000)}`
const BODY = { model_image_url: LONG, garment_image_url: LONG, webhook_url: LONG }
const JOB_BYTES = storedBytes({
  imageUrlsLength: 2 * LONG.length + BASE.length,
  requestIdLength: crypto.randomUUID().length,
  webhookUrlLength: LONG.length,
})
const RATE = 2
const JOBS_PER_DAY = Math.floor(dailyBytes('storage-taken', RATE) / JOB_BYTES)
const MINUTE_MS = 60_000

/** Submits a job after a minute, within the rate limit. */
function send({ live }: TestOrganisation, key?: string) {
  pass(MINUTE_MS)
  return live.post('/v1/tryon', BODY, key === undefined ? {} : { 'Idempotency-Key': key })
}

/** An organisation that has used up its allowance soon after midnight. */
async function exhausted(options: object = {}) {
  pass(24 * 60 * MINUTE_MS - (Date.now() % (24 * 60 * MINUTE_MS)))
  const shop = await newOrganisation({ rate_limit_per_minute: RATE, ...options })
  for (let n = 0; n < JOBS_PER_DAY; n++) {
    expect((await send(shop, `key-${n}`)).status).toBe(202)
  }
  return shop
}

describe('the daily storage allowance', () => {
  it('returns 429 until midnight UTC when it is used up, without a reservation', async () => {
    const shop = await exhausted()
    const before = await ledgerOf(shop)
    const rejected = await send(shop)
    expect(rejected.status).toBe(429)
    expect(await errorOf(rejected)).toEqual({
      code: 'rate_limit_exceeded',
      message: expect.stringContaining('daily storage allowance of 0.54 MB'),
    })
    const seconds = Number(rejected.headers.get('Retry-After'))
    const midnight = Math.ceil((Date.now() + 1) / (24 * 60 * MINUTE_MS)) * 24 * 60 * MINUTE_MS
    expect(seconds).toBe(Math.ceil((midnight - Date.now()) / 1_000))
    expect(await ledgerOf(shop)).toEqual(before)
    expect((await shop.live.get('/v1/account')).status).toBe(200)
    pass((seconds - 60) * 1_000)
    expect((await send(shop)).status).toBe(202)
  })

  it('survives an eviction of the Organisation', async () => {
    const shop = await exhausted()
    await evictDurableObject(env.ORGANISATION.getByName(shop.orgId))
    expect((await send(shop)).status).toBe(429)
  })

  it('is not used by replays and rejected submissions', async () => {
    const shop = await exhausted({ credits: JOBS_PER_DAY })
    const replay = await send(shop, 'key-0')
    expect(replay.status).toBe(202)
    expect(replay.headers.get('Idempotent-Replayed')).toBe('true')
    pass(24 * 60 * MINUTE_MS)
    for (let n = 0; n < JOBS_PER_DAY + 1; n++) expect((await send(shop)).status).toBe(402)
  })

  it('is not used by paid jobs, and never refuses one', async () => {
    const shop = await exhausted()
    const credits = { amount: 1, reason: 'bought', reference: 'a payment' }
    await operator.post(`/operator/organisations/${shop.orgId}/credits`, credits)
    expect((await send(shop)).status).toBe(202)
    pass(MINUTE_MS)
    expect((await shop.test.post('/v1/tryon', BODY)).status).toBe(429)

    const large = await newOrganisation({ rate_limit_per_minute: RATE, credits: 101 })
    pass(24 * 60 * MINUTE_MS - (Date.now() % (24 * 60 * MINUTE_MS)))
    for (let n = 0; n < JOBS_PER_DAY + 1; n++) expect((await send(large)).status).toBe(202)
    pass(MINUTE_MS)
    expect((await large.test.post('/v1/tryon', BODY)).status).toBe(202)
  })

  it('applies again once all paid credits are refunded', async () => {
    const shop = await exhausted()
    const organisation = env.ORGANISATION.getByName(shop.orgId)
    await organisation.grant({ amount: 50, reason: 'bought', reference: 'pay' })
    expect((await send(shop)).status).toBe(202)
    await organisation.reverse({ reference: 'pay', credits: 50, reason: 'refund' })
    expect((await send(shop)).status).toBe(429)
  })

  it('grows with the rate limit', async () => {
    const shop = await exhausted()
    const path = `/operator/organisations/${shop.orgId}`
    await operator.patch(path, { rate_limit_per_minute: 2 * RATE })
    expect((await send(shop)).status).toBe(202)
  })

  it('admits more jobs with shorter URLs', async () => {
    const shop = await exhausted()
    pass(24 * 60 * MINUTE_MS)
    for (let n = 0; n < JOBS_PER_DAY + 5; n++) {
      pass(MINUTE_MS)
      expect((await shop.test.post('/v1/tryon', IMAGES)).status).toBe(202)
    }
  })

  it('limits 30 days at the default rate limit to 500 MB', () => {
    expect(30 * dailyBytes('storage-taken', 60)).toBeLessThan(500_000_000)
  })
})
