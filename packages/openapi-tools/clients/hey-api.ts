// The SDK that hey-api generates.
import { createClient, createConfig } from './generated/hey-api/client/index.ts'
import { getJob, listJobs, submitTryOn } from './generated/hey-api/sdk.gen.ts'
import type {
  Job,
  JobEndedWebhookPayload,
  JobStatus,
  ListedJob,
  WebhookBody,
} from './generated/hey-api/types.gen.ts'
import { IMAGES, UNKNOWN_JOB, type Program } from './program.ts'

export const run: Program = async ({ url, apiKey }) => {
  const client = createClient(createConfig({ baseUrl: url, auth: apiKey }))
  const submission = await submitTryOn({ client, body: IMAGES })
  if (submission.error) throw new Error(submission.error.error.message)
  const jobId: string = submission.data.job_id

  const read = await getJob({ client, path: { jobId }, headers: { Prefer: 'wait=20' } })
  if (read.error) throw new Error(read.error.error.message)
  const job: Job = read.data
  const status: JobStatus = job.status

  const list = await listJobs({ client, query: { limit: 5, status } })
  if (list.error) throw new Error(list.error.error.message)
  const jobs: ListedJob[] = list.data.jobs

  const unknown = await getJob({ client, path: { jobId: UNKNOWN_JOB } })
  if (!unknown.error) throw new Error('The job exists')
  const { error } = unknown.error
  // Compiles only if `code` has this value.
  const unknownJob = error.code === 'job_not_found' ? `not found: ${error.message}` : 'other'
  return { jobId, status, jobs, unknownJob }
}

/** Compiles only if the body of the webhook has this type. */
export const eventOf = (body: JobEndedWebhookPayload): WebhookBody => body
