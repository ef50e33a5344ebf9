// POST /v1/tryon: takes a job and, if the client prefers, waits for it.
import { Hono } from 'hono'
import { allow } from '../http/allow.ts'
import type { App } from '../http/context.ts'
import { submitJob } from '../jobs/submit.ts'
import { presentJob } from '../jobs/present.ts'
import { waitForJob } from '../jobs/read.ts'
import { findJob } from '../jobs/store.ts'
import { isFinal } from '../domain/job.ts'
import { organisationStub } from '../organisation/stub.ts'
import { presentSubmitted } from './responses.ts'
import { requireAdmitted, credentialsOf } from './authenticate.ts'
import { baseUrlOf, urlPolicyOf } from '../http/base-url.ts'
import { preferredWaitSeconds } from './prefer.ts'
import { IdempotencyKey, tryOnBody } from './requests.ts'
import { check, checkBody, valid } from '../http/validation.ts'

export const tryOn = new Hono<App>()
  .post('/', async (c) => {
    const caller = credentialsOf(c)
    const baseUrl = baseUrlOf(c)
    const body = await checkBody(tryOnBody(urlPolicyOf(c), caller.mode), c.req.raw)
    const key = check(IdempotencyKey.optional(), c.req.header('Idempotency-Key'), 'Idempotency-Key')
    if (!body.ok || !key.ok) {
      // A key's state is told before the body's faults, and the request counts all the same.
      const organisation = organisationStub(c.env, caller.organisationId)
      requireAdmitted(c, await organisation.authenticate(caller, { rejectSuspended: true }))
    }
    const request = valid(body)

    const job = requireAdmitted(
      c,
      await submitJob({
        env: c.env,
        caller,
        baseUrl,
        request: {
          modelImageUrl: request.model_image_url,
          garmentImageUrl: request.garment_image_url,
          workspaceId: request.workspace_id,
          webhookUrl: request.webhook_url,
          idempotencyKey: valid(key),
        },
      }),
    )
    if (job.replayed) c.header('Idempotent-Replayed', 'true')

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
  })
  .all('/', allow('POST'))
