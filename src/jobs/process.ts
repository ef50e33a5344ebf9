// Processes jobs from the messages of their queue (jobs/queue). A message may arrive twice, late, or
// while another consumer works on the job. The claim in D1 decides which consumer processes the
// job. The remaining work is derived from the job's row, not from the message.
import type { JobRow } from '../db/schema.ts'
import { errorDocsPath } from '../domain/docs.ts'
import { JobFailure } from '../domain/failure.ts'
import { hostOf } from '../domain/host.ts'
import { isFinal } from '../domain/job.ts'
import { scenarioOf } from '../domain/scenario.ts'
import type { Progress } from '../engines/engine.ts'
import { pollAfterSeconds } from '../engines/handle.ts'
import { simulate } from '../engines/placeholder.ts'
import { addLogFields, log } from '../log.ts'
import { organisationStub } from '../organisation/stub.ts'
import { AckTimer } from '../queues/ack-timer.ts'
import { withdrawJob } from './cancel.ts'
import { ClaimedJob, ClaimLost } from './claimed-job.ts'
import { claimJob } from './claims.ts'
import { DeadlineExceeded } from './deadline.ts'
import { unexpectedCauseOf } from './engine-failures.ts'
import { recordOf } from './failure-record.ts'
import type { FailureRecord } from './failure-record.ts'
import { completeJob, failJob } from './finish.ts'
import { generate, loadOutput } from './generate.ts'
import { holdOf } from './hold.ts'
import { JobMemory, MemoryBudget } from './memory.ts'
import { Postponed } from './postponed.ts'
import { messageOf, sendJob } from './queue.ts'
import type { JobMessage } from './queue.ts'
import { settleEnded } from './settle.ts'
import { JobSlots } from './slots.ts'
import type { Slot } from './slots.ts'
import { findJob } from './store.ts'

const MAX_BACKOFF_SECONDS = 60

/** Whether to acknowledge the message or to retry it. */
export type ProcessResult = { done: true } | { done: false; retryAfterSeconds: number }

const DONE: ProcessResult = { done: true }

/** A live job's message is acknowledged after this time, and its work continues without it, ms. */
const ACK_AFTER_MS = 2_000
/** Used instead while another job of the organisation is slow: this job is probably slow too, ms. */
const ACK_NEXT_AFTER_MS = 250

/** The maximum numbers of live jobs that one isolate processes at a time. */
const MAX_JOBS_PER_ORGANISATION = 4
const MAX_LIVE_JOBS = 16
/** An isolate has 128 MB. A composition needs most of it in addition to the files. */
const MAX_PICTURE_BYTES = 40 * 1024 * 1024

const slots = new JobSlots({ perOrganisation: MAX_JOBS_PER_ORGANISATION, total: MAX_LIVE_JOBS })
const pictureMemory = new MemoryBudget(MAX_PICTURE_BYTES)

/**
 * Advances a job as far as possible. Failures of the job are handled, not thrown. If the organisation
 * uses all its slots in this isolate, the job is requeued without a claim.
 */
export async function processJob({
  env,
  ackTimer = new AckTimer(),
  ...message
}: JobMessage & { env: Env; ackTimer?: AckTimer }): Promise<ProcessResult> {
  if (message.mode === 'test') return claimAndProcess({ env, message, ackTimer })
  const { organisationId = '' } = message
  const slot = slots.enter(organisationId)
  if (!slot) {
    // A retry would count against the message's limit of retries and run before other messages.
    await sendJob(env, message, { delaySeconds: slots.delaySeconds(organisationId) })
    return DONE
  }
  try {
    // Waits before the claim, so that lease and deadline have not started.
    await slots.start(slot)
    const ackAfterMs = slots.hasSlow(organisationId) ? ACK_NEXT_AFTER_MS : ACK_AFTER_MS
    ackTimer.start(ackAfterMs, () => slots.acknowledged(slot))
    const result = await claimAndProcess({ env, message, ackTimer, slot })
    ackTimer.stop()
    if (result.done || !ackTimer.isExpired) return result
    await sendJob(env, message, { delaySeconds: result.retryAfterSeconds })
    return DONE
  } finally {
    slots.leave(slot)
  }
}

