// Images that clients upload through the API or the console. They are stored for about a day.
import { newId } from '../ids.ts'
import { inspectImage } from '../images/fetch.ts'
import type { RejectedImage } from '../images/fetch.ts'
import { uploadKey, uploadLink } from '../signing/signed-url.ts'
import { storePicture } from './pictures.ts'

/** A signed link to an upload, for jobs of its organisation that are submitted before `expiresAt`. */
export interface StoredUpload {
  url: string
  expiresAt: Date
}

/**
 * Stores an image for jobs of one organisation. The caller has limited its size and has called
 * `Organisation.admitUpload`.
 */
export async function storeUpload({
  env,
  baseUrl,
  organisationId,
  bytes,
}: {
  env: Env
  baseUrl: string
  organisationId: string
  bytes: Uint8Array<ArrayBuffer>
}): Promise<StoredUpload | RejectedImage> {
  const picture = inspectImage(bytes)
  if ('problem' in picture) return picture
  const key = uploadKey(newId('upl'), organisationId, picture.format)
  await storePicture({ env, key, picture })
  return uploadLink(env, baseUrl, key)
}
