// Cursors of GET /v1/jobs: the id of a page's last job, signed together with the organisation and the
// filters. A cursor is valid only for the list that it was created for.
import { isId } from '../platform/ids.ts'
import type { JobFilter } from '../jobs/job-store.ts'
import { signer, verify } from '../platform/signing/hmac.ts'

export interface List extends JobFilter {
  organisationId: string
}

export function createCursor(env: Env, list: List, lastJobId: string): string {
  return `${lastJobId}.${signer(env, 'cursor')(signedText(list, lastJobId))}`
}

/** @returns the id of the last job of the previous page, or null for a cursor of another list */
export function readCursor(env: Env, list: List, cursor: string): string | null {
  const [jobId = '', signature = '', ...rest] = cursor.split('.')
  if (rest.length > 0 || !isId('job', jobId)) return null
  return verify(env, 'cursor', signedText(list, jobId), signature) ? jobId : null
}

function signedText(list: List, jobId: string): string {
  const { organisationId, workspaceId, status, createdAfter, createdBefore } = list
  const filters = [workspaceId ?? null, status ?? null]
  // Absent without a range, so that cursors from before the filters existed remain valid.
  const range = createdAfter || createdBefore ? [createdAfter ?? null, createdBefore ?? null] : []
  return JSON.stringify([organisationId, ...filters, ...range, jobId])
}
