// Work on a job, driven by messages of its queue (jobs/queue). A message may come twice, late or
// while another consumer is at the same job; the claim in D1 decides who works, and the job's row,
// not the message, says what is left to do.
import type { JobRow } from '../db/schema.ts'
import { JobFailure } from '../domain/failure.ts'
import type { Progress } from '../engines/engine.ts'
import { pollAfterSeconds } from '../engines/handle.ts'
import { simulate } from '../engines/placeholder.ts'
import type { ImageFormat } from '../domain/image.ts'
import { AckTimer } from '../queues/ack-timer.ts'
import { log } from '../log.ts'
import { organisationStub } from '../organisation/stub.ts'
import { outputKey } from '../signing/signed-url.ts'
import { withdrawJob } from './cancel.ts'
import { msLeft } from './deadline.ts'
import {
  cancelWorkOf,
  earlierOutput,
  faultOf,
  generate,
  LostJob,
  MAX_ATTEMPTS,
} from './generate.ts'
import { deleteInputs } from './inputs.ts'
import { JobMemory, MemoryBudget } from './memory.ts'
import { deletePictures, storePicture } from './pictures.ts'
import { Postponed } from './postponed.ts'
import { messageOf, sendJob } from './queue.ts'
import type { JobMessage } from './queue.ts'
import { scenarioOf } from '../domain/scenario.ts'
import { settleEnded, settleJob } from './settle.ts'
import { JobSlots } from './slots.ts'
import type { Slot } from './slots.ts'
import { isFinal } from '../domain/job.ts'
import type { JobErrorCode } from '../domain/job.ts'
import { claimJob, findJob, saveJob } from './store.ts'
import type { Ending } from './store.ts'

const MAX_BACK_OFF_SECONDS = 60

/** What is to become of the message. */
export type Verdict = { done: true } | { done: false; retryAfterSeconds: number }

const DONE: Verdict = { done: true }

/** How long the message of a live job waits for its work; after that, the work goes on without it. */
const ACK_AFTER_MS = 2_000
/** The same while another job of its organisation is slow: most likely, this one is slow as well. */
const ACK_NEXT_AFTER_MS = 250

/** Live jobs in processing in this isolate: of one organisation, and of all. */
const MAX_OF_ORGANISATION = 4
const MAX_LIVE_JOBS = 16
/** An isolate has 128 MB; a composition needs most of it besides the files. */
const MAX_PICTURE_BYTES = 40 * 1024 * 1024

const slots = new JobSlots({ perOrganisation: MAX_OF_ORGANISATION, total: MAX_LIVE_JOBS })
const pictureMemory = new MemoryBudget(MAX_PICTURE_BYTES)

/**
 * Takes a job as far as it can go now. Does not throw for reasons of the job's own. A live job of an
 * organisation that has its share of this isolate is not claimed: another message is sent for it.
 */
export async function processJob({
  env,
  ackTimer = new AckTimer(),
  ...message
}: JobMessage & { env: Env; ackTimer?: AckTimer }): Promise<Verdict> {
  if (message.mode === 'test') return claimAndWork(env, message, ackTimer, undefined)
  const { organisationId = '' } = message
  const slot = slots.enter(organisationId)
  if (!slot) {
    // Not a retry of this message: a queue retries one a few times only, and in front of the others.
    await sendJob(env, message, { delaySeconds: slots.delaySeconds(organisationId) })
    return DONE
  }
  try {
    // Messages wait here before the claim, where neither a lease nor a deadline runs.
    await slots.begin(slot)
    const ackAfterMs = slots.hasSlow(organisationId) ? ACK_NEXT_AFTER_MS : ACK_AFTER_MS
    ackTimer.start(ackAfterMs, () => slots.acknowledged(slot))
    const verdict = await claimAndWork(env, message, ackTimer, slot)
    ackTimer.stop()
    if (verdict.done || !ackTimer.isExpired) return verdict
    await sendJob(env, message, { delaySeconds: verdict.retryAfterSeconds })
    return DONE
  } finally {
    slots.leave(slot)
  }
}

