// Has a job's picture made: asks after the work that runs for it, or starts work on the first engine
// that takes it. A start at a paid engine is written down before it is made, since no provider
// recognises a repeated one: whoever finds a start of unknown end knows that it may have been paid.
//
// `job` is the consumer's own copy of the row. It runs ahead of the row, and whoever hands the job
// back writes it there.
import { waitUntil } from 'cloudflare:workers'
import type { AckTimer } from '../queues/ack-timer.ts'
import type { JobRow } from '../db/schema.ts'
import { enginesOf } from '../engines/choose.ts'
import type { Engines } from '../engines/choose.ts'
import { JobFailure } from '../domain/failure.ts'
import type { Engine, EngineInput, GeneratedImage, Progress } from '../engines/engine.ts'
import { log } from '../log.ts'
import { outputKey } from '../signing/signed-url.ts'
import { msLeft } from './deadline.ts'
import { inputsOf } from './inputs.ts'
import { JOB_BYTES } from './memory.ts'
import type { JobMemory } from './memory.ts'
import { loadPicture } from './pictures.ts'
import { Postponed } from './postponed.ts'
import { LEASE_MS, saveJob, START_LEASE_MS } from './store.ts'

/** How often work on a job is begun: as many times as the queue gives a message out. */
export const MAX_ATTEMPTS = 6
/** One start of unknown end, and one more. */
const MAX_UNCLEAR_STARTS = 2

/** No start is waited for past the deadline; this much later the job is free to be failed. */
const AFTER_DEADLINE_MS = 10_000

/** What a job uses of its isolate and its invocation. */
export interface Resources {
  memory: JobMemory
  ackTimer: AckTimer
}

/** The job's lease ended while we were at it, and somebody else has it now. */
export class LostJob extends Error {
  override readonly name = 'LostJob'
}

/**
 * Takes the work as far as it goes now. When it is not done, `job` names the engine and its handle.
 * @throws JobFailure; with a handle left in `job`, the work goes on all the same
 */
export async function generate(env: Env, job: JobRow, resources: Resources): Promise<Progress> {
  const engines = enginesOf(env)
  if (job.engineHandle === null) {
    if (job.attempts > 1) {
      // Its pictures are copied by now, so nothing slow is ahead, and a paid start must be in time.
      if (engines.inOrder.some(({ paid }) => paid)) resources.ackTimer.hold()
      await resources.memory.reserve()
    }
    const earlier = job.attempts > 1 ? await earlierOutput(env, job) : null
    return earlier ?? startOnOneOf(env, job, resources, engines, engines.inOrder)
  }
  const engine = job.engine === null ? undefined : engines.named(job.engine)
  try {
    return await poll(env, job, resources, engines, engine)
  } catch (error) {
    if (!(error instanceof JobFailure) || error.work !== 'over') throw error
    job.engineHandle = null
    job.errorCode = error.code
    const others = engines.inOrder.slice(engine ? engines.inOrder.indexOf(engine) + 1 : 0)
    if (!error.retriable || others.length === 0 || job.attempts >= MAX_ATTEMPTS) throw error
    logFailure(job, error)
    await hold(env, job, { attempts: job.attempts + 1 }, LEASE_MS)
    return startOnOneOf(env, job, resources, engines, others)
  }
}

/** Tells a job's provider that nobody waits any more. Best effort. */
export async function cancelWorkOf(env: Env, { id, engine, engineHandle }: JobRow): Promise<void> {
  const named = engine === null ? undefined : enginesOf(env).named(engine)
  if (named && engineHandle !== null) await cancelWork({ id, engine: named, handle: engineHandle })
}

async function cancelWork(work: { id: string; engine: Engine; handle: string }): Promise<void> {
  try {
    await work.engine.cancel?.(work.handle)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    log.warn('work not cancelled', { jobId: work.id, engine: work.engine.name, reason })
  }
}