/**
 * Handles a message without remaining retries: fails the job unless it has ended or another consumer
 * has claimed it. The sweep requeues a pending job, because no attempt was made.
 */
export async function giveUpJob({
  env,
  jobId,
  organisationId,
}: JobMessage & { env: Env }): Promise<void> {
  if ((await findJob(env, jobId))?.status === 'pending') return
  const seenAt = Date.now()
  const { claimed, found } = await claimJob({ env, jobId, organisationId })
  if (!claimed) {
    await skipUnclaimed({ env, jobId, found, seenAt })
    return
  }
  addLogFields(idsOf(claimed))
  const { errorCode, failureReason, failureAudience } = claimed
  const latest =
    errorCode === null
      ? recordOf(new JobFailure('internal_error', 'no attempt ended, and no retry is left'))
      : { errorCode, failureReason, failureAudience }
  await completeOrFail(env, new ClaimedJob(env, claimed), latest)
}

async function claimAndProcess({
  env,
  message: { jobId, organisationId, swept = false },
  ackTimer,
  slot,
}: {
  env: Env
  message: JobMessage
  ackTimer: AckTimer
  slot?: Slot
}): Promise<ProcessResult> {
  const seenAt = Date.now()
  const { claimed, found } = await claimJob({ env, jobId, organisationId })
  if (!claimed) return skipUnclaimed({ env, jobId, found, seenAt })
  addLogFields(idsOf(claimed))
  const job = new ClaimedJob(env, claimed)
  const memory = new JobMemory(pictureMemory, {
    organisationId: claimed.organisationId,
    get expiresAt() {
      return slot?.expiresAt ?? Infinity
    },
  })
  try {
    if (swept && !(await hasReservation(env, claimed))) {
      throw new JobFailure('internal_error', 'its credit has been released')
    }
    if (job.msLeft === 0) {
      await completeOrFail(env, job, recordOf(new DeadlineExceeded()))
      return DONE
    }
    const progress =
      claimed.mode === 'test' ? simulateJob(job) : await generate({ env, job, memory, ackTimer })
    return await applyProgress(env, job, progress)
  } catch (error) {
    return await failOrRetry(env, job, error)
  } finally {
    await memory.release()
  }
}

/**
 * Handles a message whose job could not be claimed: completes what an earlier crash interrupted. If
 * another consumer has claimed the job and crashes, the sweep requeues the job after the lease. A pending
 * job is held by a scenario, withdrawn by a scenario, or of a suspended organisation.
 * @param seenAt an instant before the claim, ms since 1970: the hold may have ended since the claim
 */
async function skipUnclaimed({
  env,
  jobId,
  found,
  seenAt,
}: {
  env: Env
  jobId: string
  found: JobRow | undefined
  seenAt: number
}): Promise<ProcessResult> {
  if (!found) log.warn('message for a job that does not exist', { jobId })
  else if (isFinal(found.status)) await settleEnded(env, [found])
  else if (found.status === 'pending') {
    const heldMs = holdOf(found).until.getTime() - seenAt
    if (heldMs > 0) return { done: false, retryAfterSeconds: Math.ceil(heldMs / 1_000) }
    await withdrawJob({ env, jobId })
  }
  return DONE
}

/**
 * Returns false for a job that an insert stored although it reported an error: the client received an
 * error and the credit was released. Such a job has no message, so only the sweep finds it.
 */
const hasReservation = async (env: Env, job: JobRow): Promise<boolean> =>
  job.mode === 'test' || organisationStub(env, job.organisationId).renewReservation(job.id)

/** Ends a job that gets no more attempts. Completes it if a crash left a stored picture. */
async function completeOrFail(env: Env, job: ClaimedJob, failure: FailureRecord): Promise<void> {
  const stored = job.row.mode === 'live' ? await loadOutput(env, job.row) : null
  if (!stored) return failJob(env, job, failure)
  job.recordPicture(stored.engine)
  return completeJob(env, job, stored.progress.image)
}

function simulateJob(job: ClaimedJob): Progress {
  const { modelImageUrl, garmentImageUrl, startedAt } = job.row
  const progress = simulate(scenarioOf([modelImageUrl, garmentImageUrl]), startedAt ?? new Date())
  if (!progress.done) job.replaceHandle(progress.handle)
  return progress
}

