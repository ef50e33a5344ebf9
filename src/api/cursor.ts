// Page cursors: the id of the last job of a page, signed together with what the page was filtered
// by, so that a cursor works only for the list that it came from.
import { signer, verify } from '../signing/hmac.ts'
import { isId } from '../ids.ts'
import type { JobFilter } from '../jobs/store.ts'

export interface List extends JobFilter {
  organisationId: string
}

export function makeCursor(env: Env, list: List, lastJobId: string): string {
  return `${lastJobId}.${signer(env, 'cursor')(contents(list, lastJobId))}`
}

/** @returns the id to go on from, or null when this service did not make the cursor for this list */
export function readCursor(env: Env, list: List, cursor: string): string | null {
  const [jobId = '', signature = '', ...rest] = cursor.split('.')
  if (rest.length > 0 || !isId('job', jobId)) return null
  return verify(env, 'cursor', contents(list, jobId), signature) ? jobId : null
}

const contents = ({ organisationId, workspaceId, status }: List, jobId: string) =>
  JSON.stringify([organisationId, workspaceId ?? null, status ?? null, jobId])
