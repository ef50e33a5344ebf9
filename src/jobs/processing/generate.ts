// Generates a job's picture: polls the work that runs at an engine, or starts work on the first engine
// that accepts the job. Paid starts follow the invariant in jobs/processing/claimed-job.
import { waitUntil } from 'cloudflare:workers'
import type { JobRow } from '../../platform/db/schema.ts'
import { JobFailure } from '../../domain/failure.ts'
import { enginesOf, type Engines } from '../../engines/choose-engine.ts'
import { refused, type Engine, type EngineInput, type Progress } from '../../engines/engine.ts'
import { withTimeout } from '../../platform/concurrency/with-timeout.ts'
import { log } from '../../platform/log.ts'
import { record } from '../../platform/metrics.ts'
import type { AckTimer } from '../../platform/queues/ack-timer.ts'
import { outputKey } from '../../platform/signing/signed-url.ts'
import { cancelLateStart } from '../cancel-work.ts'
import type { ClaimedJob } from './claimed-job.ts'
import {
  allEnginesFailed,
  crashed,
  DeadlineExceeded,
  isOutage,
  logEngineFailure,
} from './engine-failures.ts'
import { inputsOf } from './inputs.ts'
import { JOB_BYTES, type JobMemory } from './memory.ts'
import { loadPicture } from '../pictures.ts'
import { Postponed } from './postponed.ts'

/** A claimed job and the resources of the isolate and the invocation that its work uses. */
export interface JobContext {
  env: Env
  job: ClaimedJob
  /** Whether its organisation pays. */
  isPaying: boolean
  memory: JobMemory
  ackTimer: AckTimer
}

type Context = JobContext & { engines: Engines }

/**
 * Advances the work as far as possible. If it is not done, `job` contains the engine and its handle.
 * @throws JobFailure; the work continues if `job` still has a handle
 */
export async function generate(jobContext: JobContext): Promise<Progress> {
  const { env, job } = jobContext
  const context = { ...jobContext, engines: enginesOf(env) }
  return job.row.engineHandle === null ? startWork(context) : continueWork(context)
}

async function startWork(context: Context): Promise<Progress> {
  const { env, job, memory, ackTimer, engines } = context
  if (job.row.attempts > 1) {
    // Loading the input copies is fast. A paid start must precede the acknowledgement.
    if (engines.inOrder.some(({ paid }) => paid)) ackTimer.hold()
    await memory.reserve()
    const stored = await loadOutput(env, job.row)
    if (stored) {
      job.recordPicture(stored.engine)
      return { done: true, image: stored.image }
    }
  }
  return startOnFirst(context, engines.inOrder)
}

/** Polls the engine. If its work ended without a picture, tries the engines after it. */
async function continueWork(context: Context): Promise<Progress> {
  const { job, engines } = context
  const engine = job.row.engine === null ? undefined : engines.named(job.row.engine)
  try {
    return await poll(context, engine)
  } catch (error) {
    if (!(error instanceof JobFailure) || error.work !== 'over') throw error
    job.clearHandle(error)
    const others = engines.inOrder.slice(engine ? engines.inOrder.indexOf(engine) + 1 : 0)
    if (!error.retriable || others.length === 0 || !job.canAttemptAgain) throw error
    logEngineFailure(job, error)
    await job.beginAttempt()
    return startOnFirst(context, others)
  }
}

/** Loads a picture that was stored before a crash, so that it is not generated and paid for twice. */
export async function loadOutput(env: Env, job: Readonly<JobRow>) {
  const image = await loadPicture(env, (format) => outputKey(job.id, format))
  return image && { engine: image.engine ?? job.engine, image }
}

async function poll(context: Context, engine: Engine | undefined): Promise<Progress> {
  const { job, memory, ackTimer } = context
  const handle = job.row.engineHandle
  if (!engine?.poll || handle === null) {
    throw new JobFailure('engine_unavailable', `${job.row.engine} is no longer configured`, {
      retriable: true,
      work: 'over',
    })
  }
  // A provider's picture can be as large as both inputs.
  await memory.reserve()
  await memory.resize(JOB_BYTES)
  // If the timer has already expired and the poll is aborted, the next poll requests the same picture.
  ackTimer.hold()
  const work = engine.poll(handle)
  const progress = await measured(context, engine, 'poll', () => withDeadline(job, work))
  if (!progress.done) job.replaceHandle(progress.handle)
  return progress
}

