// The body of a webhook, as Standard Webhooks 1.0 defines it (https://www.standardwebhooks.com).
import { z } from 'zod'
import { EVENT_TYPES } from '../domain/webhook.ts'
import type { JobRow } from '../platform/db/schema.ts'
import type { WebhookEventRow } from '../platform/db/webhook-schema.ts'
import { ListedJob, presentListedJob } from '../jobs/present-job.ts'
import { settingsOf } from '../platform/settings.ts'
import { linksFrom } from '../platform/signing/signed-url.ts'

export const WebhookEventType = z.enum(EVENT_TYPES).meta({
  id: 'WebhookEventType',
  description:
    'What happened to the job. `job.refunded`: the client cancelled it. `job.cancelled`: the service withdrew it. New types may be added: respond with 2xx to a type that you do not know.',
})

export const WebhookBody = z
  .strictObject({
    type: WebhookEventType,
    timestamp: z.iso.datetime().meta({ description: 'When the job ended (ISO 8601, UTC).' }),
    data: ListedJob,
  })
  .meta({
    id: 'WebhookBody',
    description:
      'The body of a delivery to a webhook URL. `data` is the job at the time of the attempt.',
  })

/**
 * The body of an attempt. Created for each attempt, because the signature of the output URL expires.
 * @param at the time of the attempt
 */
export function webhookBody(
  env: Env,
  { event, job }: { event: WebhookEventRow; job: JobRow },
  at: Date,
): z.infer<typeof WebhookBody> {
  const linkTo = linksFrom(env, settingsOf(env).baseUrl ?? job.baseUrl, at)
  return {
    type: event.type,
    timestamp: event.createdAt.toISOString(),
    data: presentListedJob(linkTo, job),
  }
}
