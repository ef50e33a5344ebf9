import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { database } from '../../src/db/client.ts'
import { jobs } from '../../src/db/schema.ts'
import type { JobRow } from '../../src/db/schema.ts'
import * as settle from '../../src/jobs/settle.ts'
import * as store from '../../src/jobs/store.ts'
import { EngineError } from '../../src/engines/engine.ts'
import { giveUpJob, processJob } from '../../src/jobs/process.ts'
import {
  alive,
  ambiguous,
  over,
  picture,
  refused,
  rejected,
  running,
  scripted,
  useEngines,
} from '../support/fake-engines.ts'
import { jpeg, png } from '../support/picture.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { ledgerOf, newOrganisation, readJob, submit } from '../support/world.ts'

const upstream = fakeUpstream()
const MODEL = 'https://cdn.test/model'
const GARMENT = 'https://cdn.test/garment'

beforeEach(() => {
  upstream.on(MODEL, () => new Response(jpeg())).on(GARMENT, () => new Response(png()))
})

afterEach(() => void vi.useRealTimers())

describe('the order of engines', () => {
  it('records the engine that made the picture, and shows it to no client', async () => {
    const made = scripted('made', { start: [picture], paid: false })
    useEngines(made)
    const { job, row, read } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({ status: 'completed', engine: 'made', unclearStarts: 0 })
    expect(JSON.stringify(await read())).not.toContain('made')
  })

  it('tries the next engine when one refuses, with pictures fetched once and for one credit', async () => {
    const full = scripted('full', { start: [refused(30)] })
    const next = scripted('next', { start: [picture] })
    useEngines(full, next)
    const { job, row, shop } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({ status: 'completed', engine: 'next', attempts: 1 })
    expect(upstream.seen()).toHaveLength(2)
    expect(await ledgerOf(shop)).toMatchObject({ balance: 99, reserved: 0, consumed: 1 })
  })

  it('does not shop around with a picture that was rejected', async () => {
    const strict = scripted('strict', { start: [rejected] })
    const other = scripted('other', { start: [picture] })
    useEngines(strict, other)
    const { job, row } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'generation_rejected' })
    expect(other.start).not.toHaveBeenCalled()
  })

  it('comes back when the first of them will be free again, with the copies it kept', async () => {
    const slow = scripted('slow', { start: [refused(50), refused(50), refused(50)] })
    const soon = scripted('soon', { start: [refused(7), refused(7), picture] })
    useEngines(slow, soon)
    const { job, row, sent } = await newJob()
    await job.run()
    expect(sent()).toEqual([7])
    expect(await row()).toMatchObject({ status: 'processing', attempts: 0, unclearStarts: 0 })
    await job.run(8_000)
    await job.run(16_000)
    expect(await row()).toMatchObject({ status: 'completed', engine: 'soon' })
    expect(upstream.seen()).toHaveLength(2)
    expect(await copies(await row())).toEqual([])
  })

  it('gives up as engine_unavailable when all refuse until the deadline', async () => {
    const full = scripted('full', { start: [refused(600)] })
    useEngines(full)
    const { job, row, sent } = await newJob()
    await job.run()
    await job.run(70_000)
    await job.run(140_000)
    await job.run(210_000)
    expect(sent()).toEqual([60, 60, 60, 60])
    await job.run(280_000)
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'engine_unavailable' })
  })

  it('leaves an engine alone for as long as it asked, for all jobs', async () => {
    const busy = scripted('busy', { start: [refused(20), picture] })
    useEngines(busy)
    const first = await newJob()
    await first.job.run()
    expect(first.sent()).toEqual([20])
    const second = await newJob()
    await second.job.run(5_000)
    expect(second.sent()).toEqual([15])
    expect(busy.start).toHaveBeenCalledTimes(1)
    await second.job.run(20_000)
    expect(await second.row()).toMatchObject({ status: 'completed', attempts: 1 })
    expect(await copies(await second.row())).toEqual([])
  })

  it('does not repeat for long what an engine refuses for a reason of the job’s', async () => {
    const picky = scripted('picky', {
      start: [new EngineError('generation_failed', 'no', { retriable: true, work: 'refused' })],
    })
    useEngines(picky)
    const { job, row } = await newJob()
    for (let at = 0; at < 14; at++) await job.run(at * 20_000)
    expect(picky.start).toHaveBeenCalledTimes(6)
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'generation_failed' })
  })

  it('skips an engine that keeps failing, until it may try again', async () => {
    const sick = scripted('sick', { start: [refused()] })
    const well = scripted('well', { start: [picture] })
    useEngines(sick, well)
    const starts: number[] = []
    for (const laterMs of [0, 0, 0, 0, 0, 0, 0, 31_000, 0]) {
      const { job, row } = await newJob()
      await job.run(laterMs)
      expect(await row()).toMatchObject({ status: 'completed', engine: 'well' })
      starts.push(sick.start.mock.calls.length)
    }
    expect(starts).toEqual([1, 2, 3, 4, 5, 5, 5, 6, 6])
  })
})

