// Pictures in R2: outputs, and copies of inputs.
import { contentTypeOf, IMAGE_FORMATS, type ImageFile, type ImageFormat } from '../domain/image.ts'
import { inputKey, outputKey, thumbnailKey } from '../platform/signing/signed-url.ts'

/** R2 deletes at most this many objects in one call. */
const KEYS_PER_DELETE = 1_000

/** Stores an input copy, an upload or a thumbnail. Outputs are stored by jobs/store-output. */
export const storePicture = (env: Env, key: string, { bytes, format }: ImageFile) =>
  storeObject(env, key, { format, open: () => bytes })

/**
 * @param open returns the whole file; called again for a second try
 * @param engine the engine that generated the picture, stored as metadata of an output
 */
export async function storeObject(
  env: Env,
  key: string,
  {
    format,
    open,
    engine,
  }: { format: ImageFormat; open: () => Uint8Array | ReadableStream; engine?: string },
): Promise<void> {
  const put = () =>
    env.IMAGES.put(key, open(), {
      httpMetadata: { contentType: contentTypeOf(format) },
      ...(engine === undefined ? {} : { customMetadata: { engine } }),
    })
  // One retry, because a lost picture may have to be paid for again.
  await put().catch(put)
}

/** Loads a picture in any format. */
export async function loadPicture(env: Env, keyOf: (format: ImageFormat) => string) {
  for (const format of IMAGE_FORMATS) {
    const object = await env.IMAGES.get(keyOf(format))
    if (!object) continue
    const bytes = new Uint8Array(await object.arrayBuffer())
    return { bytes, format, engine: object.customMetadata?.['engine'] }
  }
  return null
}

/** Stores the thumbnail of an output, unless the output is deleted. */
export async function storeThumbnail(request: {
  env: Env
  jobId: string
  outputFormat: ImageFormat
  thumbnail: Uint8Array<ArrayBuffer>
}): Promise<void> {
  const { env, jobId, outputFormat, thumbnail } = request
  const key = thumbnailKey(jobId)
  await storePicture(env, key, { bytes: thumbnail, format: 'jpeg' })
  // The output may have been deleted since it was read. `deletePictures` deletes it before the thumbnail, so
  // either this finds no output, or the thumbnail is deleted after this.
  const output = await env.IMAGES.head(outputKey(jobId, outputFormat)).catch(() => null)
  if (!output) await env.IMAGES.delete(key)
}

/**
 * Deletes every picture that can be stored for these jobs: the output and the copies of the inputs, in
 * every format, and then the thumbnail, including objects that no row refers to. May be repeated.
 * @param uploads keys of uploads to delete as well
 */
export async function deletePictures(
  env: Env,
  jobIds: readonly string[],
  uploads: readonly string[] = [],
): Promise<void> {
  const ofJobs = jobIds.flatMap((jobId) => [
    ...IMAGE_FORMATS.map((format) => outputKey(jobId, format)),
    ...inputKeysOf(jobId),
  ])
  await deleteObjects(env, [...ofJobs, ...uploads])
  await deleteObjects(env, jobIds.map(thumbnailKey))
}

async function deleteObjects(env: Env, keys: string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += KEYS_PER_DELETE) {
    await env.IMAGES.delete(keys.slice(at, at + KEYS_PER_DELETE))
  }
}

/** The keys under which copies of a job's inputs can be stored. */
export const inputKeysOf = (jobId: string): string[] =>
  IMAGE_FORMATS.flatMap((format) => [
    inputKey(jobId, 'model', format),
    inputKey(jobId, 'garment', format),
  ])
