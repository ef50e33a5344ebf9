// Signed links to pictures in R2: `{base}/{key}?expires={s since 1970}&signature={HMAC}`.
import { signer, verify } from '../hmac.ts'
import { EXTENSION } from '../images/format.ts'
import type { ImageFormat } from '../images/format.ts'
import { OUTPUT_URL_TTL_SECONDS } from '../settings.ts'

/** Where a job's picture is kept in R2, which is also the path of its link. */
export const outputKey = (jobId: string, format: ImageFormat) =>
  `outputs/${jobId}.${EXTENSION[format]}`

/** Where a customer's picture is kept, as our copy for a job's engine or as an upload. */
export const inputKey = (id: string, role: 'model' | 'garment', format: ImageFormat) =>
  `inputs/${id}/${role}.${EXTENSION[format]}`

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
 * Where a picture is kept that was uploaded in the console, told by the link that was made for it.
 * @returns null for every other address
 */
export function uploadKeyOf(env: Env, baseUrl: string, address: string): string | null {
  if (!address.startsWith(`${baseUrl}/inputs/upl_`)) return null
  const { pathname, searchParams } = new URL(address)
  const key = pathname.slice(1)
  const expires = searchParams.get('expires') ?? ''
  const problem = checkLink(env, key, expires, searchParams.get('signature') ?? '')
  // How long the link may be followed is another question: here it only has to be ours.
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
