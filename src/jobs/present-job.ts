// The public form of a job, in responses of /v1 and in webhook bodies: the schema, which the OpenAPI
// document includes, and the functions that create it.
import { z } from 'zod'
import type { JobRow } from '../platform/db/schema.ts'
import { linksFrom, outputKey, type LinkTo } from '../platform/signing/signed-url.ts'
import { EVENT_STATUSES } from '../domain/webhook.ts'
import { isFinal, JOB_ERROR_CODES, JOB_STATUSES, MODES } from '../domain/job.ts'
import type { ListedRow } from './reports/job-lists.ts'
import type { JobWithEvent } from './job-store.ts'

export const JobId = z.string().meta({
  description: 'The id of the job.',
  examples: ['job_01m7w4n5twfh782ygbjfb2yp7a'],
})

export const Mode = z.enum(MODES).meta({
  id: 'Mode',
  description:
    'The mode of the API key that submitted the job. `live` generates an image and costs a credit. `test` returns a placeholder and costs nothing.',
})

export const JobStatus = z.enum(JOB_STATUSES, `must be one of ${JOB_STATUSES.join(', ')}`).meta({
  id: 'JobStatus',
  description:
    'The state of a job. `pending` and `processing` jobs have not ended. `completed`: the picture is ready. `failed`: `error_code` has the reason. `refunded`: the client cancelled the job. `cancelled`: the service withdrew the job. Only completed jobs cost a credit.',
})

const JobErrorCode = z.enum(JOB_ERROR_CODES).meta({
  id: 'JobErrorCode',
  description:
    'Why a job failed. New codes may be added: treat an unknown code as a failure without a known reason.',
})

export const WebhookStatus = z.enum(EVENT_STATUSES).meta({
  id: 'WebhookStatus',
  description:
    'The state of the delivery. `pending`: no attempt has been made. `retrying`: an attempt failed and another will follow. `delivered`: the receiver responded with 2xx. `failed`: no further attempt will be made.',
})

export const ListedJob = z
  .strictObject({
    job_id: JobId,
    status: JobStatus,
    workspace_id: z.string().meta({
      description: 'The id of the workspace that the job belongs to.',
      examples: ['ws_01m45j10cfeqs81jeh7e74f9g5'],
    }),
    mode: Mode,
    output_url: z.url().nullable().meta({
      description:
        'The signed URL of the picture, valid for 1 hour. Null unless the job is completed, and once the picture is deleted. It needs no API key and returns the picture or an error: 403 `url_expired` after 1 hour, 403 `invalid_signature` if the URL was changed, 404 `not_found` once the picture is deleted. Each read of the job returns a new URL.',
    }),
    credits_consumed: z.number().min(0).nullable().meta({
      description: 'Null until the job completes, then 1 in live mode and 0 in test mode.',
    }),
    error_code: JobErrorCode.nullable().meta({
      description: 'Why the job failed. Null unless the status is `failed`.',
    }),
    created_at: z.iso
      .datetime()
      .meta({ description: 'When the job was accepted (ISO 8601, UTC).' }),
    completed_at: z.iso.datetime().nullable().meta({
      description:
        'When the job completed (ISO 8601, UTC). Null for every other status, also for a failed job. The `timestamp` of a webhook has the end of every job.',
    }),
    duration_ms: z.int().min(0).nullable().meta({
      description:
        'The milliseconds from the start of processing to its end. Null unless the job is completed or failed.',
    }),
  })
  .meta({
    id: 'ListedJob',
    description: 'A job in lists and webhooks, without the webhook fields.',
  })

export const Job = ListedJob.extend({
  webhook_url: z
    .string()
    .nullable()
    .meta({
      description:
        'Where the result is delivered: the URL of the submission, otherwise the default URL of the organisation at that time. Null if there was none, and once the pictures of the job are deleted.',
      examples: ['https://shop.example/webhooks/try-on'],
    }),
  webhook_status: WebhookStatus.nullable().meta({
    description:
      'The state of the delivery. Null if the job has no webhook URL, or if its event is no longer stored.',
  }),
}).meta({ id: 'Job', description: 'A try-on job with its result and the state of its webhook.' })

/** The form without webhook fields, with a new output URL. */
export function presentListedJob(linkTo: LinkTo, job: ListedRow): z.infer<typeof ListedJob> {
  const completed = job.status === 'completed'
  return {
    job_id: job.id,
    status: job.status,
    workspace_id: job.workspaceId,
    mode: job.mode,
    output_url: completed && job.outputFormat ? linkTo(outputKey(job.id, job.outputFormat)) : null,
    credits_consumed: completed ? creditCost(job.mode) : null,
    error_code: job.status === 'failed' ? job.errorCode : null,
    created_at: job.createdAt.toISOString(),
    completed_at: job.completedAt?.toISOString() ?? null,
    duration_ms: job.durationMs,
  }
}

/** The complete form. */
export function presentJob(env: Env, baseUrl: string, job: JobWithEvent): z.infer<typeof Job> {
  return {
    ...presentListedJob(linksFrom(env, baseUrl), job),
    webhook_url: job.webhookUrl,
    // The event of a job that ended long ago has been deleted.
    webhook_status:
      job.webhookUrl === null
        ? null
        : (job.eventStatus ?? (isFinal(job.status) ? null : 'pending')),
  }
}

/** The credits that a completed job of a mode costs. */
export const creditCost = (mode: JobRow['mode']): number => (mode === 'live' ? 1 : 0)
