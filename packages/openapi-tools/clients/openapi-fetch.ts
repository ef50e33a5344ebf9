// The client of openapi-fetch with the types of openapi-typescript.
import createClient from 'openapi-fetch'
import type { components, paths } from './generated/schema.ts'
import { IMAGES, UNKNOWN_JOB, type Program } from './program.ts'

type Schemas = components['schemas']

export const run: Program = async ({ url, apiKey }) => {
  const client = createClient<paths>({
    baseUrl: url,
    headers: { Authorization: `Bearer ${apiKey}` },
  })
  const submission = await client.POST('/v1/tryon', { body: IMAGES })
  if (submission.error) throw new Error(submission.error.error.message)
  const jobId: string = submission.data.job_id

  const read = await client.GET('/v1/jobs/{jobId}', {
    params: { path: { jobId }, header: { Prefer: 'wait=20' } },
  })
  if (read.error) throw new Error(read.error.error.message)
  const job: Schemas['Job'] = read.data
  const status: Schemas['JobStatus'] = job.status

  const list = await client.GET('/v1/jobs', { params: { query: { limit: 5, status } } })
  if (list.error) throw new Error(list.error.error.message)
  const jobs: Schemas['ListedJob'][] = list.data.jobs

  const unknown = await client.GET('/v1/jobs/{jobId}', { params: { path: { jobId: UNKNOWN_JOB } } })
  if (!unknown.error) throw new Error('The job exists')
  const { error } = unknown.error
  // Compiles only if `code` has this value.
  const unknownJob = error.code === 'job_not_found' ? `not found: ${error.message}` : 'other'
  return { jobId, status, jobs, unknownJob }
}
