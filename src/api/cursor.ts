// Cursors of GET /v1/jobs: the id of a page's last job, signed together with the organisation and the
// filters. A cursor is valid only for the list that it was created for.
import { isId } from '../ids.ts'
import type { JobFilter } from '../jobs/store.ts'
import { signer, verify } from '../signing/hmac.ts'

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

const signedText = ({ organisationId, workspaceId, status }: List, jobId: string) =>
  JSON.stringify([organisationId, workspaceId ?? null, status ?? null, jobId])
