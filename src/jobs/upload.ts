// Images that users upload in the console. They are stored for at most one day.
import { newId } from '../ids.ts'
import { JobFailure } from '../domain/failure.ts'
import { checkImage } from '../images/fetch.ts'
import type { Role } from '../images/fetch.ts'
import { signedUrl, uploadKey } from '../signing/signed-url.ts'
import { MAX_IMAGE_BYTES } from '../domain/limits.ts'
import { storePicture } from './pictures.ts'

/**
 * Stores an uploaded image for jobs of one organisation.
 * @param role names the image in errors
 * @returns a signed URL, or null when the file is too large or not a valid image
 */
export async function storeUpload({
  env,
  baseUrl,
  organisationId,
  role,
  file,
}: {
  env: Env
  baseUrl: string
  organisationId: string
  role: Role
  file: Blob
}): Promise<string | null> {
  if (file.size > MAX_IMAGE_BYTES) return null
  try {
    const picture = checkImage(role, new Uint8Array(await file.arrayBuffer()))
    const key = uploadKey(newId('upl'), organisationId, picture.format)
    await storePicture({ env, key, picture })
    return signedUrl(env, baseUrl, key)
  } catch (error) {
    if (error instanceof JobFailure) return null
    throw error
  }
}
