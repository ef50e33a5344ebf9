// The public form of a job, in responses of /v1 and in webhook bodies: the schema, which the OpenAPI
// document includes, and the functions that create it.
import { z } from 'zod'
import type { JobRow } from '../db/schema.ts'
import { MODES } from '../domain/job.ts'
import { linksFrom, outputKey } from '../signing/signed-url.ts'
import type { LinkTo } from '../signing/signed-url.ts'
import { EVENT_STATUSES } from '../domain/webhook.ts'
import { isFinal, JOB_ERROR_CODES, JOB_STATUSES } from '../domain/job.ts'
import type { ListedRow } from './lists.ts'
import type { JobWithEvent } from './store.ts'

const Timestamp = z.iso.datetime().meta({ description: 'ISO 8601, UTC' })

export const ListedJob = z
  .strictObject({
    job_id: z.string().meta({ example: 'job_01kajq3w8de0rbm6t1yg5q9xkz' }),
    status: z.enum(JOB_STATUSES),
    workspace_id: z.string(),
    mode: z.enum(MODES),
    output_url: z.url().nullable().meta({
      description:
        'Signed URL of the output, valid for 1 hour; null unless the job is completed. It needs no API key and returns the picture or an error: 403 `url_expired` after 1 hour, 403 `invalid_signature` if the URL was changed, 404 `not_found` once the picture is deleted. Each read of the job returns a new URL.',
    }),
    credits_consumed: z.number().nullable().meta({
      description: 'null until the job completes; then 1 in live mode and 0 in test mode',
    }),
    error_code: z
      .enum(JOB_ERROR_CODES)
      .nullable()
      .meta({ description: 'Why the job failed; null unless it failed' }),
    created_at: Timestamp,
    completed_at: Timestamp.nullable(),
    duration_ms: z.int().nullable().meta({
      description: 'Milliseconds from the start of processing to its end',
    }),
  })
  .meta({ id: 'ListedJob', description: 'A job as in lists and webhooks' })

export const Job = ListedJob.extend({
  webhook_url: z.string().nullable().meta({ description: 'Where the result is delivered' }),
  webhook_status: z
    .enum(EVENT_STATUSES)
    .nullable()
    .meta({ description: 'null when the job has no webhook URL' }),
}).meta({ id: 'Job', description: 'A try-on job' })

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
export function presentJob({
  env,
  baseUrl,
  job,
}: {
  env: Env
  baseUrl: string
  job: JobWithEvent
}): z.infer<typeof Job> {
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
