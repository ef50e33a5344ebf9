// POST /v1/tryon: submits a job and, with `Prefer: wait`, waits for its end.
import { Hono } from 'hono'
import { z } from 'zod'
import { AppError } from '../domain/errors.ts'
import { isFinal, MODES } from '../domain/job.ts'
import type { Mode } from '../domain/job.ts'
import { baseUrlOf, urlPolicyOf } from '../http/base-url.ts'
import { describeRoute, errors, ok } from '../http/openapi.ts'
import { tryOnBody } from '../http/try-on-body.ts'
import { parse, readJson } from '../http/validation.ts'
import { Job, presentJob } from '../jobs/present.ts'
import { waitForJob } from '../jobs/read.ts'
import { findJob } from '../jobs/store.ts'
import { submitJob } from '../jobs/submit.ts'
import type { Admission } from '../organisation/rpc.ts'
import { uploadProblem } from '../signing/signed-url.ts'
import { authenticate, requireAdmitted } from './authenticate.ts'
import type { ApiApp, ApiContext } from './context.ts'
import { IgnoredFields, ignoredFields } from './ignored-fields.ts'
import { PreferenceApplied, PreferHeader, preferredWaitSeconds } from './prefer.ts'

const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
  .optional()
  .meta({
    description:
      'Makes a repeated submission safe for 24 hours: the same key and body return the same job at no cost. 1 to 255 visible ASCII characters.',
  })

const Submitted = z
  .object({
    job_id: z.string(),
    status: z.literal('pending'),
    created_at: z.iso.datetime(),
    mode: z.enum(MODES),
  })
  .meta({ id: 'Submitted', description: 'The job was accepted' })

export const tryOn = new Hono<ApiApp>().post(
  '/',
  describeRoute({
    operationId: 'submitTryOn',
    summary: 'Submit a try-on job',
    description:
      'Accepts the job and returns immediately. In live mode one credit is reserved; it is consumed when the job completes and returned when it does not.\n\n' +
      'In test mode nothing is fetched or generated, and an image URL on the host `test.invalid` selects a scenario: `https://test.invalid/fail/{error_code}` fails the job, `/delay/{seconds}` (0 to 60) delays it, `/pending/{seconds}` (0 to 60) holds it pending, so that it can be cancelled, and `/withdraw` makes the service withdraw it. `/refuse/{code}` makes the submission itself return `insufficient_credits`, `account_suspended`, `rate_limit_exceeded` or `internal_error`.',
    tags: ['Jobs'],
    requestParams: {
      header: z.object({ 'Idempotency-Key': IdempotencyKey, Prefer: PreferHeader }),
    },
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: tryOnBody({ allowPrivate: false, ownHosts: [] }, 'test') },
      },
    },
    responses: {
      '200': ok('The job ended within the time of `Prefer: wait`', Job, {
        'Idempotent-Replayed': z.string().optional(),
        'Ignored-Fields': IgnoredFields,
        'Preference-Applied': PreferenceApplied,
      }),
      '202': ok('The job was accepted', Submitted, {
        'Idempotent-Replayed': z.string().optional().meta({
          description: '`true` when an earlier request with this Idempotency-Key was accepted.',
        }),
        'Ignored-Fields': IgnoredFields,
        'Preference-Applied': PreferenceApplied,
      }),
      ...errors(
        'insufficient_credits',
        'account_suspended',
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
    const { body, ignored, idempotencyKey } = await parseSubmission(c)
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
        },
      }),
    )
    if (job.replayed) c.header('Idempotent-Replayed', 'true')
    c.header('Ignored-Fields', ignored)

    const waitSeconds = preferredWaitSeconds(c.req.header('Prefer'))
    if (waitSeconds > 0) {
      c.header('Preference-Applied', `wait=${waitSeconds}`)
      const pending = await findJob(c.env, job.jobId)
      const latest =
        pending && (await waitForJob({ env: c.env, job: pending, seconds: waitSeconds }))
      if (latest && isFinal(latest.status)) {
        return c.json(presentJob({ env: c.env, baseUrl, job: latest }), 200)
      }
    }
    return c.json(presentSubmitted(job, caller.mode), 202)
  },
)

/**
 * Parses the body and the Idempotency-Key. For a valid request, admission checks the API key. For an
 * invalid one, this function checks it, since errors of the key take precedence and the request counts
 * against the rate limit. Validation middleware cannot do this.
 */
async function parseSubmission(c: ApiContext) {
  try {
    const schema = tryOnBody(urlPolicyOf(c), c.get('caller').mode)
    const value = await readJson(c.req.raw)
    const body = parse(schema, value)
    requireOwnUploads(c, body)
    return {
      body,
      ignored: ignoredFields(Object(value), schema.shape),
      idempotencyKey: parse(IdempotencyKey, c.req.header('Idempotency-Key'), 'Idempotency-Key'),
    }
  } catch (error) {
    await authenticate(c, { rejectSuspended: true })
    throw error
  }
}

/** @throws AppError validation_error for links to uploads that the caller cannot use */
function requireOwnUploads(
  c: ApiContext,
  { model_image_url, garment_image_url }: { model_image_url: string; garment_image_url: string },
): void {
  const owner = { baseUrl: baseUrlOf(c), organisationId: c.get('caller').organisationId }
  const problems = Object.entries({ model_image_url, garment_image_url }).flatMap(
    ([field, url]) => {
      const problem = uploadProblem(c.env, owner, url)
      return problem === null ? [] : [`${field} ${problem}`]
    },
  )
  if (problems.length > 0) throw new AppError('validation_error', `${problems.join('; ')}.`)
}

const presentSubmitted = (
  { jobId, createdAt }: Admission,
  mode: Mode,
): z.infer<typeof Submitted> => ({
  job_id: jobId,
  status: 'pending',
  created_at: new Date(createdAt).toISOString(),
  mode,
})
