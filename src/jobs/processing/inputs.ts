// A job's two inputs, the model image and the garment image. Each is downloaded once. Later attempts,
// and engines that need URLs, use the input copy, which is deleted when the job ends.
import type { JobRow } from '../../platform/db/schema.ts'
import { JobFailure } from '../../domain/failure.ts'
import type { ImageFile, ImageFormat } from '../../domain/image.ts'
import { isSampleUrl } from '../../domain/samples.ts'
import type { CheckedImage } from '../../engines/engine.ts'
import { checkImage, fetchImage, type Role } from './fetch-image.ts'
import { urlPolicy } from '../../platform/net/public-url.ts'
import { logError } from '../../platform/log.ts'
import { inputKey, signedUrl, uploadKeyOf } from '../../platform/signing/signed-url.ts'
import { settingsOf } from '../../platform/settings.ts'
import type { JobMemory } from './memory.ts'
import { inputKeysOf, loadPicture, storePicture } from '../pictures.ts'

/**
 * Loads both images. Reserves memory just before the first byte arrives.
 * @returns the images in memory, ready for any engine; `bytes`: the size of both files
 * @throws JobFailure whose code names the image and the reason
 * @throws Postponed when other jobs use all the memory
 */
export async function inputsOf(env: Env, job: Readonly<JobRow>, memory: JobMemory) {
  const [model, garment] = await Promise.allSettled([
    inputOf(env, job, memory, 'model'),
    inputOf(env, job, memory, 'garment'),
  ])
  // Waits for both, so that the same pair of images always causes the same error.
  if (model.status === 'rejected') throw model.reason
  if (garment.status === 'rejected') throw garment.reason
  return {
    bytes: model.value.image.bytes.byteLength + garment.value.image.bytes.byteLength,
    model: model.value.image,
    garment: garment.value.image,
    /** Stores copies for a later attempt. Best effort. */
    async storeCopies() {
      await Promise.allSettled([model.value.storeCopy(), garment.value.storeCopy()])
    },
  }
}

/** Deletes the input copies, if any. Best effort: the bucket's lifecycle rule deletes what remains. */
export async function deleteInputs(env: Env, job: Readonly<JobRow>): Promise<void> {
  if (!mayHaveCopies(job)) return
  await env.IMAGES.delete(inputKeysOf(job.id)).catch(
    logError('input copies not deleted', { jobId: job.id }),
  )
}

/** Copies are stored only for paid engines and after failures, which these columns show. */
const mayHaveCopies = (job: Readonly<JobRow>) =>
  job.mode === 'live' &&
  (job.attempts > 1 ||
    job.errorCode !== null ||
    job.engineHandle !== null ||
    job.ambiguousStarts > 0)

async function inputOf(env: Env, job: Readonly<JobRow>, memory: JobMemory, role: Role) {
  const url = role === 'model' ? job.modelImageUrl : job.garmentImageUrl
  if (url === null) throw new JobFailure('internal_error', `the ${role} URL is deleted`)
  const { baseUrl = job.baseUrl } = settingsOf(env)
  const { organisationId } = job
  const beforeBody = () => memory.reserve()
  const uploaded = uploadKeyOf(env, { baseUrl, organisationId }, url)
  const isSample = isSampleUrl(baseUrl, url)
  if (mayHaveCopies(job) || uploaded || isSample) await beforeBody()
  const keyOf = (format: ImageFormat) => inputKey(job.id, role, format)
  const copy = mayHaveCopies(job) ? await loadPicture(env, keyOf) : null
  const load = () => {
    if (uploaded) return readUpload(env, role, uploaded)
    if (isSample) return readSample(env, role, url)
    return fetchImage(role, url, urlPolicy(env, [job.baseUrl]), { organisationId, beforeBody })
  }
  const picture = copy ?? (await load())
  const key = keyOf(picture.format)

  let stored: Promise<void> | undefined = copy ? Promise.resolve() : undefined
  const storeCopy = () => {
    stored ??= storePicture(env, key, picture).catch((cause: unknown) => {
      stored = undefined
      // Engines request the URL before they call their provider, so nothing was started.
      throw new JobFailure('internal_error', 'an input could not be copied', {
        retriable: true,
        work: 'refused',
        cause,
      })
    })
    return stored
  }
  const image: CheckedImage = {
    ...picture,
    async url() {
      await storeCopy()
      return signedUrl(env, baseUrl, key)
    },
  }
  return { image, storeCopy }
}

/** Reads an image that was uploaded in the console from R2, since a Worker cannot fetch from itself. */
async function readUpload(env: Env, role: Role, key: string): Promise<ImageFile> {
  const object = await env.IMAGES.get(key)
  if (!object) {
    throw new JobFailure(`${role}_image_unreachable`, 'the upload has been deleted', {
      audience: 'members',
    })
  }
  return checkImage(role, new Uint8Array(await object.arrayBuffer()))
}

/** Reads a sample picture from the static assets, for the same reason. */
async function readSample(env: Env, role: Role, url: string): Promise<ImageFile> {
  const response = await env.ASSETS.fetch(url)
  if (!response.ok) throw new Error(`the sample ${url} is missing: ${response.status}`)
  return checkImage(role, new Uint8Array(await response.arrayBuffer()))
}
