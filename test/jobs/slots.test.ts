// Alone: it replaces timers, which messages of other files would set.
// The limits of an isolate: live jobs per organisation, and memory for pictures.
import { createExecutionContext, createMessageBatch } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AckTimer } from '../../src/platform/queues/ack-timer.ts'
import worker from '../../src/index.ts'
import { JobMemory, JOB_BYTES, MemoryBudget } from '../../src/jobs/processing/memory.ts'
import { processJob } from '../../src/jobs/processing/process.ts'
import { JobSlots } from '../../src/jobs/processing/slots.ts'
import { picture, running, scripted, useEngines } from '../support/fake-engines.ts'
import { copies, fakePictures, dropMessages, MODEL, PICTURES } from '../support/live-job.ts'
import { jpeg } from '../support/picture.ts'
import { setPlan } from '../support/billing.ts'
import { newOrganisation, readJob, submit } from '../support/world.ts'
import { jobsDb } from '../support/jobs-database.ts'

const upstream = fakePictures()
afterEach(() => void vi.useRealTimers())

const MB = 1024 * 1024

async function liveJobs(count: number) {
  const send = dropMessages()
  const shop = await newOrganisation()
  const ids: string[] = []
  while (ids.length < count) ids.push((await submit(shop.live, PICTURES)).job_id)
  send.mockClear()
  const statuses = async () => {
    const { results } = await jobsDb(shop.orgId)
      .prepare('SELECT status FROM jobs WHERE organisation_id = ?')
      .bind(shop.orgId)
      .all<{ status: string }>()
    return results.map(({ status }) => status).sort()
  }
  const run = (jobId: string, ackTimer?: AckTimer) =>
    processJob({
      env,
      jobId,
      mode: 'live',
      organisationId: shop.orgId,
      ...(ackTimer && { ackTimer }),
    })
  return { shop, ids, send, statuses, run }
}

describe('live jobs of one organisation', () => {
  it('are processed four at a time, and the others are queued again with growing delays', async () => {
    const end = Promise.withResolvers<typeof picture>()
    const engine = scripted('engine', { start: [] })
    engine.start.mockImplementation(() => end.promise)
    useEngines(engine)
    const { ids, send, statuses, run } = await liveJobs(12)
    const first = ids.slice(0, 4).map((id) => run(id))
    for (const id of ids.slice(4)) expect(await run(id)).toBeUndefined()
    await vi.waitUntil(() => engine.start.mock.calls.length > 0)
    expect(await statuses()).toEqual([...Array(8).fill('pending'), ...Array(4).fill('processing')])
    expect(send.mock.calls.map(([body]) => (body as { jobId: string }).jobId)).toEqual(ids.slice(4))
    const delays = send.mock.calls.map(([, options]) => options?.delaySeconds ?? 0)
    expect(delays).toEqual(delays.toSorted((a, b) => a - b))
    expect([delays[0], delays.at(-1)]).toEqual([1, 2])

    // A job of another organisation is processed immediately.
    const other = await liveJobs(1)
    const others = other.ids.map((id) => other.run(id))
    await vi.waitUntil(async () => (await other.statuses())[0] === 'processing')
    end.resolve(picture)
    await Promise.all([...first, ...others])
    for (const id of ids.slice(4)) await run(id)
    expect(new Set(await statuses())).toEqual(new Set(['completed']))
  })

  it('are delayed for at most 30 seconds', () => {
    const slots = new JobSlots({ perOrganisation: 4, total: 16 })
    const delays = Array.from({ length: 1_000 }, () => slots.delaySeconds('org_1'))
    expect([Math.min(...delays), Math.max(...delays)]).toEqual([1, 30])
    expect(slots.delaySeconds('org_2')).toBe(1)
  })

  it('can use the slot of a killed invocation after a timeout, sooner after an acknowledgement', () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const slots = new JobSlots({ perOrganisation: 2, total: 16 })
    const slow = slots.enter('org_1')!
    expect(slots.enter('org_1')).toBeDefined()
    slots.acknowledged(slow)
    expect([slots.hasSlow('org_1'), slots.hasSlow('org_2')]).toEqual([true, false])
    expect(slots.enter('org_1')).toBeUndefined()
    vi.setSystemTime(Date.now() + 40_000)
    expect(slots.enter('org_1')).toBeDefined()
    expect(slots.enter('org_1')).toBeUndefined()
    vi.setSystemTime(Date.now() + 15 * 60_000)
    expect(slots.enter('org_1')).toBeDefined()
  })

  it('start in the order of their messages across organisations', async () => {
    const slots = new JobSlots({ perOrganisation: 1, total: 2 })
    const started: number[] = []
    const all = [0, 1, 2, 3].map((n) => slots.enter(`org_${n}`)!)
    const starts = all.map((slot, n) =>
      slots.start(slot, async () => false).then(() => started.push(n)),
    )
    await Promise.all(starts.slice(0, 2))
    await scheduler.wait(50)
    expect(started).toEqual([0, 1])
    slots.leave(all[1]!)
    await starts[2]
    expect(started).toEqual([0, 1, 2])
    slots.leave(all[0]!)
    await starts[3]
  })
})

