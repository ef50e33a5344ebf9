// One organisation under more load than it may send: a simulation of the queue of its object, with the real
// admission. Arrivals and service times are virtual; docs/performance.md ("Limits at scale") explains the numbers.
import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, expect, it, vi } from 'vitest'
import { parseKey } from '../../src/credits/api-key.ts'
import type { Organisation } from '../../src/organisation-object.ts'
import { DAY_MS } from '../support/retention.ts'
import { newOrganisation, type TestOrganisation } from '../support/world.ts'

const SUBMISSION = {
  workspaceId: undefined,
  idempotency: undefined,
  mustReplay: false,
  imageUrlsLength: 4_000,
  requestIdLength: 36,
  webhookUrlLength: undefined,
}

/** A thread that admits one submission after the other, in the order of their arrival. */
async function simulate(
  shop: TestOrganisation,
  {
    mode = 'live',
    perSecond = 1_000,
    requests = 2_000,
    serviceMs = 1,
  }: {
    mode?: 'live' | 'test'
    perSecond?: number
    requests?: number
    serviceMs?: number
  },
) {
  const caller = parseKey(shop.keys[mode])!
  const answers: Record<string, number> = {}
  let longestWaitMs = 0
  await runInDurableObject(env.ORGANISATION.getByName(shop.orgId), async (object: Organisation) => {
    // A new day, as some limits count by day.
    const startAt = Math.ceil(Date.now() / DAY_MS) * DAY_MS
    let freeAt = startAt
    for (let n = 0; n < requests; n++) {
      const arrivesAt = startAt + (n * 1_000) / perSecond
      const at = Math.max(arrivesAt, freeAt)
      vi.setSystemTime(at)
      const result = await object.admit(caller, SUBMISSION)
      freeAt = at + serviceMs
      longestWaitMs = Math.max(longestWaitMs, at - arrivesAt)
      const answer = result.ok ? 'accepted' : result.rejection
      answers[answer] = (answers[answer] ?? 0) + 1
    }
  })
  return { answers, longestWaitMs }
}

const totalsOf = ({ orgId }: TestOrganisation) => env.ORGANISATION.getByName(orgId).totals()

afterEach(() => void vi.useRealTimers())

it('passes the rate limit of 1,000 submissions a second, and rejects the others without a delay', async () => {
  const shop = await newOrganisation({ credits: 5_000, rate_limit_per_minute: 60 })
  const { answers, longestWaitMs } = await simulate(shop, {})
  expect(answers).toEqual({ accepted: 60, rate_limit_exceeded: 1_940 })
  expect(longestWaitMs).toBe(0)
  expect(await totalsOf(shop)).toMatchObject({ balance: 4_940, reserved: 60 })
})

it('passes all of them with a rate limit of 60,000 a minute, until the credits are used up', async () => {
  const shop = await newOrganisation({ credits: 1_500, rate_limit_per_minute: 60_000 })
  const { answers, longestWaitMs } = await simulate(shop, {})
  expect(answers).toEqual({ accepted: 1_500, insufficient_credits: 500 })
  expect(longestWaitMs).toBe(0)
  expect(await totalsOf(shop)).toMatchObject({ balance: 0, reserved: 1_500 })
})

it('grows a queue when the thread needs longer than the time between two submissions', async () => {
  const shop = await newOrganisation({ credits: 5_000, rate_limit_per_minute: 60_000 })
  const { answers, longestWaitMs } = await simulate(shop, { serviceMs: 1.5 })
  expect(answers).toEqual({ accepted: 2_000 })
  // Half a second more for each second: the last one has waited as long as the backlog takes.
  expect(longestWaitMs).toBeCloseTo(999.5, 0)
})

it('stops free submissions at one a second when their bytes of the day are used up', async () => {
  const shop = await newOrganisation({ rate_limit_per_minute: 60 })
  const { answers } = await simulate(shop, { mode: 'test', perSecond: 1, requests: 2_000 })
  // 16.2 MB a day, of which each of these jobs takes about 10 kB.
  expect(Object.keys(answers)).toEqual(['accepted', 'storage_allowance_exceeded'])
  expect(answers['accepted']).toBeGreaterThan(1_500)
})
