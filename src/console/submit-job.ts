// Submits jobs from the console through the same use case as the API. The session authenticates the
// request instead of an API key.
import { z } from 'zod'
import { requirePermission } from '../organisations/authorisation.ts'
import { mayAccess } from '../organisations/workspace-rights.ts'
import { listWorkspaces } from '../organisations/workspaces.ts'
import { submitJob, type JobRequest } from '../jobs/submit.ts'
import type { Mode } from '../domain/job.ts'
import { addLogFields } from '../platform/log.ts'
import { baseUrlOf } from '../http/base-url.ts'
import { rejectionMessage } from './error-messages.ts'
import { may, scopeOf, type ConsoleContext } from './console-context.ts'
import { rejection, type FormPage } from './forms.ts'

/** Generated with the form and used as idempotency key: sending the form twice submits one job. */
export const Nonce = z.uuid('Reload the page and try again.')

type Submission = Omit<JobRequest, 'apiKeyId' | 'idempotencyKey' | 'mustReplay' | 'requestId'> & {
  mode: Mode
  nonce: string
}

/**
 * Submits a job as the signed-in member.
 * @returns the job ID
 * @throws AppError not_found if the member's role does not permit it, and HTTPException whose response is the page
 * with the reason of a rejection
 */
export async function submitFromConsole(
  c: ConsoleContext,
  page: FormPage,
  { mode, nonce, ...request }: Submission,
): Promise<string> {
  await requirePermission(scopeOf(c), 'develop')
  const workspace = await workspaceFor(c, request.workspaceId)
  if (workspace === null) {
    const errors = { '': rejectionMessage({ rejection: 'workspace_not_found' }) }
    throw await rejection(c, page, { errors })
  }
  const result = await submitJob({
    env: c.env,
    caller: { organisationId: c.var.membership.organisation.id, mode, keyHash: null },
    baseUrl: baseUrlOf(c),
    request: {
      ...request,
      workspaceId: workspace,
      idempotencyKey: `console-${nonce}`,
      requestId: c.var.requestId,
    },
  })
  if (!result.ok) {
    const canBuy = result.rejection === 'insufficient_credits' && may(c, 'billing')
    const link = canBuy ? { to: '/billing', label: 'Go to Billing' } : undefined
    throw await rejection(c, page, { errors: { '': rejectionMessage(result) }, link })
  }
  addLogFields({ jobId: result.value.jobId, mode })
  return result.value.jobId
}

/**
 * The workspace of a submission. A member who is limited to some submits to the oldest active one of
 * them by default.
 * @returns undefined for the default of the organisation; null if the member may not use the workspace
 */
async function workspaceFor(c: ConsoleContext, workspaceId: string | undefined) {
  const { workspaceIds } = c.var.membership
  if (workspaceId) return mayAccess(workspaceIds, workspaceId) ? workspaceId : null
  if (!workspaceIds) return undefined
  const workspaces = await listWorkspaces(scopeOf(c))
  return workspaces.find(({ status }) => status === 'active')?.id ?? null
}
