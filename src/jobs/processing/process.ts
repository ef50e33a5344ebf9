// Processes jobs from the messages of their queue (jobs/queue). A message may arrive twice, late, or
// while another consumer works on the job. The claim in D1 decides which consumer processes the
// job. The remaining work is derived from the job's row, not from the message.
//
// From top to bottom: a message gets a slot and a claim, the work leads to a step, and the step is applied:
// it ends the job (jobs/processing/end) and settles it (jobs/processing/settle), or queues it again.
import type { JobRow } from '../../platform/db/schema.ts'
import { JobFailure } from '../../domain/failure.ts'
import { isFinal } from '../../domain/job.ts'
import { scenarioOf } from '../../domain/scenario.ts'
import type { Progress } from '../../engines/engine.ts'
import type { ImageFile } from '../../domain/image.ts'
import { simulate } from '../../engines/placeholder.ts'
import { addLogFields, log } from '../../platform/log.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'
import { standingOf } from '../../organisations/closed-organisations.ts'
import { AckTimer } from '../../platform/queues/ack-timer.ts'
import { withdrawJob } from '../cancel.ts'
import { cancelWorkOf } from '../cancel-work.ts'
import { findJob } from '../job-store.ts'
import { messageOf, sendJob, type JobMessage } from '../queue.ts'
import { storeOutput } from '../store-output.ts'
import { ClaimedJob } from './claimed-job.ts'
import { claimJob } from './claims.ts'
import { endJob, type EndingFrom } from './end.ts'
import { DeadlineExceeded } from './engine-failures.ts'
import { recordOf, type FailureRecord } from './failure-record.ts'
import { generate, loadOutput } from './generate.ts'
import { holdOf } from './hold.ts'
import { JobMemory, MemoryBudget } from './memory.ts'
import { idsOf, stepAfterError, type Step } from './next-step.ts'
import { settleAgain, settleProcessed } from './settle.ts'
import { JobSlots, type Slot } from './slots.ts'

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
 * @returns the seconds after which to retry the message; undefined to acknowledge it
 */
export async function processJob({
  env,
  ackTimer = new AckTimer(),
  ...message
}: JobMessage & { env: Env; ackTimer?: AckTimer }): Promise<number | undefined> {
  if (message.mode === 'test') return claimAndProcess(env, message, ackTimer)
  const { organisationId = '' } = message
  const slot = slots.enter(organisationId)
  if (!slot) {
    // A retry would count against the message's limit of retries and run before other messages.
    await sendJob(env, message, { delaySeconds: slots.delaySeconds(organisationId) })
    return undefined
  }
  try {
    // Waits before the claim, so that lease and deadline have not started.
    await slots.start(slot, async () => (await standingOf(env, organisationId)).isPaying)
    ackTimer.start(slots.hasSlow(organisationId), () => slots.acknowledged(slot))
    const delaySeconds = await claimAndProcess(env, message, ackTimer, slot)
    ackTimer.stop()
    if (delaySeconds === undefined || !ackTimer.isExpired) return delaySeconds
    await sendJob(env, message, { delaySeconds })
    return undefined
  } finally {
    slots.leave(slot)
  }
}

/**
 * Handles a message without remaining retries: fails the job unless it has ended or another consumer
 * has claimed it. The sweep requeues a pending job, because no attempt was made.
 */
export async function giveUpJob(message: JobMessage & { env: Env }): Promise<void> {
  const { env, jobId } = message
  if ((await findJob(env, jobId))?.status === 'pending') return
  const seenAt = Date.now()
  const { claimed, found } = await claimJob(message)
  if (!claimed) {
    await skipUnclaimed(env, jobId, found, seenAt)
    return
  }
  addLogFields(idsOf(claimed))
  const { errorCode, failureReason, failureAudience } = claimed
  const latest =
    errorCode === null
      ? recordOf(new JobFailure('internal_error', 'no attempt ended, and no retry is left'))
      : { errorCode, failureReason, failureAudience }
  const job = new ClaimedJob(env, claimed)
  await apply(env, job, await lastStep(env, job, latest))
}

