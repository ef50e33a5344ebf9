// Work on a job, driven by messages of the queue `tryon-jobs`. A message may come twice, late or
// while another consumer is at the same job; the claim in D1 decides who works, and the job's row,
// not the message, says what is left to do.
import type { JobRow } from '../db/schema.ts'
import { enginesOf } from '../engines/choose.ts'
import { EngineError } from '../engines/engine.ts'
import type { CheckedImage, GeneratedImage, Progress } from '../engines/engine.ts'
import { simulate } from '../engines/placeholder.ts'
import { contentTypeOf, IMAGE_FORMATS } from '../images/format.ts'
import type { ImageFormat } from '../images/format.ts'
import { fetchImage } from '../images/fetch.ts'
import type { Role } from '../images/fetch.ts'
import { log } from '../log.ts'
import { inputKey, outputKey, signedUrl } from '../outputs/link.ts'
import { JOB_DEADLINE_MS, settingsOf } from '../settings.ts'
import { withdrawJob } from './cancel.ts'
import { Gate } from './gate.ts'
import { scenarioOf } from './scenario.ts'
import { settleEnded, settleJob } from './settle.ts'
import { isFinal } from './status.ts'
import type { JobErrorCode } from './status.ts'
import { claimJob, parkJob } from './store.ts'

/** As many as `max_retries` of the queue, plus one. */
const MAX_ATTEMPTS = 6

/** What is to become of the message. */
export type Verdict = { done: true } | { done: false; retryAfterSeconds: number }

const DONE: Verdict = { done: true }

/**
 * Jobs with pictures in memory at the same time: each holds up to two of 10 MB beside what the
 * engine needs, in an isolate of 128 MB.
 */
const liveJobs = new Gate(2)

/** Takes a job as far as it can go now. Does not throw for reasons of the job's own. */
export async function processJob({ env, jobId }: { env: Env; jobId: string }): Promise<Verdict> {
  const { claimed: job, found } = await claimJob(env, jobId)
  if (!job) return passOver(env, jobId, found)
  try {
    if (isOverdue(job)) throw new EngineError('generation_timeout', 'past the deadline')
    const progress = job.mode === 'test' ? simulateJob(job) : await generate(env, job)
    if (!progress.done) return await waitForEngine(env, job, progress)
    await keepOutput(env, job, progress.image)
    await settleJob(env, job, { status: 'completed', outputFormat: progress.image.format })
    return DONE
  } catch (error) {
    return failOrRetry(env, job, error)
  }
}

/** For a message whose retries are spent: fails the job unless it is over or in other hands. */
export async function giveUpJob({ env, jobId }: { env: Env; jobId: string }): Promise<void> {
  const { claimed, found } = await claimJob(env, jobId)
  if (claimed) await fail(env, claimed, claimed.errorCode ?? 'internal_error')
  else await passOver(env, jobId, found)
}

/** There was nothing to claim: finds out why, and makes good what an earlier crash left out. */
async function passOver(env: Env, jobId: string, found: JobRow | undefined): Promise<Verdict> {
  if (!found) log.warn('message for a job that does not exist', { jobId })
  else if (isFinal(found.status)) await settleEnded(env, [found])
  else if (found.status === 'pending') await withdrawJob({ env, jobId }) // it was suspended
  // Otherwise another consumer has it. Should that one have died, the sweep sees the lease end.
  return DONE
}

const isOverdue = (job: JobRow) =>
  job.startedAt !== null && Date.now() - job.startedAt.getTime() > JOB_DEADLINE_MS

const simulateJob = (job: JobRow): Progress =>
  simulate(scenarioOf([job.modelImageUrl, job.garmentImageUrl]), job.startedAt ?? new Date())

