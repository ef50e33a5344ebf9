// Many faults in one story: clients, queues and cron at work on the same organisation, and every
// call may go wrong in every way. Then quiet, and the invariants.
import * as fc from 'fast-check'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FAULTS, FaultInjector } from './fault-injector.ts'
import type { Plan } from './fault-injector.ts'
import { CDN, HOOK, Stage } from './harness.ts'

const STEPS = 25
const JOBS = 8

/** A small generator of pseudo-random numbers in [0, 1) (mulberry32), so that a seed tells a story. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Plays one story. @returns what is wrong at its end */
async function play(seed: number): Promise<string[]> {
  const random = randomOf(seed)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!
  const plan: Plan = () => (random() < 0.12 ? pick(FAULTS) : undefined)
  const stage = await Stage.open({ credits: 5 })
  const { live, test } = stage.shop.keys
  const accepted = new Set<string>()
  const byKey = new Map<string, Set<string>>()

  const submit = async () => {
    const [key, mode] = [`key-${Math.floor(random() * JOBS)}`, pick([live, live, test])]
    const reply = await stage.request(new FaultInjector(plan), mode, 'POST', '/v1/tryon', {
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
    stage.request(
      new FaultInjector(plan),
      live,
      'DELETE',
      `/v1/jobs/${pick([...accepted, 'job_'])}`,
    )
  const work = async () => {
    const message = stage.queues.take()
    if (message) await stage.consume(new FaultInjector(plan), message)
  }
  const wait = async () => {
    stage.pass(pick([1_000, 30_000, 60_000, 180_000]))
    await stage.sweep(new FaultInjector(plan))
    await stage.alarm()
  }
  for (let step = 0; step < STEPS; step++) {
    stage.refusals = pick([0, 0, 1])
    await pick([submit, submit, work, work, work, cancel, wait, () => stage.evict()])()
  }
  stage.refusals = 0
  await stage.quiet()

  const wrong = await stage.violations()
  const stored = await env.DB.prepare('SELECT id FROM jobs WHERE organisation_id = ?')
    .bind(stage.shop.orgId)
    .all<{ id: string }>()
  const known = new Set(stored.results.map(({ id }) => id))
  for (const id of accepted) if (!known.has(id)) wrong.push(`${id} was accepted and is lost`)
  for (const [key, ids] of byKey) {
    if (ids.size > 1) wrong.push(`${key.slice(-5)} gave ${[...ids].join(' and ')}`)
  }
  return wrong
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('chaos', () => {
  it('leaves every invariant standing, whatever fails and however often', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        expect(await play(seed)).toEqual([])
      }),
      { numRuns: 12, endOnFailure: true },
    )
  }, 120_000)
})
