// Submitting a job for a person in the console: through the same door as the API, under the same
// rules, but vouched for by a session instead of a key.
import { z } from 'zod'
import { submitJob } from '../jobs/submit.ts'
import type { Mode } from '../domain/job.ts'
import { baseUrlOf } from '../http/base-url.ts'
import type { ConsoleContext } from './context.ts'
import { rejectionText } from './error-messages.ts'

/** Made with the form: sending the form twice submits one job. */
export const Nonce = z.uuid('Load the page again.')

interface Order {
  mode: Mode
  modelImageUrl: string
  garmentImageUrl: string
  workspaceId?: string | undefined
  nonce: string
}

/** @returns the job's id, or in words why it was not accepted */
export async function submitFromConsole(
  c: ConsoleContext,
  { mode, nonce, ...order }: Order,
): Promise<{ ok: true; jobId: string } | { ok: false; reason: string }> {
  const answer = await submitJob({
    env: c.env,
    caller: { organisationId: c.var.membership.organisation.id, mode, keyHash: null },
    baseUrl: baseUrlOf(c),
    request: {
      modelImageUrl: order.modelImageUrl,
      garmentImageUrl: order.garmentImageUrl,
      workspaceId: order.workspaceId,
      webhookUrl: undefined,
      idempotencyKey: `console-${nonce}`,
    },
  })
  return answer.ok
    ? { ok: true, jobId: answer.value.jobId }
    : { ok: false, reason: rejectionText(answer.rejection) }
}
