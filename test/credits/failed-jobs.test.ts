// The hourly limit of live jobs that fail at an engine which charges for each start.
import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { MAX_FAILED_PER_HOUR } from '../../src/credits/failed-jobs.ts'
import { settle } from '../../src/jobs/processing/settle.ts'
import { jobs } from '../../src/platform/db/schema.ts'
import { jobsDatabase } from '../../src/platform/db/database.ts'
import { eq } from 'drizzle-orm'
import { errorOf } from '../support/client.ts'
import { fakeClock, pass } from '../support/retention.ts'
import { dropMessages } from '../support/live-job.ts'
import {
  IMAGES,
  ledgerOf,
  newOrganisation,
  submit,
  type TestOrganisation,
} from '../support/world.ts'

fakeClock()
beforeEach(() => {
  dropMessages()
  // Begins an hour, so that no test crosses its end.
  pass(3_600_000 - (Date.now() % 3_600_000))
})

/** Submits live jobs and fails them, after an engine has started them. */
async function fail(shop: TestOrganisation, count: number, engine: string | null = 'fal') {
  const ids = await Promise.all(
    Array.from({ length: count }, async () => (await submit(shop.live)).job_id),
  )
  const failed = await Promise.all(
    ids.map(async (id) => {
      const [job] = await jobsDatabase(env, id).select().from(jobs).where(eq(jobs.id, id))
      return { ...job!, status: 'failed' as const, engine }
    }),
  )
  for (let times = 0; times < 2; times++) await settle(env, { jobs: failed, addedEventIds: [] })
}

describe('live jobs that fail at an engine which charges', () => {
  it('are limited per hour with 429, and the operator is informed', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const shop = await newOrganisation({ credits: 200 })
    await fail(shop, MAX_FAILED_PER_HOUR - 1)
    expect((await submit(shop.live)).status).toBe('pending')
    expect(String(warn.mock.calls)).not.toContain('limit of failed jobs reached')
    await fail(shop, 1)
    expect(String(warn.mock.calls)).toContain('limit of failed jobs reached')
    expect(String(warn.mock.calls)).toContain(shop.orgId)
    await evictDurableObject(env.ORGANISATION.getByName(shop.orgId))

    const before = await ledgerOf(shop)
    pass(600_000)
    const rejected = await shop.live.post('/v1/tryon', IMAGES)
    expect(rejected.status).toBe(429)
    expect(await errorOf(rejected)).toEqual({
      code: 'rate_limit_exceeded',
      message: expect.stringContaining('120 live jobs have failed in this hour'),
    })
    const seconds = Number(rejected.headers.get('Retry-After'))
    expect(seconds).toBe(Math.ceil((3_600_000 - (Date.now() % 3_600_000)) / 1_000))
    expect(await ledgerOf(shop)).toEqual(before)
    expect((await shop.test.post('/v1/tryon', IMAGES)).status).toBe(202)
    pass(seconds * 1_000)
    expect((await shop.live.post('/v1/tryon', IMAGES)).status).toBe(202)
  })

  it.each([['compositor'], [null]])(
    'are not limited when they cost nothing: engine %s',
    async (engine) => {
      const shop = await newOrganisation({ credits: 200 })
      await fail(shop, MAX_FAILED_PER_HOUR, engine)
      expect((await shop.live.post('/v1/tryon', IMAGES)).status).toBe(202)
    },
  )
})
