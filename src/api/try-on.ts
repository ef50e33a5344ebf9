// POST /v1/tryon: submits a job and, with `Prefer: wait`, waits for its end.
import { Hono, type Context } from 'hono'
import { z } from 'zod'
import { EXAMPLE_ORIGIN } from '../domain/docs.ts'
import { invalid } from '../domain/errors.ts'
import { isFinal } from '../domain/job.ts'
import { REJECTIONS } from '../domain/scenario.ts'
import { baseUrlOf, urlPolicyOf } from '../http/base-url.ts'
import { describeRoute, jsonBody, ok } from '../http/describe-route.ts'
import { tryOnBody } from '../http/try-on-body.ts'
import { parse, readJson } from '../http/validation.ts'
import { Job, JobId, Mode, presentJob } from '../jobs/present-job.ts'
import { waitForJob } from '../jobs/read-job.ts'
import { findJob } from '../jobs/job-store.ts'
import { submitJob } from '../jobs/submit.ts'
import { uploadProblem } from '../platform/signing/signed-url.ts'
import { authenticate, requireAdmitted } from './authenticate-key.ts'
import type { ApiApp, ApiContext } from './api-context.ts'
import { errors } from './error-responses.ts'
import { endedJobs, submitted, tryOnRequests } from './examples.ts'
import { ignoredFields } from './ignored-fields.ts'
import { PreferHeader, preferredWaitSeconds } from './prefer.ts'

const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
  .optional()
  .meta({
    description:
      'Makes a repeated submission safe for 24 hours: the same key and body return the same job at no cost. Use 1 to 255 visible ASCII characters, such as a UUID or `order-4711-look-1`.',
  })

const Submitted = z
  .object({
    job_id: JobId,
    status: z.literal('pending').meta({
      description:
        'The status at submission, always `pending`. A replay with an Idempotency-Key repeats the original response, also when the job has ended since. Read the job for its current status.',
    }),
    created_at: z.iso
      .datetime()
      .meta({ description: 'When the job was accepted (ISO 8601, UTC).' }),
    mode: Mode,
  })
  .meta({ id: 'Submitted', description: 'An accepted job.' })

const LINKS = {
  getJob: {
    operationId: 'getJob',
    parameters: { jobId: '$response.body#/job_id' },
    description: 'Reads the status and the result of the job.',
  },
  cancelJob: {
    operationId: 'cancelJob',
    parameters: { jobId: '$response.body#/job_id' },
    description: 'Cancels the job while it is pending.',
  },
}

/** The schema of the document. Requests are parsed with the schema of their URL policy and mode. */
const TryOnRequest = tryOnBody({ allowPrivate: false, ownHosts: [] }, 'test').meta({
  id: 'TryOnRequest',
  description: 'A submission. Unknown fields are ignored.',
})

const DESCRIPTION = `Accepts the job and returns immediately. In live mode one credit is reserved. It is consumed when the job completes and returned when it does not. With \`Prefer: wait=N\` the response is delayed until the job has ended, by at most N seconds.

In test mode nothing is fetched or generated. An image URL on the host \`test.invalid\` selects a scenario, such as \`https://test.invalid/fail/person_not_found\`:

| Path | Effect |
| --- | --- |
| \`/fail/{error_code}\` | The job fails with this code. |
| \`/delay/{seconds}\` | The job stays in processing for 0 to 60 seconds. |
| \`/pending/{seconds}\` | The job stays pending for 0 to 60 seconds, so that it can be cancelled. |
| \`/withdraw\` | The service withdraws the job. Its status becomes \`cancelled\`. |
| \`/refuse/{code}\` | The submission returns this error, one of ${REJECTIONS.map((code) => `\`${code}\``).join(', ')}. |

