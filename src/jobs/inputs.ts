// A job's two pictures. Each is fetched from its customer once: whatever needs it later, an engine
// that wants URLs or another try of ours, is given our copy, which is deleted when the job ends.
import type { JobRow } from '../db/schema.ts'
import { JobFailure } from '../domain/failure.ts'
import type { CheckedImage } from '../engines/engine.ts'
import { checkImage, fetchImage } from '../images/fetch.ts'
import type { FetchedImage, Role } from '../images/fetch.ts'
import { urlPolicy } from '../net/public-url.ts'
import { log } from '../log.ts'
import { inputKey, signedUrl, uploadKeyOf } from '../signing/signed-url.ts'
import { settingsOf } from '../settings.ts'
import type { JobMemory } from './memory.ts'
import { inputKeysOf, loadPicture, storePicture } from './pictures.ts'

/** The pictures in memory, ready for any engine. */
export interface Inputs {
  model: CheckedImage
  garment: CheckedImage
  /** The size of both files. */
  bytes: number
  /** Keeps copies for a later try. Best effort. */
  keep(): Promise<void>
}

/**
 * Gets both pictures. Memory is reserved when the first byte of one is about to arrive.
 * @throws JobFailure that says which picture is at fault, and how
 * @throws Postponed when other jobs use all of it
 */
export async function inputsOf(env: Env, job: JobRow, memory: JobMemory): Promise<Inputs> {
  const [model, garment] = await Promise.allSettled([
    inputOf(env, job, memory, 'model', job.modelImageUrl),
    inputOf(env, job, memory, 'garment', job.garmentImageUrl),
  ])
  // Both are waited for, so that the same pair always gives the same error.
  if (model.status === 'rejected') throw model.reason
  if (garment.status === 'rejected') throw garment.reason
  return {
    bytes: model.value.image.bytes.byteLength + garment.value.image.bytes.byteLength,
    model: model.value.image,
    garment: garment.value.image,
    async keep() {
      await Promise.allSettled([model.value.keep(), garment.value.keep()])
    },
  }
}

/** Deletes our copies, if any were made. Best effort: the bucket's lifecycle rule is the net. */
export async function deleteInputs(env: Env, job: JobRow): Promise<void> {
  if (!mayHaveCopies(job)) return
  await env.IMAGES.delete(inputKeysOf(job.id)).catch((error: unknown) =>
    log.error('copies left to the bucket', error, { jobId: job.id }),
  )
}

/** Copies are made for paid engines and after failures only; each of these leaves a trace. */
const mayHaveCopies = (job: JobRow) =>
  job.mode === 'live' &&
  (job.attempts > 1 ||
    job.errorCode !== null ||
    job.engineHandle !== null ||
    job.ambiguousStarts > 0)

async function inputOf(
  env: Env,
  job: JobRow,
  memory: JobMemory,
  role: Role,
  address: string | null,
) {
  if (address === null) throw new JobFailure('internal_error', `the ${role} URL is deleted`)
  const { baseUrl = job.baseUrl } = settingsOf(env)
  const { organisationId } = job
  const beforeBody = () => memory.reserve()
  const uploaded = uploadKeyOf(env, { baseUrl, organisationId }, address)
  if (mayHaveCopies(job) || uploaded) await beforeBody()
  const copy = mayHaveCopies(job) ? await copyOf(env, job, role) : null
  const picture =
    copy ??
    (uploaded
      ? await readUpload(env, role, uploaded)
      : await fetchImage(role, address, urlPolicy(env, [job.baseUrl]), {
          organisationId,
          beforeBody,
        }))
  const key = inputKey(job.id, role, picture.format)

  let kept: Promise<void> | undefined = copy ? Promise.resolve() : undefined
  const keep = () => {
    kept ??= storePicture(env, key, picture).catch((cause: unknown) => {
      kept = undefined
      // Engines ask for the URL before they call anybody.
      throw new JobFailure('internal_error', 'an input could not be copied', {
        retriable: true,
        work: 'refused',
        cause,
      })
    })
    return kept
  }
  const image: CheckedImage = {
    ...picture,
    async url() {
      await keep()
      return signedUrl(env, baseUrl, key)
    },
  }
  return { image, keep }
}

/** A picture uploaded in the console is read where it lies: a Worker cannot fetch from itself. */
async function readUpload(env: Env, role: Role, key: string): Promise<FetchedImage> {
  const object = await env.IMAGES.get(key)
  if (!object) throw new JobFailure(`${role}_image_unreachable`, 'the upload is no longer kept')
  return checkImage(role, new Uint8Array(await object.arrayBuffer()))
}

const copyOf = (env: Env, job: JobRow, role: Role): Promise<FetchedImage | null> =>
  loadPicture(env, (format) => inputKey(job.id, role, format))
