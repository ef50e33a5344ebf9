// Submits jobs from the console through the same use case as the API. The session authenticates the
// request instead of an API key.
import { z } from 'zod'
import { submitJob } from '../jobs/submit.ts'
import type { Mode } from '../domain/job.ts'
import { baseUrlOf } from '../http/base-url.ts'
import type { ConsoleContext } from './context.ts'
import { rejectedForm } from './error-messages.ts'
import type { FormState } from './read-form.ts'

/** Generated with the form and used as idempotency key: sending the form twice submits one job. */
export const Nonce = z.uuid('Reload the page and try again.')

interface Submission {
  mode: Mode
  modelImageUrl: string
  garmentImageUrl: string
  workspaceId?: string | undefined
  nonce: string
}

/** @returns the job ID, or the form's state that explains the rejection */
export async function submitFromConsole(
  c: ConsoleContext,
  { mode, modelImageUrl, garmentImageUrl, workspaceId, nonce }: Submission,
): Promise<{ ok: true; jobId: string } | { ok: false; state: FormState }> {
  const result = await submitJob({
    env: c.env,
    caller: { organisationId: c.var.membership.organisation.id, mode, keyHash: null },
    baseUrl: baseUrlOf(c),
    request: {
      modelImageUrl,
      garmentImageUrl,
      workspaceId,
      webhookUrl: undefined,
      idempotencyKey: `console-${nonce}`,
      mustReplay: false,
    },
  })
  return result.ok
    ? { ok: true, jobId: result.value.jobId }
    : { ok: false, state: rejectedForm(result.rejection) }
}