See [Test mode](${EXAMPLE_ORIGIN}/docs/test-mode).`

export const tryOn = new Hono<ApiApp>().post(
  '/',
  describeRoute('Jobs', {
    operationId: 'submitTryOn',
    summary: 'Submit a try-on job',
    description: DESCRIPTION,
    requestParams: {
      header: z.object({ 'Idempotency-Key': IdempotencyKey, Prefer: PreferHeader }),
    },
    requestBody: jsonBody(
      'The images of the model and of the garment.',
      TryOnRequest,
      tryOnRequests,
    ),
    responses: {
      '200': ok('The job ended within the time of `Prefer: wait`.', Job, {
        examples: endedJobs,
        headers: ['Idempotent-Replayed', 'Ignored-Fields', 'Preference-Applied'],
      }),
      '202': ok('The job was accepted.', Submitted, {
        examples: submitted,
        headers: ['Idempotent-Replayed', 'Ignored-Fields', 'Preference-Applied'],
        links: LINKS,
      }),
      ...errors(
        'insufficient_credits',
        'account_suspended',
        'forbidden',
        'workspace_not_found',
        'payload_too_large',
        'validation_error',
        'idempotency_key_reused',
      ),
    },
  }),
  async (c) => {
    const caller = c.get('caller')
    const baseUrl = baseUrlOf(c)
    const { body, ignored, idempotencyKey, expired } = await parseSubmission(c)
    const job = requireAdmitted(
      c,
      await submitJob({
        env: c.env,
        caller,
        baseUrl,
        request: {
          modelImageUrl: body.model_image_url,
          garmentImageUrl: body.garment_image_url,
          workspaceId: body.workspace_id,
          webhookUrl: body.webhook_url,
          idempotencyKey,
          mustReplay: expired !== undefined,
          requestId: c.get('requestId'),
        },
      }),
      expired,
    )
    c.set('jobId', job.jobId)
    if (job.replayed) c.header('Idempotent-Replayed', 'true')
    c.header('Ignored-Fields', ignored)

    const waitSeconds = preferredWaitSeconds(c.req.header('Prefer'))
    if (waitSeconds > 0) {
      c.header('Preference-Applied', `wait=${waitSeconds}`)
      const pending = await findJob(c.env, job.jobId)
      const latest = pending && (await waitForJob(c.env, pending, waitSeconds))
      if (latest && isFinal(latest.status)) {
        return c.json(presentJob(c.env, baseUrl, latest), 200)
      }
    }
    const submission: z.infer<typeof Submitted> = {
      job_id: job.jobId,
      status: 'pending',
      created_at: new Date(job.createdAt).toISOString(),
      mode: caller.mode,
    }
    return c.json(submission, 202)
  },
)

/**
 * Parses the body and the Idempotency-Key. For a valid request, admission checks the API key. For an
 * invalid one, this function checks it, since errors of the key take precedence and the request counts
 * against the rate limit. Validation middleware cannot do this.
 */
async function parseSubmission(c: Context<ApiApp>) {
  try {
    const schema = tryOnBody(urlPolicyOf(c), c.get('caller').mode)
    const value = await readJson(c.req.raw)
    c.set('submission', value)
    const body = parse(schema, value)
    return {
      body,
      expired: expiredUploads(c, body),
      ignored: ignoredFields(Object(value), schema.shape),
      idempotencyKey: parse(IdempotencyKey, c.req.header('Idempotency-Key'), 'Idempotency-Key'),
    }
  } catch (error) {
    await authenticate(c, { rejectSuspended: true, isRead: false })
    throw error
  }
}

/**
 * The error message for links to uploads that have expired. A replay is accepted with them.
 * @throws AppError validation_error for links to uploads that the caller cannot use
 */
function expiredUploads(
  c: ApiContext,
  { model_image_url, garment_image_url }: { model_image_url: string; garment_image_url: string },
): string | undefined {
  const owner = { baseUrl: baseUrlOf(c), organisationId: c.get('caller').organisationId }
  const problems = Object.entries({ model_image_url, garment_image_url }).flatMap(
    ([field, url]) => {
      const problem = uploadProblem(c.env, owner, url)
      return problem === null ? [] : [{ ...problem, field }]
    },
  )
  if (problems.length === 0) return undefined
  const text = `${problems.map(({ field, message }) => `${field} ${message}`).join('; ')}.`
  if (problems.every(({ code }) => code === 'url_expired')) return text
  throw invalid(text)
}