describe('a start of unknown end', () => {
  it('is written down before it is made', async () => {
    const engine = scripted('engine', { start: [picture] })
    useEngines(engine)
    const { job, row } = await newJob()
    let before: JobRow | undefined
    engine.start.mockImplementation(async () => {
      before = await row()
      return picture
    })
    await job.run()
    expect(before).toMatchObject({ engine: 'engine', unclearStarts: 1, engineHandle: null })
  })

  it('is followed by one more, on the next engine', async () => {
    const lost = scripted('lost', { start: [ambiguous()] })
    const next = scripted('next', { start: [picture] })
    useEngines(lost, next)
    const { job, row } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({ status: 'completed', engine: 'next' })
  })

  it('is followed by no third', async () => {
    const lost = scripted('lost', { start: [ambiguous()] })
    const lostToo = scripted('lost too', { start: [ambiguous()] })
    const third = scripted('third', { start: [picture] })
    useEngines(lost, lostToo, third)
    const { job, row, shop } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'engine_unavailable' })
    expect(third.start).not.toHaveBeenCalled()
    expect(await ledgerOf(shop)).toMatchObject({ balance: 100, reserved: 0 })
  })

  it('is tried again on the only engine once, however often that refuses in between', async () => {
    const only = scripted('only', { start: [ambiguous(), refused(1), refused(1), ambiguous()] })
    useEngines(only)
    const { job, row } = await newJob()
    for (const atMs of [0, 5_000, 10_000, 15_000, 20_000, 30_000]) await job.run(atMs)
    expect(only.start).toHaveBeenCalledTimes(4)
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'engine_unavailable' })
  })

  it('leaves the engines that cost nothing', async () => {
    const lost = scripted('lost', { start: [ambiguous()] })
    const lostToo = scripted('lost too', { start: [ambiguous()] })
    const free = scripted('free', { start: [picture], paid: false })
    useEngines(lost, lostToo, free)
    const { job, row } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({ status: 'completed', engine: 'free' })
  })

  it('is what a crash between the start and its handle leaves behind', async () => {
    const engine = scripted('engine', { start: [running('a')] })
    useEngines(engine)
    const { job, row } = await newJob()
    const crash = () => {
      engine.start.mockImplementationOnce(() => new Promise(() => {}))
      void job.run()
    }
    crash()
    await vi.waitUntil(() => engine.start.mock.calls.length === 1)
    expect(await row()).toMatchObject({ unclearStarts: 1, engineHandle: null })
    // The lease keeps others away …
    await job.run(100_000)
    expect(engine.start).toHaveBeenCalledTimes(1)
    // … and after it, the one more start is known for what it is.
    await job.run(201_000)
    expect(await row()).toMatchObject({ unclearStarts: 2, engineHandle: 'a', attempts: 2 })
  })

  it('is also an engine that breaks down in a way we do not know', async () => {
    const broken = scripted('broken', { start: [new TypeError('no such property')] })
    useEngines(broken)
    const { job, row } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({ unclearStarts: 1, errorCode: 'internal_error' })
    await job.run(5_000)
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'internal_error' })
    expect(broken.start).toHaveBeenCalledTimes(2)
  })
})

