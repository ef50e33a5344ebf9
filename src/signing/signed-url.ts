// Signed links to pictures in R2: `{base}/{key}?expires={s since 1970}&signature={HMAC}`.
import { signer, verify } from './hmac.ts'
import { EXTENSION } from '../domain/image.ts'
import type { ImageFormat } from '../domain/image.ts'
import { OUTPUT_URL_TTL_SECONDS } from '../domain/limits.ts'

/** Where a job's picture is kept in R2, which is also the path of its link. */
export const outputKey = (jobId: string, format: ImageFormat) =>
  `outputs/${jobId}.${EXTENSION[format]}`

/** The R2 key of our copy of a customer's picture, made for a job's engine. */
export const inputKey = (jobId: string, role: 'model' | 'garment', format: ImageFormat) =>
  `inputs/${jobId}/${role}.${EXTENSION[format]}`

/** The R2 key of an upload. It names the organisation, which alone may use the upload. */
export const uploadKey = (uploadId: string, organisationId: string, format: ImageFormat) =>
  `uploads/${uploadId}/${organisationId}.${EXTENSION[format]}`

/** From where a picture is kept to a link to it. */
export type LinkTo = (key: string) => string

/** Makes links that work for one hour from now. */
export function linksFrom(env: Env, baseUrl: string): LinkTo {
  const expires = Math.floor(Date.now() / 1_000) + OUTPUT_URL_TTL_SECONDS
  const sign = signer(env, 'link')
  return (key) => `${baseUrl}/${key}?expires=${expires}&signature=${sign(`${key}\n${expires}`)}`
}

/** One such link. */
export const signedUrl = (env: Env, baseUrl: string, key: string): string =>
  linksFrom(env, baseUrl)(key)

/**
 * The R2 key of an organisation's upload, from the signed link that was made for it.
 * @returns null for every other URL, another organisation's upload included
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
  // The expiry limits who may open the link. The job reads the upload itself, as long as it is stored.
  return problem === 'invalid_signature' ? null : key
}

/** What is wrong with a link, or null when it may be served. */
export function checkLink(
  env: Env,
  key: string,
  expires: string,
  signature: string,
): 'invalid_signature' | 'url_expired' | null {
  if (!verify(env, 'link', `${key}\n${expires}`, signature)) return 'invalid_signature'
  return Number(expires) * 1_000 < Date.now() ? 'url_expired' : null
}
