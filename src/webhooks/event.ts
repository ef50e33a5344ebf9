// The body of a webhook, as Standard Webhooks 1.0 defines it (https://www.standardwebhooks.com).
import { z } from 'zod'
import { EVENT_TYPES } from '../domain/webhook.ts'
import type { JobRow, WebhookEventRow } from '../db/schema.ts'
import { ListedJob, presentListedJob } from '../jobs/present.ts'
import { linksFrom } from '../signing/signed-url.ts'

export const WebhookBody = z
  .strictObject({
    type: z.enum(EVENT_TYPES),
    timestamp: z.iso.datetime().meta({ description: 'When the job ended, ISO 8601, UTC' }),
    data: ListedJob,
  })
  .meta({ id: 'WebhookBody', description: 'The body of a delivery to a webhook URL' })

/** Created for each attempt, because the signature of the output URL expires. */
export function webhookBody(
  env: Env,
  baseUrl: string,
  event: WebhookEventRow,
  job: JobRow,
): z.infer<typeof WebhookBody> {
  return {
    type: event.type,
    timestamp: event.createdAt.toISOString(),
    data: presentListedJob(linksFrom(env, baseUrl), job),
  }
}