describe('work that runs', () => {
  it('is asked after by further messages, with the handle that was last given', async () => {
    const engine = scripted('engine', {
      start: [running('a')],
      poll: [running('b'), picture],
    })
    useEngines(engine)
    const { job, row, sent } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({
      status: 'processing',
      engine: 'engine',
      engineHandle: 'a',
      unclearStarts: 0,
    })
    await job.run()
    await job.run()
    expect(engine.poll.mock.calls).toEqual([['a'], ['b']])
    expect(sent()).toEqual([0, 0])
    expect(await row()).toMatchObject({
      status: 'completed',
      engine: 'engine',
      engineHandle: null,
      attempts: 1,
    })
  })

  it('keeps its handle through any trouble in asking', async () => {
    const polls = [...Array.from({ length: 8 }, () => alive()), alive(40), new TypeError('bug')]
    const engine = scripted('engine', { start: [running('a')], poll: [...polls, picture] })
    const other = scripted('other', { start: [picture] })
    useEngines(engine, other)
    const { job, row, sent } = await newJob()
    await job.run()
    for (const seconds of [10, 20, 30, 40, 50, 65, 85, 105, 125, 170]) {
      await job.run(seconds * 1_000)
      expect(await row()).toMatchObject({ status: 'processing', engineHandle: 'a', attempts: 1 })
    }
    expect(sent()).toContain(40)
    await job.run(250_000)
    expect(await row()).toMatchObject({ status: 'completed', engine: 'engine' })
    expect(engine.start).toHaveBeenCalledTimes(1)
    expect(other.start).not.toHaveBeenCalled()
  })

  it('goes to the next engine when it ended without a picture', async () => {
    const engine = scripted('engine', { start: [running('a')], poll: [over()] })
    const next = scripted('next', { start: [running('n')], poll: [picture] })
    useEngines(engine, next)
    const { job, row } = await newJob()
    await job.run()
    await job.run()
    expect(await row()).toMatchObject({ engine: 'next', engineHandle: 'n', attempts: 2 })
    await job.run()
    expect(await row()).toMatchObject({ status: 'completed', engine: 'next' })
  })

  it('is begun six times at most', async () => {
    const engine = scripted('engine', { start: [running('a')], poll: [over()] })
    useEngines(engine)
    const { job, row } = await newJob()
    for (let at = 0; at < 14; at++) await job.run(at * 20_000)
    expect(engine.start).toHaveBeenCalledTimes(6)
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'engine_unavailable' })
  })

  it('fails with what the engine said of it for good', async () => {
    const engine = scripted('engine', { start: [running('a')], poll: [rejected] })
    const next = scripted('next', { start: [picture] })
    useEngines(engine, next)
    const { job, row } = await newJob()
    await job.run()
    await job.run()
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'generation_rejected' })
    expect(next.start).not.toHaveBeenCalled()
  })

  it('is lost with its engine when that is no longer set up', async () => {
    const gone = scripted('gone', { start: [running('a')] })
    const next = scripted('next', { start: [picture] })
    useEngines(gone)
    const { job, row } = await newJob()
    await job.run()
    useEngines(next)
    await job.run()
    expect(await row()).toMatchObject({ status: 'completed', engine: 'next' })
  })

  it('is not paid for again because its picture could not be stored', async () => {
    const engine = scripted('engine', { start: [running('a')], poll: [picture] })
    useEngines(engine)
    const { job, row } = await newJob()
    await job.run()
    vi.spyOn(env.IMAGES, 'put')
      .mockRejectedValueOnce(new Error('R2'))
      .mockRejectedValueOnce(new Error('R2'))
    await job.run()
    expect(await row()).toMatchObject({ status: 'processing', engineHandle: 'a' })
    await job.run(5_000)
    expect(await row()).toMatchObject({ status: 'completed' })
    expect(engine.start).toHaveBeenCalledTimes(1)
  })
})

describe('a consumer', () => {
  it('starts nothing for a job that another has taken over', async () => {
    const engine = scripted('engine', { start: [picture] })
    useEngines(engine)
    const { job, row } = await newJob()
    upstream.on(MODEL, async () => {
      await database(env)
        .update(jobs)
        .set({ dueAt: new Date(Date.now() + 60_000) })
      return new Response(jpeg())
    })
    expect(await job.run()).toEqual({ done: true })
    expect(engine.start).not.toHaveBeenCalled()
    expect(await row()).toMatchObject({ status: 'processing', engine: null, unclearStarts: 0 })
  })

  it('does not lose a handle with one refused write', async () => {
    const engine = scripted('engine', { start: [running('a')] })
    useEngines(engine)
    const { job, row } = await newJob()
    const { saveJob } = store
    vi.spyOn(store, 'saveJob')
      .mockImplementationOnce(saveJob)
      .mockRejectedValueOnce(new Error('D1'))
    await job.run()
    expect(await row()).toMatchObject({ engine: 'engine', engineHandle: 'a', unclearStarts: 0 })
  })

  it('makes no second picture when it could not settle the first', async () => {
    const engine = scripted('engine', { start: [picture] })
    useEngines(engine)
    const { job, row } = await newJob()
    vi.spyOn(settle, 'settleJob').mockRejectedValueOnce(new Error('D1'))
    expect(await job.run()).toEqual({ done: false, retryAfterSeconds: 2 })
    await job.run(3_000)
    expect(await row()).toMatchObject({ status: 'completed', engine: 'engine' })
    expect(engine.start).toHaveBeenCalledTimes(1)
  })
})