/** A picture made before a crash is not made, and an engine not paid, a second time. */
export async function earlierOutput(env: Env, job: JobRow): Promise<Progress | null> {
  const picture = await loadPicture(env, (format) => outputKey(job.id, format))
  if (!picture) return null
  job.engine = picture.madeBy ?? job.engine
  return { done: true, image: picture satisfies GeneratedImage }
}

async function poll(
  env: Env,
  job: JobRow,
  { memory, ackTimer }: Resources,
  engines: Engines,
  engine: Engine | undefined,
): Promise<Progress> {
  if (!engine?.poll || job.engineHandle === null) {
    throw new JobFailure('engine_unavailable', `${job.engine} is no longer set up`, {
      retriable: true,
      work: 'over',
    })
  }
  // A provider's picture may be as large as two of a customer.
  await memory.reserve()
  await memory.resize(JOB_BYTES)
  // If this is too late and the poll is cut off, the next one asks for the same picture.
  ackTimer.hold()
  try {
    const progress = await inTime(env, job, engine.poll(job.engineHandle))
    if (!progress.done) job.engineHandle = progress.handle
    return progress
  } catch (error) {
    if (isOutage(error)) engines.breakerOf(engine).failed(error.retryAfterSeconds)
    throw error
  }
}

/** Starts on the first of the candidates that takes the job. */
async function startOnOneOf(
  env: Env,
  job: JobRow,
  { memory, ackTimer }: Resources,
  engines: Engines,
  candidates: readonly Engine[],
): Promise<Progress> {
  const { model, garment, bytes, keep } = await inputsOf(env, job, memory)
  // A paid engine takes the pictures in another form, too, and gives one back.
  await memory.resize(candidates.some(({ paid }) => paid) ? JOB_BYTES : bytes)
  const input = { jobId: job.id, model, garment }
  const failures: JobFailure[] = []
  let begun = false // work that this attempt stands for, by an engine before
  for (const engine of candidates) {
    if (engine.paid && job.ambiguousStarts >= MAX_UNCLEAR_STARTS) continue
    const breaker = engines.breakerOf(engine)
    const secondsToWait = breaker.secondsToWait()
    if (secondsToWait > 0) {
      failures.push(leftAlone(engine, secondsToWait))
      continue
    }
    // What runs after the acknowledgement is cut off after 30 s, and a start must not be.
    if (engine.paid && !ackTimer.hold()) {
      await keep()
      throw new Postponed('a paid engine needs a new message', { afterSeconds: 0 })
    }
    // The last resort is tried whatever is known of it.
    if (engine !== candidates.at(-1) && !breaker.allowsStart()) continue
    if (begun) {
      if (job.attempts >= MAX_ATTEMPTS) break
      job.attempts += 1
      begun = false
    }
    try {
      const progress = await start(env, job, engine, input)
      breaker.succeeded()
      return progress
    } catch (error) {
      if (isOutage(error)) breaker.failed(error.retryAfterSeconds)
      if (!(error instanceof JobFailure)) throw error
      job.errorCode = error.code
      if (!error.retriable) throw error
      logFailure(job, error, engine)
      failures.push(error)
      begun = error.work === 'ambiguous' || error.work === 'over'
    }
  }
  await keep()
  const failure = allFailed(job, engines, failures)
  job.errorCode = failure.code
  throw failure
}

async function start(env: Env, job: JobRow, engine: Engine, input: EngineInput): Promise<Progress> {
  const msToDeadline = msLeft(env, job)
  if (msToDeadline === 0) throw new OutOfTime()
  const unclearBefore = job.ambiguousStarts
  // Once a start was unclear, a further one counts unless it was refused.
  const unclearAfter = unclearBefore === 0 ? 0 : unclearBefore + 1
  if (engine.paid) {
    const intent = { engine: engine.name, ambiguousStarts: unclearBefore + 1 }
    await hold(env, job, intent, Math.min(START_LEASE_MS, msToDeadline + AFTER_DEADLINE_MS))
  }
  const work = engine.start(input)
  try {
    const progress = await inTime(env, job, work)
    job.engine = engine.name
    if (progress.done) return progress // its start stays unclear until the picture is safe
    job.engineHandle = progress.handle
    job.ambiguousStarts = engine.paid ? unclearAfter : unclearBefore
    return progress
  } catch (error) {
    if (error instanceof OutOfTime) waitUntil(cancelWhenStarted(job, engine, work))
    if (!engine.paid) throw error
    const failure = error instanceof JobFailure ? error : brokenDown(engine, error)
    if (failure.work === 'refused' || failure.work === undefined)
      job.ambiguousStarts = unclearBefore
    if (failure.work === 'over') job.ambiguousStarts = unclearAfter
    throw failure
  }
}