async function applyProgress(
  env: Env,
  job: ClaimedJob,
  progress: Progress,
): Promise<ProcessResult> {
  if (!progress.done) return requeue({ env, job, afterSeconds: progress.pollAfterSeconds })
  await completeJob(env, job, progress.image)
  return DONE
}

/**
 * Releases the lease and sends a new message, delayed until the deadline at most. A retry of this
 * message would count against its limit of retries.
 */
async function requeue({
  env,
  job,
  afterSeconds,
  failure,
}: {
  env: Env
  job: ClaimedJob
  afterSeconds: number
  failure?: FailureRecord
}): Promise<ProcessResult> {
  const delaySeconds = Math.min(afterSeconds, Math.ceil(job.msLeft / 1_000))
  // The lease ends one second before the message is due, so that an early message can claim the job.
  const dueAt = new Date(Date.now() + (delaySeconds - 1) * 1_000)
  if (!(await job.release(dueAt, failure))) return { done: false, retryAfterSeconds: 1 }
  await sendJob(env, messageOf(job.row), { delaySeconds })
  return DONE
}

async function failOrRetry(env: Env, job: ClaimedJob, error: unknown): Promise<ProcessResult> {
  if (error instanceof ClaimLost) {
    log.warn('claim lost to another consumer', { jobId: job.id })
    return DONE
  }
  const isPolling = job.row.engineHandle !== null
  if (error instanceof Postponed) {
    log.info('job postponed', { jobId: job.id, reason: error.message })
    // The claim for a poll was not counted as an attempt.
    if (error.isUntouched && !isPolling) job.uncountAttempt()
    return requeue({ env, job, afterSeconds: error.afterSeconds })
  }
  logAttempt(job, error)
  const failure = error instanceof JobFailure ? error : undefined
  const record = recordOf(error)
  const fail = () => failJob(env, job, record).then(() => DONE)
  if (failure && !failure.retriable) return fail()

  const requestedSeconds = Math.min(failure?.retryAfterSeconds ?? 0, MAX_BACKOFF_SECONDS)
  const startedAtMs = job.row.startedAt?.getTime() ?? Date.now()
  const afterSeconds = Math.max(requestedSeconds, pollAfterSeconds(startedAtMs))
  // The work continues at the engine: polls it until the deadline and does not start other work.
  if (isPolling) return requeue({ env, job, afterSeconds })
  if (failure?.work === 'refused') {
    // Nothing was started, so this was not an attempt.
    job.uncountAttempt()
    if (afterSeconds * 1_000 >= job.msLeft) return fail()
    return requeue({ env, job, afterSeconds, failure: record })
  }
  const backoffSeconds = Math.min(2 ** job.row.attempts, MAX_BACKOFF_SECONDS)
  const retryAfterSeconds = Math.max(requestedSeconds, backoffSeconds)
  if (!job.canAttemptAgain || retryAfterSeconds * 1_000 >= job.msLeft) return fail()
  await job.release(new Date(Date.now() + retryAfterSeconds * 1_000), record)
  return { done: false, retryAfterSeconds }
}

/** What joins the log lines of a job with those of its request. */
const idsOf = ({ organisationId, requestId, mode }: JobRow) => ({ organisationId, requestId, mode })

function logAttempt({ id, row, latestEngine }: ClaimedJob, error: unknown): void {
  const { code, message: reason } =
    error instanceof JobFailure ? error : { code: 'internal_error', message: undefined }
  const docsUrl = errorDocsPath(code)
  const fields = {
    jobId: id,
    ...idsOf(row),
    attempt: row.attempts,
    engine: latestEngine ?? row.engine,
    code,
    host: hostOfPicture(row, code),
    docsUrl,
    reason,
  }
  const cause = unexpectedCauseOf(error)
  if (cause === undefined) log.info('attempt failed', fields)
  else log.error('attempt failed', cause, fields)
}

/** The host of the picture that an error code is about; undefined for other codes. */
function hostOfPicture(row: Readonly<JobRow>, code: string): string | undefined {
  const [, role] = /^(model|garment)_image_/.exec(code) ?? []
  const url = role === 'model' ? row.modelImageUrl : role ? row.garmentImageUrl : null
  const parsed = url === null ? null : URL.parse(url)
  return parsed ? hostOf(parsed) : undefined
}
