// The zod schemas that orval generates, with plain fetch.
import * as schemas from './generated/zod.ts'
import { IMAGES, UNKNOWN_JOB, type Program } from './program.ts'

export const run: Program = async ({ url, apiKey }) => {
  const send = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { Authorization: `Bearer ${apiKey}`, ...init.headers },
    })
  const body = JSON.stringify(schemas.SubmitTryOnBody.parse(IMAGES))
  const submission = await send('/v1/tryon', { method: 'POST', body })
  const { job_id: jobId } = schemas.SubmitTryOn202Response.parse(await submission.json())

  const read = await send(`/v1/jobs/${jobId}`, { headers: { Prefer: 'wait=20' } })
  const { status } = schemas.GetJob200Response.parse(await read.json())

  const query = schemas.ListJobsQueryParams.parse({ limit: 5, status })
  const list = await send(`/v1/jobs?limit=${query.limit}&status=${query.status}`)
  const { jobs } = schemas.ListJobs200Response.parse(await list.json())

  const unknown = await send(`/v1/jobs/${UNKNOWN_JOB}`)
  const { error } = schemas.GetJob404Response.parse(await unknown.json())
  schemas.ListWorkspaces200Response.parse(await (await send('/v1/workspaces')).json())
  schemas.GetAccount200Response.parse(await (await send('/v1/account')).json())
  // Compiles only if `code` has this value.
  const unknownJob = error.code === 'job_not_found' ? `not found: ${error.message}` : 'other'
  return { jobId, status, jobs, unknownJob }
}