describe('live jobs beyond the limit of an isolate', () => {
  it('start when another job has ended, those of paying organisations first', async () => {
    const first = Promise.withResolvers<typeof picture>()
    const rest = Promise.withResolvers<typeof picture>()
    const engine = scripted('engine', { start: [] })
    engine.start.mockReturnValueOnce(first.promise).mockReturnValue(rest.promise)
    useEngines(engine)
    const others = await Promise.all([4, 4, 4, 4].map(liveJobs))
    const [free, paying] = [await liveJobs(1), await liveJobs(1)]
    await setPlan(paying.shop.orgId, 'growth')
    const runs = others.flatMap(({ ids, run }) => ids.map((id) => run(id)))
    await vi.waitUntil(async () => {
      const statuses = await Promise.all(others.map((shop) => shop.statuses()))
      return statuses.flat().every((status) => status === 'processing')
    })
    for (const { ids, run } of [free, paying]) {
      runs.push(run(ids[0]!))
      await scheduler.wait(50)
    }
    first.resolve(picture)
    await vi.waitUntil(async () => (await paying.statuses())[0] !== 'pending')
    expect(await free.statuses()).toEqual(['pending'])
    rest.resolve(picture)
    await Promise.all(runs)
  })
})

describe('the message of a slow job', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))

  /** Lets two seconds pass while the work waits for a picture. */
  async function passTwoSeconds() {
    await vi.waitUntil(() => upstream.seen(MODEL).length > 0)
    await vi.advanceTimersByTimeAsync(2_000)
  }

  it('is acknowledged after two seconds while the work continues', async () => {
    const slow = Promise.withResolvers<Response>()
    upstream.on(MODEL, () => slow.promise)
    useEngines(scripted('engine', { start: [picture], paid: false }))
    const { shop, ids, statuses } = await liveJobs(1)
    const batch = createMessageBatch<unknown>('tryon-jobs', [
      {
        id: '1',
        timestamp: new Date(),
        attempts: 1,
        body: { jobId: ids[0], mode: 'live', organisationId: shop.orgId },
      },
    ])
    const ack = vi.spyOn(batch.messages[0]!, 'ack')
    const handled = worker.queue(batch, env, createExecutionContext())
    await passTwoSeconds()
    await handled
    expect(ack).toHaveBeenCalledOnce()
    expect(await statuses()).toEqual(['processing'])
    slow.resolve(new Response(jpeg()))
    await vi.waitUntil(async () => (await statuses())[0] === 'completed')
  })

  it('waits for a paid engine without a time limit', async () => {
    const engine = scripted('engine', { start: [] })
    const end = Promise.withResolvers<typeof picture>()
    engine.start.mockImplementation(() => end.promise)
    useEngines(engine)
    const { ids, run } = await liveJobs(1)
    const ackTimer = new AckTimer()
    const done = run(ids[0]!, ackTimer)
    await vi.waitUntil(() => engine.start.mock.calls.length === 1)
    await vi.advanceTimersByTimeAsync(3_000)
    expect(ackTimer.isExpired).toBe(false)
    end.resolve(picture)
    await done
  })

  it('leaves a paid start to a new message and stores copies of the inputs', async () => {
    const slow = Promise.withResolvers<Response>()
    upstream.on(MODEL, () => slow.promise)
    const engine = scripted('engine', { start: [running('a')] })
    useEngines(engine)
    const { shop, ids, send, run } = await liveJobs(1)
    const ackTimer = new AckTimer()
    const done = run(ids[0]!, ackTimer)
    await passTwoSeconds()
    expect(ackTimer.isExpired).toBe(true)
    slow.resolve(new Response(jpeg()))
    await done
    expect(engine.start).not.toHaveBeenCalled()
    expect(send).toHaveBeenCalledOnce()
    expect(await copies({ id: ids[0]! })).toHaveLength(2)
    await run(ids[0]!)
    expect(engine.start).toHaveBeenCalledOnce()
    expect(upstream.seen(MODEL)).toHaveLength(1)
    expect(await readJob(shop.live, ids[0]!)).toMatchObject({ status: 'processing' })
  })

  it('is replaced by a new message when the job is retried', async () => {
    const slow = Promise.withResolvers<void>()
    upstream.on(MODEL, () => slow.promise.then(() => new Response(jpeg())))
    const engine = scripted('engine', { start: [new Error('broken'), picture], paid: false })
    useEngines(engine)
    const { ids, send, statuses, run } = await liveJobs(1)
    const ackTimer = new AckTimer()
    const done = run(ids[0]!, ackTimer)
    await passTwoSeconds()
    expect(ackTimer.isExpired).toBe(true)
    slow.resolve()
    expect(await done).toBeUndefined()
    expect(send).toHaveBeenCalledOnce()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 })
    await run(ids[0]!)
    expect(await statuses()).toEqual(['completed'])
  })
})

