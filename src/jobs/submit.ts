// Submission: admit, insert, queue. The credit is held before the row exists, so a crash in between
// leaves a reservation, which the Organisation's alarm gives back, and never an unpaid job.
import { log } from '../log.ts'
import type { Caller } from '../organisation/api-key.ts'
import type { Admission, Answer } from '../organisation/rpc.ts'
import { RESERVATION_HELD_MS } from '../organisation/rpc.ts'
import { organisationStub } from '../organisation/stub.ts'
import { sha256 } from '../signing/sha256.ts'
import { withdrawJob } from './cancel.ts'
import { sendJob } from './queue.ts'
import { insertJob } from './store.ts'

export interface JobRequest {
  modelImageUrl: string
  garmentImageUrl: string
  workspaceId: string | undefined
  webhookUrl: string | undefined
  idempotencyKey: string | undefined
}

/**
 * Accepts a job: on return it is stored, paid for and, unless the queue refused, queued.
 * @param baseUrl what links in the job's webhook begin with
 * @throws when it is not known that the job is stored. An Idempotency-Key goes on standing for it, so
 * that repeating the request stores it; without one, or if nobody repeats, its credit goes back.
 */
export async function submitJob({
  env,
  caller,
  baseUrl,
  request,
}: {
  env: Env
  caller: Caller
  baseUrl: string
  request: JobRequest
}): Promise<Answer<Admission>> {
  const organisation = organisationStub(env, caller.organisationId)
  const begunAt = Date.now()
  const answer = await organisation.admit(caller, {
    workspaceId: request.workspaceId,
    idempotency: request.idempotencyKey
      ? { key: request.idempotencyKey, fingerprint: fingerprintOf(request) }
      : undefined,
    imageUrls: request.modelImageUrl.length + request.garmentImageUrl.length + baseUrl.length,
    webhookUrl: request.webhookUrl?.length,
  })
  if (!answer.ok) return answer

  const { jobId, replayed, createdAt, workspaceId, defaultWebhookUrl } = answer.value
  const insert = () =>
    insertJob(env, {
      id: jobId,
      organisationId: caller.organisationId,
      workspaceId,
      mode: caller.mode,
      modelImageUrl: request.modelImageUrl,
      garmentImageUrl: request.garmentImageUrl,
      webhookUrl: request.webhookUrl ?? defaultWebhookUrl,
      baseUrl,
      createdAt: new Date(createdAt),
    })
  let inserted: boolean
  try {
    // Tried twice: an error may mean that the row was written and only the answer was lost, and
    // the second insert of the same id then finds it.
    inserted = await insert().catch((error: unknown) => {
      log.error('insert is tried again', error, { jobId })
      return insert().then(() => true)
    })
  } catch (error) {
    // Both answers may be lost of an insert that happened: the key must not give a second job.
    if (!request.idempotencyKey) {
      await organisation
        .abandon(jobId)
        .catch((reason: unknown) => log.error('reservation left to the alarm', reason, { jobId }))
    }
    throw error
  }
  // So slow that the alarm may have looked for the job before it was there, and given its credit
  // back: then there is no job either.
  if (caller.mode === 'live' && Date.now() - begunAt > RESERVATION_HELD_MS) {
    if (!(await organisation.renewReservation(jobId))) {
      await withdrawJob({ env, jobId })
      throw new Error('The job was stored too late')
    }
  }
  // A replay that found its job has nothing to queue: the first request did, or the sweep will.
  if (inserted || !replayed) {
    const { mode, organisationId } = caller
    await sendJob(env, { jobId, mode, organisationId }).catch((error: unknown) =>
      log.error('job left to the sweep', error, { jobId }),
    )
  }
  return answer
}

/** Two requests are the same if what was understood of them is. */
function fingerprintOf(body: JobRequest): string {
  const text = JSON.stringify([
    body.modelImageUrl,
    body.garmentImageUrl,
    body.workspaceId ?? null,
    body.webhookUrl ?? null,
  ])
  return sha256(text).toString('base64')
}
