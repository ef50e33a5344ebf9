// Deletes the pictures of a finished job at the request of its organisation.
import { AppError } from '../domain/errors.ts'
import { isFinal } from '../domain/job.ts'
import { findJob } from '../jobs/job-store.ts'
import { deletePictures } from '../jobs/pictures.ts'
import { recorded } from '../organisations/audit-log.ts'
import { requirePermission, type OrganisationRequest } from '../organisations/authorisation.ts'
import { mayAccess } from '../organisations/workspace-rights.ts'
import { settingsOf } from '../platform/settings.ts'
import { uploadKeyOf } from '../platform/signing/signed-url.ts'
import { clearPictures } from './job-retention.ts'

/**
 * Deletes the output, the input copies and the uploads of a job, and clears its URLs. Idempotent. For
 * the permission `develop`, and for API keys.
 * @throws AppError not_found, job_not_found, forbidden or job_not_finished
 */
export async function deleteOutput(request: OrganisationRequest & { jobId: string }) {
  const { env, actor, organisationId, jobId } = request
  const { workspaceIds } = await requirePermission(request, 'develop')
  const job = await findJob(env, jobId)
  if (!job) throw new AppError('job_not_found')
  if (job.organisationId !== organisationId) throw new AppError('forbidden')
  if (!mayAccess(workspaceIds, job.workspaceId)) {
    throw new AppError(actor.type === 'api_key' ? 'job_not_found' : 'not_found')
  }
  if (!isFinal(job.status)) throw new AppError('job_not_finished')
  // Deletes the objects first, so that a repeated request can complete an interrupted one.
  const { modelImageUrl, garmentImageUrl, webhookUrl, outputFormat } = job
  const owner = { baseUrl: settingsOf(env).baseUrl ?? job.baseUrl, organisationId }
  const uploads = [modelImageUrl, garmentImageUrl].flatMap(
    (url) => (url === null ? null : uploadKeyOf(env, owner, url)) ?? [],
  )
  await deletePictures(env, [jobId], uploads)
  if ([modelImageUrl, garmentImageUrl, webhookUrl, outputFormat].every((value) => value === null)) {
    return
  }
  const entry = { ...request, action: 'job.output_deleted', target: jobId } as const
  await recorded(entry, () => clearPictures(env, jobId))
}
