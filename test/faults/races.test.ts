// Two concurrent operations: at each call of the first one, the second runs completely or starts to run
// concurrently.
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { revokeApiKey } from '../../src/organisations/api-keys.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { factsOf } from '../support/facts.ts'
import { CDN, HOOK, Harness, type Reply } from './harness.ts'
import { FaultInjector } from './fault-injector.ts'
import { chosen } from './test-faults.ts'
import { jobsDb } from '../support/jobs-database.ts'

const BODY = {
  model_image_url: `${CDN}/model`,
  garment_image_url: `${CDN}/garment`,
  webhook_url: HOOK,
}

const submit = (harness: Harness, faultInjector = new FaultInjector()) =>
  harness.request(faultInjector, harness.shop.keys.live, 'POST', '/v1/tryon', { body: BODY })

const cancel = (harness: Harness, jobId: string, faultInjector = new FaultInjector()) =>
  harness.request(faultInjector, harness.shop.keys.live, 'DELETE', `/v1/jobs/${jobId}`)

const operate = (
  harness: Harness,
  method: string,
  path: string,
  body?: object,
  faultInjector = new FaultInjector(),
) =>
  harness.request(faultInjector, env.OPERATOR_TOKEN, method, `/operator${path}`, body && { body })

const suspend = (harness: Harness, faultInjector?: FaultInjector) =>
  operate(
    harness,
    'PATCH',
    `/organisations/${harness.shop.orgId}`,
    { status: 'suspended' },
    faultInjector,
  )

const scheduleDeletion = (harness: Harness, faultInjector?: FaultInjector) =>
  operate(harness, 'DELETE', `/organisations/${harness.shop.orgId}`, undefined, faultInjector)

async function process(harness: Harness, faultInjector = new FaultInjector()): Promise<void> {
  const message = harness.queues.take('tryon-jobs')
  if (message) await harness.consume(faultInjector, message)
}

async function pendingJob(harness: Harness): Promise<string> {
  return String((await submit(harness))?.body['job_id'])
}

async function statusesOf(harness: Harness): Promise<string[]> {
  const { results } = await jobsDb(harness.shop.orgId)
    .prepare('SELECT status FROM jobs WHERE organisation_id = ?')
    .bind(harness.shop.orgId)
    .all<{ status: string }>()
  return results.map(({ status }) => status)
}

interface Race {
  name: string
  prepare?(harness: Harness): Promise<string>
  first(
    harness: Harness,
    faultInjector: FaultInjector,
    prepared: string,
  ): Promise<Reply | undefined | void>
  second(harness: Harness, prepared: string): Promise<Reply | undefined | void>
  /** @returns the problems */
  afterwards?(
    harness: Harness,
    first: Reply | undefined | void,
    second: Reply | undefined | void,
  ): Promise<string[]>
}

/** After a suspension, no job may be pending and no job may be submitted. */
async function nothingPending(harness: Harness): Promise<string[]> {
  const problems: string[] = (await statusesOf(harness)).filter((status) => status === 'pending')
  if ((await submit(harness))?.status !== 403) problems.push('a suspended organisation may submit')
  return problems
}

/** The job's status must match the response to its cancellation. */
async function oneWinner(harness: Harness, cancelled: Reply | undefined | void): Promise<string[]> {
  const [status] = await statusesOf(harness)
  const expected = cancelled?.status === 200 ? 'refunded' : 'completed'
  return status === expected ? [] : [`cancel returned ${cancelled?.status}, the job is ${status}`]
}

async function revoke(harness: Harness): Promise<void> {
  const keyId = await env.DB.prepare(
    "SELECT id FROM api_keys WHERE organisation_id = ? AND mode = 'live'",
  )
    .bind(harness.shop.orgId)
    .first<string>('id')
  await harness.invoke(new FaultInjector(), (bindings) =>
    revokeApiKey({
      env: bindings,
      actor: SYSTEM,
      organisationId: harness.shop.orgId,
      keyId: keyId ?? '',
    }),
  )
}

