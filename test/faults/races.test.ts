// Two things at the same time: one begins, and at each of its calls in turn the other runs from its
// start to its end, or begins to run alongside.
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { revokeApiKey } from '../../src/accounts/api-keys.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { factsOf } from '../support/facts.ts'
import { CDN, HOOK, Stage } from './harness.ts'
import type { Reply } from './harness.ts'
import { FaultInjector } from './fault-injector.ts'

const BODY = {
  model_image_url: `${CDN}/model`,
  garment_image_url: `${CDN}/garment`,
  webhook_url: HOOK,
}

const submit = (stage: Stage, faultInjector = new FaultInjector()) =>
  stage.request(faultInjector, stage.shop.keys.live, 'POST', '/v1/tryon', { body: BODY })

const cancel = (stage: Stage, jobId: string, faultInjector = new FaultInjector()) =>
  stage.request(faultInjector, stage.shop.keys.live, 'DELETE', `/v1/jobs/${jobId}`)

const operate = (
  stage: Stage,
  method: string,
  path: string,
  body?: object,
  faultInjector = new FaultInjector(),
) => stage.request(faultInjector, env.OPERATOR_TOKEN, method, `/operator${path}`, body && { body })

const suspend = (stage: Stage, faultInjector?: FaultInjector) =>
  operate(
    stage,
    'PATCH',
    `/organisations/${stage.shop.orgId}`,
    { status: 'suspended' },
    faultInjector,
  )

const scheduleDeletion = (stage: Stage, faultInjector?: FaultInjector) =>
  operate(stage, 'DELETE', `/organisations/${stage.shop.orgId}`, undefined, faultInjector)

async function process(stage: Stage, faultInjector = new FaultInjector()): Promise<void> {
  const message = stage.queues.take('tryon-jobs')
  if (message) await stage.consume(faultInjector, message)
}

async function pendingJob(stage: Stage): Promise<string> {
  return String((await submit(stage))?.body['job_id'])
}

async function statusesOf(stage: Stage): Promise<string[]> {
  const { results } = await env.DB.prepare('SELECT status FROM jobs WHERE organisation_id = ?')
    .bind(stage.shop.orgId)
    .all<{ status: string }>()
  return results.map(({ status }) => status)
}

interface Race {
  name: string
  prepare?(stage: Stage): Promise<string>
  first(
    stage: Stage,
    faultInjector: FaultInjector,
    prepared: string,
  ): Promise<Reply | undefined | void>
  second(stage: Stage, prepared: string): Promise<Reply | undefined | void>
  /** @returns what is wrong */
  afterwards?(
    stage: Stage,
    first: Reply | undefined | void,
    second: Reply | undefined | void,
  ): Promise<string[]>
}

/** After a suspension that was answered nothing may be left waiting, and nothing new come in. */
async function nothingWaits(stage: Stage): Promise<string[]> {
  const wrong: string[] = (await statusesOf(stage)).filter((status) => status === 'pending')
  if ((await submit(stage))?.status !== 403) wrong.push('a suspended organisation may submit')
  return wrong
}

/** Who was told that the job is refunded must find it so, and nobody must pay for it. */
async function oneWinner(stage: Stage, cancelled: Reply | undefined | void): Promise<string[]> {
  const [status] = await statusesOf(stage)
  const expected = cancelled?.status === 200 ? 'refunded' : 'completed'
  return status === expected ? [] : [`cancel said ${cancelled?.status}, the job is ${status}`]
}

async function revoke(stage: Stage): Promise<void> {
  const keyId = await env.DB.prepare(
    "SELECT id FROM api_keys WHERE organisation_id = ? AND mode = 'live'",
  )
    .bind(stage.shop.orgId)
    .first<string>('id')
  await stage.invoke(new FaultInjector(), (bindings) =>
    revokeApiKey({
      env: bindings,
      actor: SYSTEM,
      organisationId: stage.shop.orgId,
      keyId: keyId ?? '',
    }),
  )
}

