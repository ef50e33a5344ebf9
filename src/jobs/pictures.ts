// Pictures in R2, ours and copies of customers'.
import { contentTypeOf, IMAGE_FORMATS } from '../images/format.ts'
import type { ImageFormat } from '../images/format.ts'
import { inputKey, outputKey } from '../outputs/link.ts'

interface Picture {
  bytes: Uint8Array<ArrayBuffer>
  format: ImageFormat
}

/** @param madeBy the engine, kept with a picture that one made */
export async function storePicture(
  env: Env,
  key: string,
  picture: Picture,
  madeBy?: string,
): Promise<void> {
  const put = () =>
    env.IMAGES.put(key, picture.bytes, {
      httpMetadata: { contentType: contentTypeOf(picture.format) },
      ...(madeBy === undefined ? {} : { customMetadata: { engine: madeBy } }),
    })
  // Tried twice: losing the picture may mean to pay for it again.
  await put().catch(put)
}

/** Finds a picture whose format is not known. */
export async function loadPicture(
  env: Env,
  keyOf: (format: ImageFormat) => string,
): Promise<(Picture & { madeBy: string | undefined }) | null> {
  for (const format of IMAGE_FORMATS) {
    const object = await env.IMAGES.get(keyOf(format))
    if (!object) continue
    const bytes = new Uint8Array(await object.arrayBuffer())
    return { bytes, format, madeBy: object.customMetadata?.['engine'] }
  }
  return null
}

/**
 * Deletes every picture stored for some jobs: outputs and copies of inputs, whatever their format.
 * @param jobIds at most 100: R2 deletes at most 1,000 keys at once
 */
export const deletePictures = (env: Env, jobIds: string[]): Promise<void> =>
  env.IMAGES.delete(
    jobIds.flatMap((jobId) =>
      IMAGE_FORMATS.flatMap((format) => [
        outputKey(jobId, format),
        inputKey(jobId, 'model', format),
        inputKey(jobId, 'garment', format),
      ]),
    ),
  )
