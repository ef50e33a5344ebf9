// Ends a claimed job: stores or deletes its pictures, settles it, and cancels work that is still
// running.
import { isFinal } from '../domain/job.ts'
import type { ImageFormat } from '../domain/image.ts'
import type { GeneratedImage } from '../engines/engine.ts'
import { log } from '../log.ts'
import { outputKey } from '../signing/signed-url.ts'
import { cancelWorkOf } from './cancel-work.ts'
import type { ClaimedJob } from './claimed-job.ts'
import type { EndingFrom } from './endings.ts'
import type { FailureRecord } from './failure-record.ts'
import { deleteInputs } from './inputs.ts'
import { deletePictures, storePicture } from './pictures.ts'
import { settleJob } from './settle.ts'
import { findJob } from './store.ts'

export async function completeJob(env: Env, job: ClaimedJob, image: GeneratedImage): Promise<void> {
  const { engine } = job.row
  const key = outputKey(job.id, image.format)
  await storePicture({ env, key, picture: image, engine: engine ?? undefined })
  const isEnded = await finishJob(env, job, {
    status: 'completed',
    outputFormat: image.format,
    ...(engine === null ? {} : { engine }),
  })
  if (!isEnded) await deleteUnusedOutput(env, job.id, image.format)
}

export async function failJob(env: Env, job: ClaimedJob, failure: FailureRecord): Promise<void> {
  let mayBeEnded = true
  try {
    mayBeEnded = await finishJob(env, job, { status: 'failed', ...failure })
  } finally {
    // The handle is no longer in D1, only in memory.
    if (mayBeEnded) await cancelWorkOf(env, job.row)
  }
}

/** @returns false, without deleting pictures, when the job had ended or its claim was lost */
async function finishJob(
  env: Env,
  job: ClaimedJob,
  ending: EndingFrom<'processing'>,
): Promise<boolean> {
  const isEnded = await settleJob({ env, job: job.row, ending })
  if (!isEnded) return false
  if (job.row.mode === 'live' && ending.status === 'failed') await deleteAllPictures(env, job.id)
  else await deleteInputs(env, job.row)
  return true
}

/** The job had ended before its picture was stored: deletes the picture unless it is the output. */
async function deleteUnusedOutput(env: Env, jobId: string, format: ImageFormat): Promise<void> {
  const found = await findJob(env, jobId)
  const isOutput = found && (!isFinal(found.status) || found.outputFormat === format)
  if (!isOutput) await env.IMAGES.delete(outputKey(jobId, format))
}

/**
 * Deletes inputs and output: an attempt may have stored an output and crashed before it completed the
 * job. Best effort: retention deletes what remains.
 */
const deleteAllPictures = (env: Env, jobId: string): Promise<void> =>
  deletePictures({ env, jobIds: [jobId] }).catch((error: unknown) =>
    log.error('pictures not deleted', error, { jobId }),
  )
