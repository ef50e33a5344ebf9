// The three ways in which a pending job ends without being worked on.
import type { Actor } from '../domain/actor.ts'
import { auditInsert } from '../access/audit-log.ts'
import { SYSTEM } from '../domain/actor.ts'
import { AppError } from '../domain/errors.ts'
import type { JobRow } from '../db/schema.ts'
import { log } from '../log.ts'
import { settleEnded } from './settle.ts'
import { cancelPending, endJob, findJob, isPending } from './store.ts'

/**
 * The client's own cancellation: pending → refunded.
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
  const ending = { status: 'refunded' } as const
  const { ended, found } = await endJob(env, jobId, 'pending', ending, { organisationId })
  if (ended) return settled(env, ended)
  if (!found) throw new AppError('job_not_found')
  if (found.organisationId !== organisationId) throw new AppError('forbidden')
  throw new AppError(
    'job_not_cancellable',
    `This job is ${found.status}; only a pending job can be cancelled.`,
  )
}

/**
 * Withdraws a pending job: pending → cancelled.
 * @param actor an operator who asks for it, which is recorded; the service itself by default
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
  const job = actor.type === 'system' ? undefined : await findJob(env, jobId)
  const record =
    job &&
    auditInsert(
      env,
      {
        organisationId: job.organisationId,
        actor,
        action: 'job.withdrawn',
        target: jobId,
        details: { mode: job.mode },
      },
      isPending(jobId),
    )
  const ending = { status: 'cancelled' } as const
  const { ended, found } = await endJob(env, jobId, 'pending', ending, {}, record)
  if (ended) return settled(env, ended)
  if (!found) throw new AppError('not_found', 'No job with this id.')
  throw new AppError(
    'job_not_cancellable',
    `This job is ${found.status}; only a pending job can be withdrawn.`,
  )
}

/** Withdraws every pending job of an organisation that was suspended. */
export async function withdrawAllPending(env: Env, organisationId: string): Promise<void> {
  // Bounded: what is left of very many, the consumer withdraws as it comes to them.
  for (let round = 0; round < 20; round++) {
    const cancelled = await cancelPending(env, organisationId)
    if (cancelled.length === 0) return
    await settleEnded(env, cancelled)
  }
}

/** The job has ended whatever happens now, so a failure here is not the caller's to hear of. */
async function settled(env: Env, job: JobRow): Promise<JobRow> {
  await settleEnded(env, [job]).catch((error: unknown) =>
    log.error('settling left to alarm and sweep', error, { jobId: job.id }),
  )
  return job
}