async function claimAndProcess(
  env: Env,
  { jobId, organisationId, swept = false }: JobMessage,
  ackTimer: AckTimer,
  slot?: Slot,
): Promise<number | undefined> {
  const seenAt = Date.now()
  const { claimed, found, isPaying } = await claimJob({ env, jobId, organisationId })
  if (!claimed) return skipUnclaimed(env, jobId, found, seenAt)
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
    const step =
      job.msLeft === 0
        ? await lastStep(env, job, recordOf(new DeadlineExceeded()))
        : stepOf(
            claimed.mode === 'test'
              ? simulateJob(job)
              : await generate({ env, job, isPaying, memory, ackTimer }),
          )
    return await apply(env, job, step)
  } catch (error) {
    return await apply(env, job, stepAfterError(job, error))
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
async function skipUnclaimed(
  env: Env,
  jobId: string,
  found: JobRow | undefined,
  seenAt: number,
): Promise<number | undefined> {
  if (!found) log.warn('message for a job that does not exist', { jobId })
  else if (isFinal(found.status)) await settleAgain(env, [found])
  else if (found.status === 'pending') {
    const heldMs = holdOf(found).until.getTime() - seenAt
    if (heldMs > 0) return Math.ceil(heldMs / 1_000)
    await withdrawJob({ env, jobId })
  }
  return undefined
}

/**
 * Returns false for a job that an insert stored although it reported an error: the client received an
 * error and the credit was released. Such a job has no message, so only the sweep finds it.
 */
const hasReservation = async (env: Env, job: JobRow): Promise<boolean> =>
  job.mode === 'test' || organisationStub(env, job.organisationId).renewReservation(job.id)

/** The step of a job that gets no more attempts. It is completed if a crash left a stored picture. */
async function lastStep(env: Env, job: ClaimedJob, failure: FailureRecord): Promise<Step> {
  const stored = job.row.mode === 'live' ? await loadOutput(env, job.row) : null
  if (!stored) return { to: 'failed', failure }
  job.recordPicture(stored.engine)
  return { to: 'completed', image: stored.image }
}

function simulateJob(job: ClaimedJob): Progress {
  const { modelImageUrl, garmentImageUrl, startedAt } = job.row
  const progress = simulate(scenarioOf([modelImageUrl, garmentImageUrl]), startedAt ?? new Date())
  if (!progress.done) job.replaceHandle(progress.handle)
  return progress
}

const stepOf = (progress: Progress): Step =>
  progress.done
    ? { to: 'completed', image: progress.image }
    : { to: 'requeued', afterSeconds: progress.pollAfterSeconds }

/** @returns the seconds after which to retry the message; undefined to acknowledge it */
async function apply(env: Env, job: ClaimedJob, step: Step): Promise<number | undefined> {
  switch (step.to) {
    case 'completed':
      await complete(env, job, step.image)
      return undefined
    case 'failed':
      await fail(env, job, step.failure)
      return undefined
    case 'requeued':
      return requeue(env, job, step)
    case 'retried':
      await job.release(new Date(Date.now() + step.afterSeconds * 1_000), step.failure)
      return step.afterSeconds
    case 'left':
      return undefined
  }
}

/**
 * Releases the lease and sends a new message, delayed until the deadline at most. A retry of this
 * message would count against its limit of retries.
 */
async function requeue(
  env: Env,
  job: ClaimedJob,
  { afterSeconds, failure }: Step & { to: 'requeued' },
): Promise<number | undefined> {
  const delaySeconds = Math.min(afterSeconds, Math.ceil(job.msLeft / 1_000))
  // The lease ends one second before the message is due, so that an early message can claim the job.
  const dueAt = new Date(Date.now() + (delaySeconds - 1) * 1_000)
  if (!(await job.release(dueAt, failure))) return 1
  await sendJob(env, messageOf(job.row), { delaySeconds })
  return undefined
}

async function complete(env: Env, job: ClaimedJob, image: ImageFile): Promise<void> {
  const { engine } = job.row
  const key = await storeOutput(env, { jobId: job.id, engine }, image)
  const isEnded = await end(env, job, {
    status: 'completed',
    outputFormat: image.format,
    ...(engine === null ? {} : { engine }),
  })
  if (isEnded) return
  // The job had ended before its picture was stored. The picture may be its output nevertheless.
  const found = await findJob(env, job.id)
  const isOutput = found && (!isFinal(found.status) || found.outputFormat === image.format)
  if (!isOutput) await env.IMAGES.delete(key)
}

async function fail(env: Env, job: ClaimedJob, failure: FailureRecord): Promise<void> {
  let mayBeEnded = true
  try {
    mayBeEnded = await end(env, job, { status: 'failed', ...failure })
  } finally {
    // The handle is no longer in D1, only in memory.
    if (mayBeEnded) await cancelWorkOf(env, job.row)
  }
}

/** @returns false, without effects, when the job had ended or its claim was lost */
async function end(
  env: Env,
  { id: jobId, row: before }: ClaimedJob,
  ending: EndingFrom<'processing'>,
): Promise<boolean> {
  // A lost claim does not prevent a job from completing, but it prevents it from failing.
  const required = ending.status === 'failed' ? { dueAt: before.dueAt } : {}
  const { ended, addedEventIds } = await endJob({
    env,
    jobId,
    from: 'processing',
    ending,
    required,
  })
  if (ended) await settleProcessed(env, { job: ended, before, addedEventIds })
  return ended !== undefined
}
