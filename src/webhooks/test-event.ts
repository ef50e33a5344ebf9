// Test events: free test jobs whose event goes to one receiver only. Their scenarios select the type of the event.
import { SYSTEM } from '../domain/actor.ts'
import { AppError, invalid } from '../domain/errors.ts'
import { SCENARIO_HOST } from '../domain/scenario.ts'
import type { EventType } from '../domain/webhook.ts'
import type { Admission, RequestResult } from '../credits/rpc.ts'
import { cancelJob } from '../jobs/cancel.ts'
import { submitJob } from '../jobs/submit.ts'
import { readEndpoint, type EndpointRequest } from './endpoints/endpoints.ts'

/** The refunded job is cancelled while it is held pending. */
const PATHS: Record<EventType, string> = {
  'job.completed': '/model.jpg',
  'job.failed': '/fail/person_not_found',
  'job.refunded': '/pending/60',
  'job.cancelled': '/withdraw',
}

/** The URL of both images of a test job that ends with an event of this type. */
export const testImageUrl = (type: EventType): string => `https://${SCENARIO_HOST}${PATHS[type]}`

/** Cancels the test job of `job.refunded`, unless an earlier request has cancelled it. */
export async function endTestJob(
  env: Env,
  { type, organisationId, jobId }: { type: EventType; organisationId: string; jobId: string },
): Promise<void> {
  if (type !== 'job.refunded') return
  try {
    await cancelJob({ env, actor: SYSTEM, organisationId, jobId })
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'job_not_cancellable')) throw error
  }
}

/**
 * Submits the test job of an event for an added endpoint, for an API key. Like every job, it counts against
 * the rate limit and the storage allowance. For developers.
 * @param keyId the id of the key, which the job stores
 * @returns what `submitJob` returns
 * @throws AppError not_found, or validation_error if the endpoint is disabled
 */
export async function sendTestEvent(
  endpoint: EndpointRequest & {
    type: EventType
    keyId: string | undefined
    baseUrl: string
    requestId: string
  },
): Promise<RequestResult<Admission>> {
  const { env, organisationId, endpointId, type, keyId, baseUrl, requestId } = endpoint
  const { url, enabled } = await readEndpoint(endpoint)
  if (!enabled) throw invalid('The endpoint is disabled. Enable it first.')
  const imageUrl = testImageUrl(type)
  const result = await submitJob({
    env,
    // The key was checked; it may be a live key, which cannot submit test jobs itself.
    caller: { organisationId, mode: 'test', keyHash: null },
    baseUrl,
    request: {
      modelImageUrl: imageUrl,
      garmentImageUrl: imageUrl,
      webhookUrl: url,
      testEventFor: endpointId,
      apiKeyId: keyId,
      requestId,
    },
  })
  if (result.ok) await endTestJob(env, { type, organisationId, jobId: result.value.jobId })
  return result
}