describe('the deadline', () => {
  it('cancels what runs, and fails the job with generation_timeout', async () => {
    const engine = scripted('engine', { start: [running('a')], poll: [running('a')] })
    useEngines(engine)
    const { job, row, shop } = await newJob()
    await job.run()
    await job.run(299_000)
    await job.run(300_000)
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'generation_timeout' })
    expect(engine.cancel).toHaveBeenCalledExactlyOnceWith('a')
    expect(engine.poll).toHaveBeenCalledTimes(1)
    expect(await ledgerOf(shop)).toMatchObject({ balance: 100, reserved: 0 })
  })

  it('is never slept over', async () => {
    const engine = scripted('engine', {
      start: [{ done: false, handle: 'a', pollAfterSeconds: 3_600 }],
    })
    useEngines(engine)
    const { job, sent } = await newJob()
    await job.run()
    expect(sent()).toEqual([300])
  })

  it('does not wait for an engine that does not answer, and cancels what it begins too late', async () => {
    const engine = scripted('engine', { start: [] })
    let answer: (late: ReturnType<typeof running>) => void = () => {}
    engine.start.mockImplementation(() => new Promise((resolve) => (answer = resolve)))
    useEngines(engine)
    const { job, row } = await newJob({ JOB_DEADLINE_SECONDS: '1' })
    await job.run()
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'generation_timeout' })
    answer(running('late'))
    await vi.waitUntil(() => engine.cancel.mock.calls.length === 1)
  })

  it('fails a cancelled job even if the provider refuses the cancellation', async () => {
    const engine = scripted('engine', { start: [running('a')] })
    engine.cancel.mockRejectedValue(new Error('409'))
    useEngines(engine)
    const { job, row } = await newJob()
    await job.run()
    await job.run(301_000)
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'generation_timeout' })
  })
})

describe('copies of the customer’s pictures', () => {
  it('are there for engines that want URLs, with a fresh link for each start, and go with the job', async () => {
    const urls: string[] = []
    const first = scripted('first', { start: [] })
    const second = scripted('second', { start: [] })
    first.start.mockImplementation(async ({ model }) => {
      urls.push(await model.url())
      throw refused()
    })
    second.start.mockImplementation(async ({ model, garment }) => {
      urls.push(await model.url(), await garment.url())
      return running('a')
    })
    second.poll.mockResolvedValue(picture)
    useEngines(first, second)
    const { job, row } = await newJob()
    await job.run()
    expect(urls).toHaveLength(3)
    const { id } = await row()
    expect(urls[0]).toMatch(`https://try-on.test/inputs/${id}/model.jpg?expires=`)
    expect(await copies(await row())).toEqual([
      `inputs/${id}/garment.png`,
      `inputs/${id}/model.jpg`,
    ])
    await job.run()
    expect(await copies(await row())).toEqual([])
  })

  it('go with a job that is given up', async () => {
    const engine = scripted('engine', { start: [refused()] })
    useEngines(engine)
    const { job, row } = await newJob()
    await job.run()
    expect(await copies(await row())).toHaveLength(2)
    vi.setSystemTime(Date.now() + 10_000)
    await giveUpJob({ env, jobId: (await row()).id })
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'engine_unavailable' })
    expect(await copies(await row())).toEqual([])
  })
})

/** A live job whose messages are held back: it goes on when the test says so. */
async function newJob(vars: Record<string, string> = {}) {
  const send = vi.spyOn(env.JOBS, 'send').mockResolvedValue({
    metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } },
  })
  const shop = await newOrganisation()
  const { job_id: jobId } = await submit(shop.live, {
    model_image_url: MODEL,
    garment_image_url: GARMENT,
  })
  send.mockClear()
  vi.useFakeTimers({ toFake: ['Date'] })
  const begunAt = Date.now()
  const row = async () => {
    const [found] = await database(env).select().from(jobs).where(eq(jobs.id, jobId))
    return found!
  }
  return {
    shop,
    row,
    read: () => readJob(shop.live, jobId),
    job: {
      /** Handles a message that comes so long after the job's begin. */
      run: (afterMs = 0) => {
        vi.setSystemTime(begunAt + afterMs)
        return processJob({ env: { ...env, ...vars }, jobId })
      },
    },
    /** The delays of the messages sent so far. */
    sent: () => send.mock.calls.map(([, options]) => options?.delaySeconds),
  }
}

async function copies({ id }: JobRow): Promise<string[]> {
  const { objects } = await env.IMAGES.list({ prefix: `inputs/${id}/` })
  return objects.map(({ key }) => key)
}