/** Starts the job on the first engine that accepts it. */
async function startOnFirst(context: Context, candidates: readonly Engine[]): Promise<Progress> {
  const { env, job, isPaying, memory, ackTimer, engines } = context
  const { model, garment, bytes, storeCopies } = await inputsOf(env, job.row, memory)
  // A paid engine also uses memory for encoded inputs and for its result.
  await memory.resize(candidates.some(({ paid }) => paid) ? JOB_BYTES : bytes)
  const { organisationId } = job.row
  const input = { jobId: job.id, organisationId, isPaying, model, garment }
  const failures: JobFailure[] = []
  // Whether an engine has started work in this attempt. The next start then counts as another attempt.
  let hasStarted = false
  for (const engine of candidates) {
    if (engine.paid && !job.mayStartPaid) continue
    const breaker = engines.breakerOf(engine)
    const secondsToWait = breaker.secondsToWait()
    if (secondsToWait > 0) {
      failures.push(refused(`${engine.name} requested a pause`, secondsToWait))
      continue
    }
    // The runtime aborts work 30 s after the acknowledgement, which must not happen to a paid start.
    if (engine.paid && !ackTimer.hold()) {
      await storeCopies()
      throw new Postponed('a paid engine needs a new message', { afterSeconds: 0 })
    }
    // The last engine is tried even while its circuit breaker is open.
    if (engine !== candidates.at(-1) && !breaker.allowsStart()) continue
    if (hasStarted) {
      if (!job.canAttemptAgain) break
      job.countAttempt()
      hasStarted = false
    }
    try {
      const progress = await measured(context, engine, 'start', () => start(job, engine, input))
      breaker.succeeded()
      return progress
    } catch (error) {
      if (!(error instanceof JobFailure)) throw error
      job.recordFailure(error)
      if (!error.retriable) throw error
      logEngineFailure(job, error, engine)
      failures.push(error)
      hasStarted = error.work === 'ambiguous' || error.work === 'over'
    }
  }
  await storeCopies()
  const failure = allEnginesFailed(job, engines, failures)
  job.recordFailure(failure)
  throw failure
}

/** @throws DeadlineExceeded */
const withDeadline = (job: ClaimedJob, work: Promise<Progress>) =>
  withTimeout(work, job.msLeft, () => new DeadlineExceeded())

async function start(job: ClaimedJob, engine: Engine, input: EngineInput): Promise<Progress> {
  if (job.msLeft === 0) throw new DeadlineExceeded()
  if (engine.paid) await job.recordIntent(engine.name)
  const work = engine.start(input)
  try {
    const progress = await withDeadline(job, work)
    if (progress.done) job.recordPicture(engine.name)
    else job.recordHandle(engine.name, progress.handle)
    return progress
  } catch (error) {
    if (error instanceof DeadlineExceeded) waitUntil(cancelLateStart(job.id, engine, work))
    if (!engine.paid) throw error
    const failure = error instanceof JobFailure ? error : crashed(engine, error)
    job.recordFailedStart(failure.work)
    throw failure
  }
}

/**
 * Makes a call and records it. The outcome is `done`, `running` or the error code. The circuit breaker of the
 * engine learns of an outage.
 * @throws the error of the call
 */
async function measured(
  { env, job, engines }: Context,
  engine: Engine,
  call: 'start' | 'poll',
  work: () => Promise<Progress>,
): Promise<Progress> {
  const { name } = engine
  job.latestEngine = name
  const startedAt = Date.now()
  const finish = (outcome: string) => {
    const labels = { engine: name, outcome, call }
    record(env, 'engine', labels, Date.now() - startedAt, job.row.organisationId)
  }
  try {
    const progress = await work()
    finish(progress.done ? 'done' : 'running')
    return progress
  } catch (error) {
    finish(error instanceof JobFailure ? error.code : 'internal_error')
    if (isOutage(error) && engines.breakerOf(engine).failed(error.retryAfterSeconds)) {
      log.warn('circuit breaker opened', { engine: name, reason: error.message })
      record(env, 'breaker_opened', { engine: name })
    }
    throw error
  }
}