const RACES: Race[] = [
  {
    name: 'submit and suspend',
    first: (stage, faultInjector) => submit(stage, faultInjector),
    second: (stage) => suspend(stage),
    afterwards: (stage) => nothingWaits(stage),
  },
  {
    name: 'suspend and submit',
    prepare: pendingJob,
    first: (stage, faultInjector) => suspend(stage, faultInjector),
    second: (stage) => submit(stage),
    afterwards: (stage) => nothingWaits(stage),
  },
  {
    name: 'submit and schedule a deletion',
    first: (stage, faultInjector) => submit(stage, faultInjector),
    second: (stage) => scheduleDeletion(stage),
    afterwards: (stage) => nothingWaits(stage),
  },
  {
    name: 'schedule a deletion and submit',
    prepare: pendingJob,
    first: (stage, faultInjector) => scheduleDeletion(stage, faultInjector),
    second: (stage) => submit(stage),
    afterwards: (stage) => nothingWaits(stage),
  },
  {
    name: 'cancel and claim',
    prepare: pendingJob,
    first: (stage, faultInjector, jobId) => cancel(stage, jobId, faultInjector),
    second: (stage) => process(stage),
    afterwards: (stage, first) => oneWinner(stage, first),
  },
  {
    name: 'claim and cancel',
    prepare: pendingJob,
    first: (stage, faultInjector) => process(stage, faultInjector),
    second: (stage, jobId) => cancel(stage, jobId),
    afterwards: (stage, _, second) => oneWinner(stage, second),
  },
  {
    name: 'cancel and withdraw',
    prepare: pendingJob,
    first: (stage, faultInjector, jobId) => cancel(stage, jobId, faultInjector),
    second: (stage, jobId) => operate(stage, 'POST', `/jobs/${jobId}/withdraw`),
    async afterwards(stage, first, second) {
      const [status] = await statusesOf(stage)
      const winner = first?.status === 200 ? 'refunded' : 'cancelled'
      const told = [first?.status, second?.status].sort().join()
      return status === winner && told === '200,409' ? [] : [`${status} after ${told}`]
    },
  },
  {
    name: 'submit and revoke',
    first: (stage, faultInjector) => submit(stage, faultInjector),
    second: revoke,
    async afterwards(stage, first) {
      const next = await submit(stage)
      const told = `${first?.status} then ${next?.status}`
      return ['202 then 401', '401 then 401'].includes(told) ? [] : [told]
    },
  },
  {
    name: 'capture and alarm',
    prepare: pendingJob,
    first: (stage, faultInjector) => process(stage, faultInjector),
    async second(stage) {
      stage.pass(6 * 60_000)
      await stage.alarm()
    },
  },
  {
    name: 'submit and alarm',
    first: (stage, faultInjector) => submit(stage, faultInjector),
    async second(stage) {
      stage.pass(6 * 60_000)
      await stage.alarm()
    },
  },
  {
    name: 'two sweeps',
    async prepare(stage) {
      await pendingJob(stage)
      await process(stage)
      await pendingJob(stage)
      stage.queues.clear()
      stage.pass(5 * 60_000)
      return ''
    },
    first: (stage, faultInjector) => stage.sweep(faultInjector),
    second: (stage) => stage.sweep(),
    async afterwards(stage) {
      return stage.mostStarts === 1 ? [] : [`a job was made ${stage.mostStarts} times`]
    },
  },
  {
    name: 'process and sweep',
    prepare: pendingJob,
    first: (stage, faultInjector) => process(stage, faultInjector),
    async second(stage) {
      stage.pass(60_000)
      await stage.sweep()
      await stage.drain()
    },
    async afterwards(stage) {
      return stage.mostStarts === 1 ? [] : [`a job was made ${stage.mostStarts} times`]
    },
  },
]

