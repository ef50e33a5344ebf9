// Ends jobs before processing: a client cancels a job, or an operator or the service withdraws it.
import { recorded } from '../organisations/audit-log.ts'
import { requirePermission, type OrganisationRequest } from '../organisations/authorisation.ts'
import { mayAccess } from '../organisations/workspace-rights.ts'
import { SYSTEM, type Actor } from '../domain/actor.ts'
import { AppError } from '../domain/errors.ts'
import type { JobRow } from '../platform/db/schema.ts'
import { isBound } from '../platform/db/database.ts'
import { logError } from '../platform/log.ts'
import { endJob, withdrawPending, type EndResult } from './processing/end.ts'
import { settle } from './processing/settle.ts'
import { findJob } from './job-store.ts'

const MAX_BATCHES = 20

/**
 * Cancels a job for its client: pending → refunded. For developers.
 * @throws AppError not_found, job_not_found, forbidden or job_not_cancellable
 */
export async function cancelJob(request: OrganisationRequest & { jobId: string }): Promise<JobRow> {
  const { env, organisationId, jobId } = request
  const { workspaceIds } = await requirePermission(request, 'develop')
  if (!isBound(env, jobId)) throw new AppError('job_not_found')
  const { ended, addedEventIds, found } = await endJob({
    env,
    jobId,
    from: 'pending',
    ending: { status: 'refunded' },
    required: { organisationId, ...(workspaceIds && { workspaceIds }) },
  })
  if (ended) return settled(env, ended, addedEventIds)
  if (!found) throw new AppError('job_not_found')
  if (found.organisationId !== organisationId) throw new AppError('forbidden')
  if (!mayAccess(workspaceIds, found.workspaceId)) throw new AppError('job_not_found')
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
export async function withdrawJob(request: { env: Env; jobId: string; actor?: Actor }) {
  const { env, jobId, actor = SYSTEM } = request
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
  if (actor.type === 'system') return end()
  const job = await findJob(env, jobId)
  if (!job) return { ended: undefined, addedEventIds: [], found: undefined }
  if (job.status !== 'pending') return end()
  const { organisationId, mode } = job
  const withdrawal = { env, organisationId, actor, action: 'job.withdrawn' as const }
  const entry = { ...withdrawal, target: jobId, details: { mode } }
  return recorded(entry, end, ({ ended }) => ended !== undefined)
}

/** Withdraws the pending jobs of an organisation that is suspended or scheduled for deletion. */
export async function withdrawAllPending(request: { env: Env; organisationId: string }) {
  const { env, organisationId } = request
  // The queue consumer withdraws jobs beyond the maximum number of batches.
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const { ended, addedEventIds } = await withdrawPending(env, organisationId)
    if (ended.length === 0) return
    await settle(env, { jobs: ended, addedEventIds })
  }
}

/** Settles an ended job. Does not throw: if settling fails, the alarm and the sweep repeat it. */
async function settled(env: Env, job: JobRow, addedEventIds: string[]): Promise<JobRow> {
  await settle(env, { jobs: [job], addedEventIds }).catch(
    logError('job not settled', { jobId: job.id }),
  )
  return job
}