const RACES: Race[] = [
  {
    name: 'submit and suspend',
    first: (harness, faultInjector) => submit(harness, faultInjector),
    second: (harness) => suspend(harness),
    afterwards: (harness) => nothingPending(harness),
  },
  {
    name: 'suspend and submit',
    prepare: pendingJob,
    first: (harness, faultInjector) => suspend(harness, faultInjector),
    second: (harness) => submit(harness),
    afterwards: (harness) => nothingPending(harness),
  },
  {
    name: 'submit and schedule a deletion',
    first: (harness, faultInjector) => submit(harness, faultInjector),
    second: (harness) => scheduleDeletion(harness),
    afterwards: (harness) => nothingPending(harness),
  },
  {
    name: 'schedule a deletion and submit',
    prepare: pendingJob,
    first: (harness, faultInjector) => scheduleDeletion(harness, faultInjector),
    second: (harness) => submit(harness),
    afterwards: (harness) => nothingPending(harness),
  },
  {
    name: 'cancel and claim',
    prepare: pendingJob,
    first: (harness, faultInjector, jobId) => cancel(harness, jobId, faultInjector),
    second: (harness) => process(harness),
    afterwards: (harness, first) => oneWinner(harness, first),
  },
  {
    name: 'claim and cancel',
    prepare: pendingJob,
    first: (harness, faultInjector) => process(harness, faultInjector),
    second: (harness, jobId) => cancel(harness, jobId),
    afterwards: (harness, _, second) => oneWinner(harness, second),
  },
  {
    name: 'cancel and withdraw',
    prepare: pendingJob,
    first: (harness, faultInjector, jobId) => cancel(harness, jobId, faultInjector),
    second: (harness, jobId) => operate(harness, 'POST', `/jobs/${jobId}/withdraw`),
    async afterwards(harness, first, second) {
      const [status] = await statusesOf(harness)
      const winner = first?.status === 200 ? 'refunded' : 'cancelled'
      const statuses = [first?.status, second?.status].sort().join()
      return status === winner && statuses === '200,409' ? [] : [`${status} after ${statuses}`]
    },
  },
  {
    name: 'submit and revoke',
    first: (harness, faultInjector) => submit(harness, faultInjector),
    second: revoke,
    async afterwards(harness, first) {
      const next = await submit(harness)
      const statuses = `${first?.status} then ${next?.status}`
      return ['202 then 401', '401 then 401'].includes(statuses) ? [] : [statuses]
    },
  },
  {
    name: 'capture and alarm',
    prepare: pendingJob,
    first: (harness, faultInjector) => process(harness, faultInjector),
    async second(harness) {
      harness.advance(6 * 60_000)
      await harness.alarm()
    },
  },
  {
    name: 'submit and alarm',
    first: (harness, faultInjector) => submit(harness, faultInjector),
    async second(harness) {
      harness.advance(6 * 60_000)
      await harness.alarm()
    },
  },
  {
    name: 'two sweeps',
    async prepare(harness) {
      await pendingJob(harness)
      await process(harness)
      await pendingJob(harness)
      harness.queues.clear()
      harness.advance(5 * 60_000)
      return ''
    },
    first: (harness, faultInjector) => harness.sweep(faultInjector),
    second: (harness) => harness.sweep(),
    async afterwards(harness) {
      return harness.mostStarts === 1 ? [] : [`a job was started ${harness.mostStarts} times`]
    },
  },
  {
    name: 'process and sweep',
    prepare: pendingJob,
    first: (harness, faultInjector) => process(harness, faultInjector),
    async second(harness) {
      harness.advance(60_000)
      await harness.sweep()
      await harness.drain()
    },
    async afterwards(harness) {
      return harness.mostStarts === 1 ? [] : [`a job was started ${harness.mostStarts} times`]
    },
  },
]