function generate(env: Env, job: JobRow): Promise<Progress> {
  return liveJobs.run(async () => {
    const earlier = job.attempts > 1 ? await earlierOutput(env, job) : null
    if (earlier) return { done: true, image: earlier }
    const [engine] = enginesOf(env)
    if (!engine) throw new EngineError('engine_unavailable', 'no engine is configured')
    if (job.engineHandle !== null && engine.poll) return engine.poll(job.engineHandle)
    const [model, garment] = await fetchInputs(env, job)
    const startedAt = job.startedAt ?? new Date()
    return engine.start({ jobId: job.id, startedAt, model, garment })
  })
}

/** A picture made before a crash is not made, and an engine not paid, a second time. */
async function earlierOutput(env: Env, job: JobRow): Promise<GeneratedImage | null> {
  for (const format of IMAGE_FORMATS) {
    const object = await env.IMAGES.get(outputKey(job.id, format))
    if (object) return { bytes: new Uint8Array(await object.arrayBuffer()), format }
  }
  return null
}

async function fetchInputs(env: Env, job: JobRow): Promise<[CheckedImage, CheckedImage]> {
  const { allowPrivateUrls, baseUrl = job.baseUrl } = settingsOf(env)
  const load = async (role: Role, address: string): Promise<CheckedImage> => {
    const image = await fetchImage(role, address, allowPrivateUrls, baseUrl)
    return { ...image, url: () => shareInput(env, job, role, image) }
  }
  const [model, garment] = await Promise.allSettled([
    load('model', job.modelImageUrl),
    load('garment', job.garmentImageUrl),
  ])
  // Both are waited for, so that the same pair always gives the same error.
  if (model.status === 'rejected') throw model.reason
  if (garment.status === 'rejected') throw garment.reason
  return [model.value, garment.value]
}

async function shareInput(
  env: Env,
  job: JobRow,
  role: Role,
  image: { bytes: Uint8Array; format: ImageFormat },
): Promise<string> {
  const key = inputKey(job.id, role, image.format)
  await putImage(env, key, image)
  return signedUrl(env, settingsOf(env).baseUrl ?? job.baseUrl, key)
}

const keepOutput = (env: Env, job: JobRow, image: GeneratedImage) =>
  putImage(env, outputKey(job.id, image.format), image)

async function putImage(
  env: Env,
  key: string,
  image: { bytes: Uint8Array; format: ImageFormat },
): Promise<void> {
  await env.IMAGES.put(key, image.bytes, {
    httpMetadata: { contentType: contentTypeOf(image.format) },
  })
}

/** Leaves the job to its engine and comes back by another message. */
async function waitForEngine(
  env: Env,
  job: JobRow,
  { handle, pollAfterSeconds }: Extract<Progress, { done: false }>,
): Promise<Verdict> {
  const dueAt = new Date(Date.now() + pollAfterSeconds * 1_000)
  await parkJob(env, job.id, { dueAt, engineHandle: handle })
  await env.JOBS.send({ jobId: job.id }, { delaySeconds: pollAfterSeconds })
  return DONE
}

async function failOrRetry(env: Env, job: JobRow, error: unknown): Promise<Verdict> {
  const known = error instanceof EngineError
  const code: JobErrorCode = known ? error.code : 'internal_error'
  const retriable = known ? error.retriable : true
  const fields = { jobId: job.id, attempt: job.attempts, code }
  if (known) log.info('attempt failed', { ...fields, reason: error.message })
  else log.error('attempt failed', error, fields)

  if (!retriable || job.attempts >= MAX_ATTEMPTS) {
    await fail(env, job, code)
    return DONE
  }
  const asked = known ? (error.retryAfterSeconds ?? 0) : 0
  const retryAfterSeconds = Math.max(asked, 2 ** job.attempts)
  const dueAt = new Date(Date.now() + retryAfterSeconds * 1_000)
  await parkJob(env, job.id, { dueAt, errorCode: code })
  return { done: false, retryAfterSeconds }
}

const fail = (env: Env, job: JobRow, errorCode: JobErrorCode) =>
  settleJob(env, job, { status: 'failed', errorCode })
