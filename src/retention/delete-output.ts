// Deletes a finished job's pictures because its organisation asks for it.
import { auditInsert } from '../accounts/audit.ts'
import type { Actor } from '../accounts/audit.ts'
import { database } from '../db/client.ts'
import { AppError } from '../errors.ts'
import { deletePictures } from '../jobs/pictures.ts'
import { isFinal } from '../jobs/status.ts'
import { findJob } from '../jobs/store.ts'
import { clearPictures } from './store.ts'

/**
 * Deletes the result and all copies of the inputs, and clears the job's URLs. May be repeated.
 * @throws AppError job_not_found, forbidden or job_not_finished
 */
export async function deleteOutput({
  env,
  actor,
  organisationId,
  jobId,
}: {
  env: Env
  actor: Actor
  organisationId: string
  jobId: string
}): Promise<void> {
  const job = await findJob(env, jobId)
  if (!job) throw new AppError('job_not_found')
  if (job.organisationId !== organisationId) throw new AppError('forbidden')
  if (!isFinal(job.status)) throw new AppError('job_not_finished')
  // The objects first: until the row is cleared, a repetition finishes what a crash left.
  await deletePictures(env, [jobId])
  const { modelImageUrl, garmentImageUrl, webhookUrl, outputFormat } = job
  if ([modelImageUrl, garmentImageUrl, webhookUrl, outputFormat].every((one) => one === null)) {
    return
  }
  await database(env).batch([
    clearPictures(env, jobId),
    auditInsert(env, { organisationId, actor, action: 'job.output_deleted', target: jobId }),
  ])
}