async function claimAndWork(
  env: Env,
  { jobId, swept = false }: JobMessage,
  ackTimer: AckTimer,
  slot: Slot | undefined,
): Promise<Verdict> {
  const { claimed, found } = await claimJob(env, jobId)
  if (!claimed) return passOver(env, jobId, found)
  const job = { ...claimed }
  const memory = new JobMemory(pictureMemory, {
    organisationId: job.organisationId,
    get expiresAt() {
      return slot?.expiresAt ?? Infinity
    },
  })
  try {
    if (swept && !(await isPaidFor(env, job))) {
      throw new JobFailure('internal_error', 'its credit was given back')
    }
    if (msLeft(env, job) === 0) return await endLate(env, job, 'generation_timeout')
    const progress =
      job.mode === 'test' ? simulateJob(job) : await generate(env, job, { memory, ackTimer })
    return await follow(env, job, progress)
  } catch (error) {
    return await failOrRetry(env, job, error)
  } finally {
    await memory.release()
  }
}

/**
 * A job whose insert seemed to fail, so that its client was refused and its credit given back, may be
 * stored all the same. No message was sent for it then, and only the sweep comes upon it.
 */
const isPaidFor = async (env: Env, job: JobRow): Promise<boolean> =>
  job.mode === 'test' || organisationStub(env, job.organisationId).renewReservation(job.id)

/**
 * For a message whose retries are spent: fails the job unless it is over or in other hands. One that
 * was never begun is not at fault, and the sweep sends another message for it.
 */
export async function giveUpJob({ env, jobId }: JobMessage & { env: Env }): Promise<void> {
  if ((await findJob(env, jobId))?.status === 'pending') return
  const { claimed, found } = await claimJob(env, jobId)
  if (claimed) await endLate(env, claimed, claimed.errorCode ?? 'internal_error')
  else await passOver(env, jobId, found)
}

/** Ends a job that gets no more time: with the picture, if one was stored before a crash. */
async function endLate(env: Env, job: JobRow, errorCode: JobErrorCode): Promise<Verdict> {
  const earlier = job.mode === 'live' ? await earlierOutput(env, job) : null
  return earlier ? follow(env, job, earlier) : fail(env, job, errorCode)
}

/** There was nothing to claim: finds out why, and makes good what an earlier crash left out. */
async function passOver(env: Env, jobId: string, found: JobRow | undefined): Promise<Verdict> {
  if (!found) log.warn('message for a job that does not exist', { jobId })
  else if (isFinal(found.status)) await settleEnded(env, [found])
  else if (found.status === 'pending') await withdrawJob({ env, jobId }) // it was suspended
  // Otherwise another consumer has it. Should that one have died, the sweep sees the lease end.
  return DONE
}

function simulateJob(job: JobRow): Progress {
  const scenario = scenarioOf([job.modelImageUrl, job.garmentImageUrl])
  const progress = simulate(scenario, job.startedAt ?? new Date())
  if (!progress.done) job.engineHandle = progress.handle
  return progress
}

async function follow(env: Env, job: JobRow, progress: Progress): Promise<Verdict> {
  if (!progress.done) return comeBack(env, job, progress.pollAfterSeconds)
  const { image } = progress
  await storePicture(env, outputKey(job.id, image.format), image, job.engine ?? undefined)
  const ended = await end(env, job, {
    status: 'completed',
    outputFormat: image.format,
    ...(job.engine === null ? {} : { engine: job.engine }),
  })
  if (!ended) await deleteUnused(env, job, image.format)
  return DONE
}

/**
 * Hands the job back and sends another message for it, at the deadline at the latest. Not by
 * retrying this message: a queue retries one a few times only.
 */
async function comeBack(
  env: Env,
  job: JobRow,
  afterSeconds: number,
  errorCode?: JobErrorCode,
): Promise<Verdict> {
  const delaySeconds = Math.min(afterSeconds, Math.ceil(msLeft(env, job) / 1_000))
  // Due a little before the message comes: one that came too early would be passed over.
  const dueAt = new Date(Date.now() + (delaySeconds - 1) * 1_000)
  if (!(await handBack(env, job, dueAt, errorCode))) return { done: false, retryAfterSeconds: 1 }
  await sendJob(env, messageOf(job), { delaySeconds })
  return DONE
}