/** Writes down what is about to happen, and keeps the job for as long as it may take. */
async function hold(
  env: Env,
  job: JobRow,
  change: Partial<Pick<JobRow, 'engine' | 'ambiguousStarts' | 'attempts'>>,
  leaseMs: number,
): Promise<void> {
  const dueAt = new Date(Date.now() + leaseMs)
  if (!(await saveJob(env, { ...job, ...change }, { dueAt }))) throw new LostJob(job.id)
  Object.assign(job, change, { dueAt })
}

class OutOfTime extends JobFailure {
  constructor() {
    super('generation_timeout', 'the deadline came before the engine')
  }
}

/** Waits for an engine until the job's deadline. */
async function inTime(env: Env, job: JobRow, work: Promise<Progress>): Promise<Progress> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new OutOfTime()), msLeft(env, job))
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Best effort, for a start that comes through after nobody waits for it any more. */
async function cancelWhenStarted(
  { id }: JobRow,
  engine: Engine,
  work: Promise<Progress>,
): Promise<void> {
  const progress = await work.catch(() => undefined) // nothing runs, or nobody can say what
  if (!progress || progress.done) return
  await cancelWork({ id, engine, handle: progress.handle })
}

/** What a round of engines comes to: free to try again only if nothing can have run. */
function allFailed(job: JobRow, engines: Engines, failures: JobFailure[]): JobFailure {
  const code = failures.at(-1)?.code ?? job.errorCode ?? 'engine_unavailable'
  const spent =
    job.ambiguousStarts >= MAX_UNCLEAR_STARTS && engines.inOrder.every(({ paid }) => paid === true)
  const asked = failures.map(({ retryAfterSeconds }) => retryAfterSeconds ?? 0)
  return new JobFailure(code, spent ? 'no start is left' : 'no engine took the job', {
    retriable: !spent,
    // The first to be back is the one to come back for.
    retryAfterSeconds: asked.length > 0 ? Math.min(...asked) : undefined,
    ...(failures.length > 0 && failures.every((one) => one.work === 'refused' && isOutage(one))
      ? { work: 'refused' }
      : {}),
  })
}

const isOutage = (error: unknown): error is JobFailure =>
  error instanceof JobFailure && error.code === 'engine_unavailable'

const leftAlone = (engine: Engine, retryAfterSeconds: number) =>
  new JobFailure('engine_unavailable', `${engine.name} asked to be left alone`, {
    retriable: true,
    work: 'refused',
    retryAfterSeconds,
  })

const brokenDown = (engine: Engine, cause: unknown) =>
  new JobFailure('internal_error', `${engine.name} broke down`, {
    retriable: true,
    work: 'ambiguous',
    cause,
  })

function logFailure(job: JobRow, error: JobFailure, engine?: Engine): void {
  const { code, work, message: reason } = error
  const fields = { jobId: job.id, engine: engine?.name ?? job.engine, code, work, reason }
  const fault = faultOf(error)
  if (fault === undefined) log.warn('engine failed', fields)
  else log.error('engine failed', fault, fields)
}

/** The exception that nobody expected; undefined where a picture or a provider is to blame. */
export function faultOf(error: unknown): unknown {
  if (!(error instanceof JobFailure)) return error
  const mayBeOurs = error.code === 'internal_error' || error.code === 'generation_failed'
  return mayBeOurs ? error.cause : undefined
}
