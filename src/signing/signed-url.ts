// Signed links to pictures in R2: `{base}/{key}?expires={s since 1970}&signature={HMAC}`.
import { signer, verify } from './hmac.ts'
import { EXTENSION } from '../domain/image.ts'
import type { ImageFormat } from '../domain/image.ts'
import { OUTPUT_URL_TTL_SECONDS } from '../domain/limits.ts'

/** The R2 key of a job's output, which is also the path of its link. */
export const outputKey = (jobId: string, format: ImageFormat) =>
  `outputs/${jobId}.${EXTENSION[format]}`

/** The R2 key of an input copy. */
export const inputKey = (jobId: string, role: 'model' | 'garment', format: ImageFormat) =>
  `inputs/${jobId}/${role}.${EXTENSION[format]}`

/** The R2 key of an upload. It contains the organisation, the only one that may use the upload. */
export const uploadKey = (uploadId: string, organisationId: string, format: ImageFormat) =>
  `uploads/${uploadId}/${organisationId}.${EXTENSION[format]}`

/** Creates a signed link to an R2 key. */
export type LinkTo = (key: string) => string

/** Links that expire in one hour. */
export function linksFrom(env: Env, baseUrl: string): LinkTo {
  const expires = Math.floor(Date.now() / 1_000) + OUTPUT_URL_TTL_SECONDS
  const sign = signer(env, 'link')
  return (key) => `${baseUrl}/${key}?expires=${expires}&signature=${sign(`${key}\n${expires}`)}`
}

/** One link that expires in one hour. */
export const signedUrl = (env: Env, baseUrl: string, key: string): string =>
  linksFrom(env, baseUrl)(key)

/**
 * The R2 key of an organisation's upload, from its signed link.
 * @returns null for every other URL, including uploads of other organisations
 */
export function uploadKeyOf(
  env: Env,
  { baseUrl, organisationId }: { baseUrl: string; organisationId: string },
  url: string,
): string | null {
  if (!url.startsWith(`${baseUrl}/uploads/`)) return null
  const { pathname, searchParams } = new URL(url)
  const key = pathname.slice(1)
  if (!key.includes(`/${organisationId}.`)) return null
  const expires = searchParams.get('expires') ?? ''
  const problem = checkLink(env, key, expires, searchParams.get('signature') ?? '')
  // The expiry applies only to requests for the link. A job reads the upload from R2.
  return problem === 'invalid_signature' ? null : key
}

/** The error of a link, or null when it is valid. */
export function checkLink(
  env: Env,
  key: string,
  expires: string,
  signature: string,
): 'invalid_signature' | 'url_expired' | null {
  if (!verify(env, 'link', `${key}\n${expires}`, signature)) return 'invalid_signature'
  return Number(expires) * 1_000 < Date.now() ? 'url_expired' : null
}