/**
 * What is in `job` must not get lost with a hiccup of the database: a handle may be in it.
 * @returns false when the job is over or in other hands; the message finds out which by coming again
 */
async function handBack(
  env: Env,
  job: JobRow,
  dueAt: Date,
  errorCode: JobErrorCode | undefined,
): Promise<boolean> {
  const change = { dueAt, ...(errorCode === undefined ? {} : { errorCode }) }
  return saveJob(env, job, change).catch(() => saveJob(env, job, change))
}

async function failOrRetry(env: Env, job: JobRow, error: unknown): Promise<Verdict> {
  if (error instanceof LostJob) {
    log.warn('job lost to another consumer', { jobId: job.id })
    return DONE
  }
  if (error instanceof Postponed) {
    log.info('job postponed', { jobId: job.id, reason: error.message })
    // Asking an engine for its progress did not count in the first place.
    if (error.isUntouched && job.engineHandle === null) job.attempts -= 1
    return comeBack(env, job, error.afterSeconds)
  }
  const known = error instanceof JobFailure
  const code: JobErrorCode = known ? error.code : 'internal_error'
  const reason = known ? error.message : undefined
  const fields = { jobId: job.id, attempt: job.attempts, engine: job.engine, code, reason }
  const fault = faultOf(error)
  if (fault === undefined) log.info('attempt failed', fields)
  else log.error('attempt failed', fault, fields)

  if (known && !error.retriable) return fail(env, job, code)
  const asked = Math.min((known && error.retryAfterSeconds) || 0, MAX_BACK_OFF_SECONDS)
  const byAge = Math.max(asked, pollAfterSeconds(job.startedAt?.getTime() ?? Date.now()))
  // Work goes on at an engine: it is asked after until the deadline, and nothing is begun anew.
  if (job.engineHandle !== null) return comeBack(env, job, byAge)
  if (known && error.work === 'refused') {
    // Nothing was begun, so this was no attempt; but a try past the deadline would be none either.
    job.attempts -= 1
    const hopeless = byAge * 1_000 >= msLeft(env, job)
    return hopeless ? fail(env, job, code) : comeBack(env, job, byAge, code)
  }
  const retryAfterSeconds = Math.max(asked, Math.min(2 ** job.attempts, MAX_BACK_OFF_SECONDS))
  const dueAt = new Date(Date.now() + retryAfterSeconds * 1_000)
  if (job.attempts >= MAX_ATTEMPTS || retryAfterSeconds * 1_000 >= msLeft(env, job)) {
    return fail(env, job, code)
  }
  await handBack(env, job, dueAt, code)
  return { done: false, retryAfterSeconds }
}

async function fail(env: Env, job: JobRow, errorCode: JobErrorCode): Promise<Verdict> {
  let mayBeOurs = true
  try {
    mayBeOurs = await end(env, job, { status: 'failed', errorCode })
  } finally {
    if (mayBeOurs) await cancelWorkOf(env, job) // the row has forgotten the handle by now
  }
  return DONE
}

/** @returns false when the job was over or in other hands, which need what is left of it */
async function end(env: Env, job: JobRow, ending: Ending): Promise<boolean> {
  const ended = await settleJob(env, job, ending)
  if (!ended) return false
  if (job.mode === 'live' && ending.status === 'failed') await deleteAll(env, job)
  else await deleteInputs(env, job)
  return true
}

/** The job ended before its picture was stored: deletes the picture, unless it is the job's result. */
async function deleteUnused(env: Env, { id }: JobRow, format: ImageFormat): Promise<void> {
  const found = await findJob(env, id)
  const isResult = found && (!isFinal(found.status) || found.outputFormat === format)
  if (!isResult) await env.IMAGES.delete(outputKey(id, format))
}

/**
 * An attempt may have stored the result and crashed before it completed the job. Best effort:
 * retention deletes what is left.
 */
const deleteAll = (env: Env, { id }: JobRow): Promise<void> =>
  deletePictures(env, [id]).catch((error: unknown) =>
    log.error('pictures left to retention', error, { jobId: id }),
  )