describe('the memory for pictures', () => {
  const memoryOf = (budget: MemoryBudget) => (organisationId: string) =>
    new JobMemory(budget, { organisationId, expiresAt: Date.now() + 60_000 })
  const reserved = (memory: JobMemory) => memory.reserve().then(() => true)

  it('is reserved in full until the sizes are known', async () => {
    const budget = new MemoryBudget(2 * JOB_BYTES)
    const [a, b, c] = ['org_1', 'org_2', 'org_3'].map(memoryOf(budget))
    await Promise.all([a!.reserve(), b!.reserve()])
    let isReserved = false
    const third = reserved(c!).then(() => (isReserved = true))
    await scheduler.wait(50)
    expect(isReserved).toBe(false)
    await a!.resize(MB)
    await scheduler.wait(50)
    expect(isReserved).toBe(false) // 19 MB are free
    await b!.resize(MB)
    await third
  })

  it('is reserved for one job per organisation while the sizes are unknown', async () => {
    const budget = new MemoryBudget(10 * JOB_BYTES)
    const [a, b, c] = ['org_1', 'org_1', 'org_2'].map(memoryOf(budget))
    await a!.reserve()
    let isReserved = false
    const second = reserved(b!).then(() => (isReserved = true))
    await c!.reserve()
    expect(isReserved).toBe(false)
    await a!.release()
    await second
  })

  it('is not granted after eight seconds, and the job is postponed without an attempt', async () => {
    const budget = new MemoryBudget(JOB_BYTES)
    await memoryOf(budget)('org_1').reserve()
    vi.useFakeTimers({ toFake: ['performance'] })
    const rejected = vi.fn<(error: unknown) => void>()
    const reservation = memoryOf(budget)('org_2').reserve().catch(rejected)
    vi.advanceTimersByTime(7_900)
    await scheduler.wait(50)
    expect(rejected).not.toHaveBeenCalled()
    vi.advanceTimersByTime(100)
    await reservation
    expect(rejected).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ name: 'Postponed', isUntouched: true }),
    )
  })

  it('of a killed invocation becomes free after its expiry', async () => {
    const budget = new MemoryBudget(JOB_BYTES)
    vi.useFakeTimers({ toFake: ['Date'] })
    await memoryOf(budget)('org_1').reserve()
    vi.setSystemTime(Date.now() + 60_000)
    await memoryOf(budget)('org_2').reserve()
  })
})