/** Runs the second operation at one call of the first. @returns the calls, and the problems */
async function run(race: Race, at: number, how: 'overtaken' | 'concurrent') {
  const harness = await Harness.open()
  const prepared = (await race.prepare?.(harness)) ?? ''
  let second: Reply | undefined | void
  harness.competitor = async () => {
    harness.competitor = undefined
    second = await race.second(harness, prepared)
  }
  const faultInjector = new FaultInjector((call) => (call === at ? how : undefined))
  const first = await race.first(harness, faultInjector, prepared)
  await harness.finishAllWork()
  const problems = (await race.afterwards?.(harness, first, second)) ?? []
  await harness.finishAllWork()
  return { calls: faultInjector.calls, problems: [...problems, ...(await harness.violations())] }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('concurrent operations', () => {
  it.each(RACES)('$name', async (race) => {
    const { calls } = await run(race, -1, 'overtaken')
    const problems: string[] = []
    const cases = calls.flatMap((call, at) =>
      (['overtaken', 'concurrent'] as const).map((fault) => ({
        scenario: race.name,
        at,
        call,
        fault,
      })),
    )
    for (const { at, call, fault } of chosen(cases)) {
      const found = (await run(race, at, fault)).problems
      problems.push(...found.map((problem) => `${fault} at call ${at}, ${call}: ${problem}`))
    }
    expect(calls.length).toBeGreaterThan(1)
    expect(problems).toEqual([])
  })

  it.each(['test', 'live'] as const)(
    'create one job for an Idempotency-Key when all responses to its insert are lost: %s',
    async (mode) => {
      const harness = await Harness.open()
      const order = { body: BODY, headers: { 'Idempotency-Key': 'order-1' } }
      const send = (faultInjector: FaultInjector) =>
        harness.request(faultInjector, harness.shop.keys[mode], 'POST', '/v1/tryon', order)
      const loseInsertResponse = (_: number, call: string) =>
        call === 'DB.insert' ? ('response lost' as const) : undefined
      expect((await send(new FaultInjector(loseInsertResponse)))?.status).toBe(500)
      expect((await send(new FaultInjector()))?.status).toBe(202)
      await harness.finishAllWork()
      expect(await statusesOf(harness)).toEqual(['completed'])
      expect(harness.received).toHaveLength(1)
      expect(await harness.violations()).toEqual([])
    },
  )

  it('do not lose a pending job while the database is unavailable for a minute', async () => {
    const harness = await Harness.open()
    await submit(harness)
    const backAt = Date.now() + 75_000
    const unavailable = new FaultInjector((_, call) =>
      call.startsWith('DB.') ? 'request lost' : undefined,
    )
    while (Date.now() < backAt) {
      const message = harness.queues.take()
      if (message) await harness.consume(unavailable, message)
      else harness.advance(1_000)
    }
    await harness.finishAllWork()
    expect(await statusesOf(harness)).toEqual(['completed'])
  })

  it('complete jobs whose work is killed after the acknowledgement', async () => {
    const harness = await Harness.open()
    for (let n = 0; n < 5; n++) await submit(harness)
    harness.hangingDownloads = 8
    for (let n = 0; n < 4; n++) await harness.consumeAndKill(harness.queues.take('tryon-jobs')!)
    expect((await statusesOf(harness)).sort()).toEqual(['pending', ...Array(4).fill('processing')])
    // The fifth exceeds the slots of its organisation and is queued again.
    await process(harness)
    expect(harness.queues.take('tryon-jobs')).toBeUndefined()
    expect(harness.queues.nextAt('tryon-jobs')).toBe(Date.now() + 1_000)
    await harness.finishAllWork()
    expect(await statusesOf(harness)).toEqual(Array(5).fill('completed'))
    expect(harness.mostStarts).toBe(1)
    expect(await harness.violations()).toEqual([])
  })

  it('deliver an event after a killed attempt and duplicate messages', async () => {
    const harness = await Harness.open()
    await submit(harness)
    await process(harness)
    const message = harness.queues.take('tryon-webhooks')!
    const kills = new FaultInjector((_, call) => (call === 'fetch' ? 'killed' : undefined))
    await harness.consume(kills, message)
    await Promise.all([1, 2, 3].map(() => harness.consume(new FaultInjector(), message)))
    await harness.finishAllWork()
    expect(await harness.violations()).toEqual([])
  })

  it('release a lost reservation later when the database is unavailable', async () => {
    const harness = await Harness.open()
    await submit(harness, new FaultInjector((at) => (at === 0 ? 'killed' : undefined)))
    harness.advance(6 * 60_000)
    // All calls fail, since the alarm of another test's organisation could use up a single failure.
    const db = jobsDb(harness.shop.orgId)
    const prepare = vi.spyOn(db, 'prepare')
    const implementation = prepare.getMockImplementation() ?? db.prepare.bind(db)
    prepare.mockImplementation(() => {
      throw new Error('D1 is down')
    })
    await harness.alarm()
    prepare.mockImplementation(implementation)
    expect((await factsOf(harness.shop.orgId)).totals).toMatchObject({ balance: 99, reserved: 1 })
    await harness.finishAllWork()
    expect((await factsOf(harness.shop.orgId)).totals).toMatchObject({ balance: 100, reserved: 0 })
    expect(await harness.violations()).toEqual([])
  })

  it('reject a key that was revoked while its organisation was loaded', async () => {
    const harness = await Harness.open()
    await harness.evict()
    const batch = env.DB.batch.bind(env.DB)
    // The Organisation reads its snapshot in one batch. Delay it until the key is revoked.
    vi.spyOn(env.DB, 'batch').mockImplementationOnce(
      async <T>(statements: D1PreparedStatement[]) => {
        const outdated = await batch<T>(statements)
        await revoke(harness)
        return outdated
      },
    )
    const racing = await submit(harness)
    expect([202, 401]).toContain(racing?.status)
    expect((await submit(harness))?.status).toBe(401)
    await harness.finishAllWork()
    expect(await harness.violations()).toEqual([])
  })
})
