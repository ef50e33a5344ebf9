// Pictures in R2: outputs, and copies of inputs.
import { contentTypeOf, IMAGE_FORMATS } from '../domain/image.ts'
import type { ImageFormat } from '../domain/image.ts'
import { inputKey, outputKey } from '../signing/signed-url.ts'

/** R2 deletes at most this many objects in one call. */
const KEYS_PER_DELETE = 1_000

interface Picture {
  bytes: Uint8Array<ArrayBuffer>
  format: ImageFormat
}

/** @param engine the engine that generated the picture, stored as metadata of an output */
export async function storePicture({
  env,
  key,
  picture,
  engine,
}: {
  env: Env
  key: string
  picture: Picture
  engine?: string | undefined
}): Promise<void> {
  const put = () =>
    env.IMAGES.put(key, picture.bytes, {
      httpMetadata: { contentType: contentTypeOf(picture.format) },
      ...(engine === undefined ? {} : { customMetadata: { engine } }),
    })
  // One retry, because a lost picture may have to be paid for again.
  await put().catch(put)
}

/** Loads a picture in any format. */
export async function loadPicture(
  env: Env,
  keyOf: (format: ImageFormat) => string,
): Promise<(Picture & { engine: string | undefined }) | null> {
  for (const format of IMAGE_FORMATS) {
    const object = await env.IMAGES.get(keyOf(format))
    if (!object) continue
    const bytes = new Uint8Array(await object.arrayBuffer())
    return { bytes, format, engine: object.customMetadata?.['engine'] }
  }
  return null
}

/**
 * Deletes every picture that can be stored for these jobs: the output and the copies of the inputs, in
 * every format, including objects that no row refers to. May be repeated.
 * @param uploads keys of uploads to delete as well
 */
export async function deletePictures({
  env,
  jobIds,
  uploads = [],
}: {
  env: Env
  jobIds: readonly string[]
  uploads?: readonly string[]
}): Promise<void> {
  const ofJobs = jobIds.flatMap((jobId) => [
    ...IMAGE_FORMATS.map((format) => outputKey(jobId, format)),
    ...inputKeysOf(jobId),
  ])
  const keys = [...ofJobs, ...uploads]
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
