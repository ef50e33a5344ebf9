// Submits a job: admit, insert, queue. The credit is reserved before the row exists. After a crash in
// between, the Organisation's alarm releases the reservation. A job without one cannot exist.
import { rejectionOf, type ScenarioRejection } from '../domain/scenario.ts'
import { log, logError } from '../platform/log.ts'
import type { Caller } from '../credits/api-key.ts'
import { MAX_SUBMISSION_MS, type Admission, type RequestResult } from '../credits/rpc.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { sha256 } from '../platform/signing/sha256.ts'
import { withdrawJob } from './cancel.ts'
import { holdOf } from './processing/hold.ts'
import { messageOf, sendJob } from './queue.ts'
import { insertJob } from './job-store.ts'
import { SUBMITTED_IN_CONSOLE } from '../domain/job.ts'

export interface JobRequest {
  modelImageUrl: string
  garmentImageUrl: string
  workspaceId?: string | undefined
  webhookUrl?: string | undefined
  idempotencyKey?: string | undefined
  /** Whether to accept only a replay, because the link to an upload has expired. */
  mustReplay?: boolean
  /** For a test event: the only receiver of its event. */
  testEventFor?: string | undefined
  /** The key that the job stores, if it is not that of the caller. */
  apiKeyId?: string | undefined
  /** The id of the HTTP request. */
  requestId: string
}

/**
 * Accepts a job, unless it is a test job whose scenario rejects it. On return it is stored, its credit
 * is reserved and, unless the queue failed, it is queued.
 * @param baseUrl the origin of links in the job's webhook
 * @throws when the job may not be stored. A repeated request with the same Idempotency-Key then stores
 * the job. Without a key or a repetition, its credit is released.
 */
export async function submitJob(submission: {
  env: Env
  caller: Caller
  baseUrl: string
  request: JobRequest
}): Promise<RequestResult<Admission>> {
  const { env, caller, baseUrl, request } = submission
  const organisation = organisationStub(env, caller.organisationId)
  const rejection =
    caller.mode === 'test' && rejectionOf([request.modelImageUrl, request.garmentImageUrl])
  if (rejection && !request.mustReplay) return reject(organisation, caller, rejection)
  const startedAt = Date.now()
  const result = await organisation.admit(caller, {
    workspaceId: request.workspaceId,
    idempotency: request.idempotencyKey
      ? { key: request.idempotencyKey, fingerprint: fingerprintOf(request) }
      : undefined,
    mustReplay: request.mustReplay ?? false,
    imageUrlsLength: request.modelImageUrl.length + request.garmentImageUrl.length + baseUrl.length,
    requestIdLength: request.requestId.length,
    webhookUrlLength: request.webhookUrl?.length,
  })
  if (!result.ok) return result

  const { jobId, replayed, createdAt, workspaceId, defaultWebhookUrl, apiKeyId } = result.value
  const job = {
    id: jobId,
    organisationId: caller.organisationId,
    workspaceId,
    mode: caller.mode,
    modelImageUrl: request.modelImageUrl,
    garmentImageUrl: request.garmentImageUrl,
    webhookUrl: request.webhookUrl ?? defaultWebhookUrl,
    baseUrl,
    apiKeyId: request.apiKeyId ?? apiKeyId ?? SUBMITTED_IN_CONSOLE,
    createdAt: new Date(createdAt),
    testEventFor: request.testEventFor ?? null,
    requestId: request.requestId,
  }
  const hold = holdOf(job)
  const insert = () => insertJob(env, job, hold)
  let inserted: boolean
  try {
    // One retry. If the first insert succeeded and only its response was lost, the second one finds
    // the row.
    inserted = await insert().catch((error: unknown) => {
      log.error('insert retried', error, { jobId })
      return insert().then(() => true)
    })
  } catch (error) {
    // The row may be stored despite the error, so a request with this Idempotency-Key must not create
    // another job.
    if (!request.idempotencyKey) {
      await organisation.release([jobId]).catch(logError('reservation not released', { jobId }))
    }
    throw error
  }
  // After this time the alarm may have released the credit because the job did not exist yet.
  const isLate = caller.mode === 'live' && Date.now() - startedAt > MAX_SUBMISSION_MS
  if (isLate && !(await organisation.renewReservation(jobId))) {
    await withdrawJob({ env, jobId })
    throw new Error('The job was stored too late')
  }
  // If a replay finds its job, the first request has queued it, or the sweep will.
  if (inserted || !replayed) {
    const delaySeconds = Math.ceil((hold.until.getTime() - createdAt) / 1_000)
    await sendJob(env, messageOf(job), delaySeconds > 0 ? { delaySeconds } : undefined).catch(
      logError('job not queued', { jobId }),
    )
  }
  return result
}

/** The time until the next request in the headers of a submission that is rejected with 429. */
const REJECTED_FOR_SECONDS = 1

/**
 * Rejects a submission as its scenario requests, with the checks and headers of every request. Stores
 * nothing. Like a real one, a submission that is over the rate limit does not count against it.
 */
async function reject(
  organisation: ReturnType<typeof organisationStub>,
  caller: Caller,
  rejection: ScenarioRejection,
): Promise<RequestResult<never>> {
  const isCounted = rejection !== 'rate_limit_exceeded'
  const check = { rejectSuspended: true, isRead: false, isCounted }
  const result = await organisation.authenticate(caller, check)
  if (!result.ok) return result
  const exceeded = !isCounted && { remaining: 0, resetSeconds: REJECTED_FOR_SECONDS }
  return { ok: false, rejection, quota: { ...result.quota, ...exceeded } }
}

/** Requests are equal when their parsed fields are equal. */
function fingerprintOf(request: JobRequest): string {
  const text = JSON.stringify([
    request.modelImageUrl,
    request.garmentImageUrl,
    request.workspaceId ?? null,
    request.webhookUrl ?? null,
  ])
  return sha256(text).toString('base64')
}