/** Lets the second in at one call of the first. @returns the calls, and what is wrong afterwards */
async function run(race: Race, at: number, how: 'overtaken' | 'joined') {
  const stage = await Stage.open()
  const prepared = (await race.prepare?.(stage)) ?? ''
  let second: Reply | undefined | void
  stage.rival = async () => {
    stage.rival = undefined
    second = await race.second(stage, prepared)
  }
  const faultInjector = new FaultInjector((call) => (call === at ? how : undefined))
  const first = await race.first(stage, faultInjector, prepared)
  await stage.quiet()
  const wrong = (await race.afterwards?.(stage, first, second)) ?? []
  await stage.quiet()
  return { calls: faultInjector.calls, wrong: [...wrong, ...(await stage.violations())] }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('nothing is lost in a race', () => {
  it.each(RACES)('$name', async (race) => {
    const { calls } = await run(race, -1, 'overtaken')
    const wrong: string[] = []
    for (const how of ['overtaken', 'joined'] as const) {
      for (const [at, call] of calls.entries()) {
        const faults = (await run(race, at, how)).wrong
        wrong.push(...faults.map((fault) => `${how} at call ${at}, ${call}: ${fault}`))
      }
    }
    expect(calls.length).toBeGreaterThan(1)
    expect(wrong).toEqual([])
  })

  it.each(['test', 'live'] as const)(
    'makes one job of a repeated key when every answer to the first insert was lost: %s',
    async (mode) => {
      const stage = await Stage.open()
      const order = { body: BODY, headers: { 'Idempotency-Key': 'order-1' } }
      const send = (faultInjector: FaultInjector) =>
        stage.request(faultInjector, stage.shop.keys[mode], 'POST', '/v1/tryon', order)
      const unanswered = (_: number, call: string) =>
        call === 'DB.insert' ? ('unanswered' as const) : undefined
      expect((await send(new FaultInjector(unanswered)))?.status).toBe(500)
      expect((await send(new FaultInjector()))?.status).toBe(202)
      await stage.quiet()
      expect(await statusesOf(stage)).toEqual(['completed'])
      expect(stage.received).toHaveLength(1)
      expect(await stage.violations()).toEqual([])
    },
  )

  it('keeps what was never begun through a minute without the database', async () => {
    const stage = await Stage.open()
    await submit(stage)
    const backAt = Date.now() + 75_000
    const away = new FaultInjector((_, call) => (call.startsWith('DB.') ? 'lost' : undefined))
    while (Date.now() < backAt) {
      const message = stage.queues.take()
      if (message) await stage.consume(away, message)
      else stage.pass(1_000)
    }
    await stage.quiet()
    expect(await statusesOf(stage)).toEqual(['completed'])
  })

  it('finishes jobs whose work is killed after their messages were acknowledged', async () => {
    const stage = await Stage.open()
    for (let n = 0; n < 5; n++) await submit(stage)
    stage.hangingDownloads = 8
    for (let n = 0; n < 4; n++) await stage.consumeAndKill(stage.queues.take('tryon-jobs')!)
    expect((await statusesOf(stage)).sort()).toEqual(['pending', ...Array(4).fill('processing')])
    // The fifth is beyond the share of its organisation: another message is sent for it.
    await process(stage)
    expect(stage.queues.take('tryon-jobs')).toBeUndefined()
    expect(stage.queues.nextAt('tryon-jobs')).toBe(Date.now() + 1_000)
    await stage.quiet()
    expect(await statusesOf(stage)).toEqual(Array(5).fill('completed'))
    expect(stage.mostStarts).toBe(1)
    expect(await stage.violations()).toEqual([])
  })

  it('delivers an event whose attempt is killed, and one whose message comes twice', async () => {
    const stage = await Stage.open()
    await submit(stage)
    await process(stage)
    const message = stage.queues.take('tryon-webhooks')!
    const dies = new FaultInjector((_, call) => (call === 'fetch' ? 'died' : undefined))
    await stage.consume(dies, message)
    await Promise.all([1, 2, 3].map(() => stage.consume(new FaultInjector(), message)))
    await stage.quiet()
    expect(await stage.violations()).toEqual([])
  })

  it('gives a lost reservation back later when the database cannot be asked now', async () => {
    const stage = await Stage.open()
    await submit(stage, new FaultInjector((at) => (at === 0 ? 'died' : undefined)))
    stage.pass(6 * 60_000)
    // Not once: the alarm of another test's organisation could use up a single failure.
    const prepare = vi.spyOn(env.DB, 'prepare')
    const implementation = prepare.getMockImplementation() ?? env.DB.prepare.bind(env.DB)
    prepare.mockImplementation(() => {
      throw new Error('D1 is down')
    })
    await stage.alarm()
    prepare.mockImplementation(implementation)
    expect((await factsOf(stage.shop.orgId)).totals).toMatchObject({ balance: 99, reserved: 1 })
    await stage.quiet()
    expect((await factsOf(stage.shop.orgId)).totals).toMatchObject({ balance: 100, reserved: 0 })
    expect(await stage.violations()).toEqual([])
  })

  it('lets a revoked key in nowhere, though its organisation was being loaded meanwhile', async () => {
    const stage = await Stage.open()
    await stage.evict()
    const batch = env.DB.batch.bind(env.DB)
    // The Organisation reads its standing in one batch; hold the answer back until all is revoked.
    vi.spyOn(env.DB, 'batch').mockImplementationOnce(
      async <T>(statements: D1PreparedStatement[]) => {
        const outdated = await batch<T>(statements)
        await revoke(stage)
        return outdated
      },
    )
    const racing = await submit(stage)
    expect([202, 401]).toContain(racing?.status)
    expect((await submit(stage))?.status).toBe(401)
    await stage.quiet()
    expect(await stage.violations()).toEqual([])
  })
})
