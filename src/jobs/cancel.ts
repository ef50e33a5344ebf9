// Ends jobs before processing: a client cancels a job, or an operator or the service withdraws it.
import type { Actor } from '../domain/actor.ts'
import { recorded } from '../access/audit-log.ts'
import { SYSTEM } from '../domain/actor.ts'
import { AppError } from '../domain/errors.ts'
import type { JobRow } from '../db/schema.ts'
import { log } from '../log.ts'
import { cancelPending, endJob } from './endings.ts'
import type { EndResult } from './endings.ts'
import { recordEnd, settleEnded } from './settle.ts'
import { findJob } from './store.ts'

const MAX_BATCHES = 20

/**
 * Cancels a job for its client: pending → refunded.
 * @throws AppError job_not_found, forbidden or job_not_cancellable
 */
export async function cancelJob({
  env,
  organisationId,
  jobId,
}: {
  env: Env
  organisationId: string
  jobId: string
}): Promise<JobRow> {
  const { ended, addedEventIds, found } = await endJob({
    env,
    jobId,
    from: 'pending',
    ending: { status: 'refunded' },
    required: { organisationId },
  })
  if (ended) return settled(env, ended, addedEventIds)
  if (!found) throw new AppError('job_not_found')
  if (found.organisationId !== organisationId) throw new AppError('forbidden')
  throw new AppError(
    'job_not_cancellable',
    `This job is ${found.status}; only a pending job can be cancelled.`,
  )
}

/**
 * Withdraws a job: pending → cancelled.
 * @param actor the operator that withdraws it, for the audit log; by default the service, which is not
 *   recorded
 * @throws AppError not_found or job_not_cancellable
 */
export async function withdrawJob({
  env,
  jobId,
  actor = SYSTEM,
}: {
  env: Env
  jobId: string
  actor?: Actor
}): Promise<JobRow> {
  const { ended, addedEventIds, found } = await endRecorded(env, jobId, actor)
  if (ended) return settled(env, ended, addedEventIds)
  if (!found) throw new AppError('not_found', 'No job with this id.')
  throw new AppError(
    'job_not_cancellable',
    `This job is ${found.status}; only a pending job can be withdrawn.`,
  )
}

async function endRecorded(env: Env, jobId: string, actor: Actor): Promise<EndResult> {
  const end = () => endJob({ env, jobId, from: 'pending', ending: { status: 'cancelled' } })
  const job = actor.type === 'system' ? undefined : await findJob(env, jobId)
  if (job?.status !== 'pending') return end()
  const { organisationId, mode } = job
  const action = 'job.withdrawn'
  let result: EndResult | undefined
  await recorded(
    env,
    { organisationId, actor, action, target: jobId, details: { mode } },
    async () => {
      result = await end()
      return result.ended !== undefined
    },
  )
  if (!result) throw new Error('The withdrawal was not attempted')
  return result
}

/** Withdraws the pending jobs of an organisation that is suspended or scheduled for deletion. */
export async function withdrawAllPending({
  env,
  organisationId,
}: {
  env: Env
  organisationId: string
}): Promise<void> {
  // The queue consumer withdraws jobs beyond the maximum number of batches.
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const { cancelled, addedEventIds } = await cancelPending(env, organisationId)
    if (cancelled.length === 0) return
    for (const job of cancelled) recordEnd(env, job)
    await settleEnded(env, cancelled, addedEventIds)
  }
}

/** Settles an ended job. Does not throw: if settling fails, the alarm and the sweep repeat it. */
async function settled(env: Env, job: JobRow, addedEventIds: string[]): Promise<JobRow> {
  recordEnd(env, job)
  await settleEnded(env, [job], addedEventIds).catch((error: unknown) =>
    log.error('job not settled', error, { jobId: job.id }),
  )
  return job
}
