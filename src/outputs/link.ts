// Signed links to pictures in R2: `{base}/{key}?expires={s since 1970}&signature={HMAC}`.
import { sign, verify } from '../hmac.ts'
import { EXTENSION } from '../images/format.ts'
import type { ImageFormat } from '../images/format.ts'
import { OUTPUT_URL_TTL_SECONDS } from '../settings.ts'

/** Where a job's picture is kept in R2, which is also the path of its link. */
export const outputKey = (jobId: string, format: ImageFormat) =>
  `outputs/${jobId}.${EXTENSION[format]}`

/** Where our copy of a customer's picture is kept while an engine may fetch it. */
export const inputKey = (jobId: string, role: 'model' | 'garment', format: ImageFormat) =>
  `inputs/${jobId}/${role}.${EXTENSION[format]}`

/** A link that works for one hour from now. */
export function signedUrl(env: Env, baseUrl: string, key: string): string {
  const expires = Math.floor(Date.now() / 1_000) + OUTPUT_URL_TTL_SECONDS
  return `${baseUrl}/${key}?expires=${expires}&signature=${sign(env, 'link', `${key}\n${expires}`)}`
}

/** What is wrong with a link, or null when it may be served. */
export async function checkLink(
  env: Env,
  key: string,
  expires: string,
  signature: string,
): Promise<'invalid_signature' | 'url_expired' | null> {
  if (!(await verify(env, 'link', `${key}\n${expires}`, signature))) return 'invalid_signature'
  return Number(expires) * 1_000 < Date.now() ? 'url_expired' : null
}
