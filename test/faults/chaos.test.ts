// Random faults: clients, queues and cron work on one organisation, and every call may fail in every
// way. Afterwards all work is completed and the invariants are checked.
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FAULTS, FaultInjector, type Plan } from './fault-injector.ts'
import { CDN, HOOK, Harness } from './harness.ts'
import { jobsDb } from '../support/jobs-database.ts'

const STEPS = 25
const JOBS = 8

/** A generator of pseudo-random numbers in [0, 1) (mulberry32), so that runs can be repeated. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Runs random steps. @returns the problems at the end */
async function runSteps(seed: number): Promise<string[]> {
  const random = randomOf(seed)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!
  const plan: Plan = () => (random() < 0.12 ? pick(FAULTS) : undefined)
  const harness = await Harness.open({ credits: 5 })
  if (random() < 0.5) await harness.addEndpoint()
  const { live, test } = harness.shop.keys
  const accepted = new Set<string>()
  const byKey = new Map<string, Set<string>>()

  const submit = async () => {
    const [key, mode] = [`key-${Math.floor(random() * JOBS)}`, pick([live, live, test])]
    const reply = await harness.request(new FaultInjector(plan), mode, 'POST', '/v1/tryon', {
      body: {
        model_image_url: `${CDN}/model`,
        garment_image_url: `${CDN}/garment`,
        webhook_url: HOOK,
      },
      headers: { 'Idempotency-Key': key },
    })
    if (reply?.status !== 202) return
    const jobId = String(reply.body['job_id'])
    accepted.add(jobId)
    byKey.set(mode + key, (byKey.get(mode + key) ?? new Set()).add(jobId))
  }
  const cancel = () =>
    harness.request(
      new FaultInjector(plan),
      live,
      'DELETE',
      `/v1/jobs/${pick([...accepted, 'job_'])}`,
    )
  const work = async () => {
    const message = harness.queues.take()
    if (message) await harness.consume(new FaultInjector(plan), message)
  }
  const wait = async () => {
    harness.advance(pick([1_000, 30_000, 60_000, 180_000]))
    await harness.sweep(new FaultInjector(plan))
    await harness.alarm()
  }
  for (let step = 0; step < STEPS; step++) {
    harness.rejections = pick([0, 0, 1])
    await pick([submit, submit, work, work, work, cancel, wait, () => harness.evict()])()
  }
  harness.rejections = 0
  await harness.finishAllWork()

  const problems = await harness.violations()
  const stored = await jobsDb(harness.shop.orgId)
    .prepare('SELECT id FROM jobs WHERE organisation_id = ?')
    .bind(harness.shop.orgId)
    .all<{ id: string }>()
  const known = new Set(stored.results.map(({ id }) => id))
  for (const id of accepted)
    if (!known.has(id)) problems.push(`${id} was accepted but is not stored`)
  for (const [key, ids] of byKey) {
    if (ids.size > 1) problems.push(`${key.slice(-5)} created ${[...ids].join(' and ')}`)
  }
  return problems
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('random faults', () => {
  it('violate no invariant', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        expect(await runSteps(seed)).toEqual([])
      }),
      { numRuns: 12, endOnFailure: true },
    )
  }, 120_000)
})
