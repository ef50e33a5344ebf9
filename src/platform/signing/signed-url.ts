// Signed links to pictures in R2: `{base}/{key}?expires={s since 1970}&signature={HMAC}`.
import { signer, verify } from './hmac.ts'
import { EXTENSION, type ImageFormat } from '../../domain/image.ts'
import { OUTPUT_URL_TTL_SECONDS, UPLOAD_TTL_SECONDS } from '../../domain/limits.ts'

/** The R2 key of a job's output, which is also the path of its link. */
export const outputKey = (jobId: string, format: ImageFormat) =>
  `outputs/${jobId}.${EXTENSION[format]}`

/** The R2 key of the thumbnail of a job's output, a JPEG. No link leads to it. */
export const thumbnailKey = (jobId: string) => `thumbnails/${jobId}.jpg`

/** The R2 key of an input copy. */
export const inputKey = (jobId: string, role: 'model' | 'garment', format: ImageFormat) =>
  `inputs/${jobId}/${role}.${EXTENSION[format]}`

/** The R2 key of an upload. It contains the organisation, the only one that may use the upload. */
export const uploadKey = (uploadId: string, organisationId: string, format: ImageFormat) =>
  `uploads/${uploadId}/${organisationId}.${EXTENSION[format]}`

/** Creates a signed link to an R2 key. */
export type LinkTo = (key: string) => string

/** Links that expire one hour after `at`. */
export function linksFrom(env: Env, baseUrl: string, at = new Date()): LinkTo {
  return linksUntil(env, baseUrl, Math.floor(at.getTime() / 1_000) + OUTPUT_URL_TTL_SECONDS)
}

/** @param expires seconds since 1970 */
function linksUntil(env: Env, baseUrl: string, expires: number): LinkTo {
  const sign = signer(env, 'link')
  return (key) => `${baseUrl}/${key}?expires=${expires}&signature=${sign(`${key}\n${expires}`)}`
}

/** One link that expires in one hour. */
export const signedUrl = (env: Env, baseUrl: string, key: string): string =>
  linksFrom(env, baseUrl)(key)

/** How long a page that is loaded again contains the same links, s. */
const SAME_LINK_SECONDS = 10 * 60

/**
 * A link for a page that is loaded repeatedly. It stays the same for ten minutes, so that the browser
 * does not load the picture again. It expires in 60 to 70 minutes.
 */
export function signedUrlForPage(env: Env, baseUrl: string, key: string): string {
  const period = Math.floor(Date.now() / 1_000 / SAME_LINK_SECONDS) + 1
  return linksUntil(env, baseUrl, period * SAME_LINK_SECONDS + OUTPUT_URL_TTL_SECONDS)(key)
}

/** The link to a new upload. Jobs can be submitted with it for a day. */
export function uploadLink(env: Env, baseUrl: string, key: string) {
  const expires = Math.floor(Date.now() / 1_000) + UPLOAD_TTL_SECONDS
  return { url: linksUntil(env, baseUrl, expires)(key), expiresAt: new Date(expires * 1_000) }
}

interface Owner {
  baseUrl: string
  organisationId: string
}

/** Whether a URL has the address of an upload. It may be of another organisation, expired or forged. */
export const isUploadUrl = (baseUrl: string, url: string): boolean =>
  url.startsWith(`${baseUrl}/uploads/`)

/**
 * The R2 key of an organisation's upload, from its signed link, which may have expired: a job that was
 * submitted in time reads the upload later.
 * @returns null for every other URL, including uploads of other organisations
 */
export function uploadKeyOf(env: Env, owner: Owner, url: string): string | null {
  if (!isUploadUrl(owner.baseUrl, url)) return null
  const { key, problem } = checkUploadUrl(env, owner, url)
  return problem === null || problem === 'url_expired' ? key : null
}

/**
 * Why a new job cannot use the link to an upload. Without I/O. The message follows the name of the
 * field. A link with `url_expired` was valid: a submission with it may be repeated.
 * @returns null for a valid link and for every URL that is not of an upload
 */
export function uploadProblem(env: Env, owner: Owner, url: string) {
  if (!isUploadUrl(owner.baseUrl, url)) return null
  const { problem } = checkUploadUrl(env, owner, url)
  return problem && { code: problem, message: UPLOAD_PROBLEMS[problem] }
}

const UPLOAD_PROBLEMS = {
  invalid_signature:
    'is not a valid link to an upload: use the url of the response to POST /v1/uploads unchanged',
  other_organisation:
    'is an upload of another organisation: upload the image with an API key of this organisation',
  url_expired: 'has expired: upload the image again with POST /v1/uploads',
} as const

const UPLOAD_KEY = /^uploads\/upl_\w{26}\/(org_\w{26})\.(jpg|png|webp)$/

/** Checks the link of an upload: first the signature, then the organisation, then the expiry. */
function checkUploadUrl(env: Env, { organisationId }: Owner, url: string) {
  const { pathname, searchParams } = new URL(url)
  const key = pathname.slice(1)
  const [, owner] = UPLOAD_KEY.exec(key) ?? []
  const expires = searchParams.get('expires') ?? ''
  const problem = checkLink(env, key, expires, searchParams.get('signature') ?? '')
  if (!owner || problem === 'invalid_signature')
    return { key, problem: 'invalid_signature' } as const
  return { key, problem: owner === organisationId ? problem : 'other_organisation' } as const
}

/** The error of a link, or null when it is valid. */
export function checkLink(env: Env, key: string, expires: string, signature: string) {
  if (!verify(env, 'link', `${key}\n${expires}`, signature)) return 'invalid_signature'
  return Number(expires) * 1_000 < Date.now() ? 'url_expired' : null
}
