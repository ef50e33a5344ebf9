// Decides which customer URLs are allowed. The service downloads pictures from them and delivers
// webhooks to them.
import { hostOf } from '../../domain/host.ts'
import { MAX_URL_LENGTH } from '../../domain/limits.ts'
import { isSampleUrl } from '../../domain/samples.ts'
import { WITHOUT_CONTROL_CHARACTERS } from '../../domain/text.ts'
import { isUploadUrl } from '../signing/signed-url.ts'
import { settingsOf } from '../settings.ts'
import { isPrivateHost } from './private-host.ts'

/** Extensions of image formats that are not supported. */
const UNSUPPORTED_IMAGES =
  /\.(gif|bmp|tiff?|svgz?|avif|hei[cf]|ico|jxl|jp2|j2k|jpx|psd|eps|raw|cr2|nef|dng|apng|tga|pcx)$/i

/** Which customer URLs this service requests. A required parameter of every check. */
export interface UrlPolicy {
  /** Local development only: private hosts, and this service itself, may be requested. */
  readonly allowPrivate: boolean
  /** Hosts of this service, without ports: it never requests itself. */
  readonly ownHosts: readonly string[]
  /**
   * The origin of this service's uploads and sample pictures, which are not requested over HTTP but
   * read from storage.
   */
  readonly ownOrigin?: string | undefined
}

/** The policy where this service is reached at `ownUrls`, in addition to its BASE_URL. */
export function urlPolicy(env: Env, ownUrls: readonly string[]): UrlPolicy {
  const { allowPrivateUrls, baseUrl } = settingsOf(env)
  const known = baseUrl === undefined ? ownUrls : [baseUrl, ...ownUrls]
  const ownHosts = known.map((url) => hostOf(new URL(url)))
  return { allowPrivate: allowPrivateUrls, ownHosts, ownOrigin: known[0] }
}

/**
 * The problem of a URL, as words that follow the name of its field; null when the URL is allowed.
 * Host names are not resolved: a Worker's fetch cannot reach a private network, even if a public name
 * resolves to one.
 */
export function urlProblem(text: string, policy: UrlPolicy): string | null {
  const url = parseUrl(text, policy)
  return typeof url === 'string' ? url : null
}

/**
 * Like `urlProblem`, and rejects URLs whose extension is of an image format that is not supported.
 * Allows the sample pictures, and the address of every upload; `uploadProblem` checks whether the caller
 * may use it.
 */
export function imageUrlProblem(text: string, policy: UrlPolicy): string | null {
  const { ownOrigin } = policy
  const isStored =
    ownOrigin !== undefined && (isUploadUrl(ownOrigin, text) || isSampleUrl(ownOrigin, text))
  const url = parseUrl(text, isStored ? { ...policy, allowPrivate: true } : policy)
  if (typeof url === 'string') return url
  return UNSUPPORTED_IMAGES.test(pathOf(url)) ? 'must be a JPEG, PNG or WebP image' : null
}

/** The parsed URL, or its problem. */
function parseUrl(text: string, { allowPrivate, ownHosts }: UrlPolicy): URL | string {
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`
  // The URL parser removes them silently, and the fetched URL would differ from the one shown.
  if (text.includes(' ') || !WITHOUT_CONTROL_CHARACTERS.test(text)) {
    return 'must not contain spaces or control characters'
  }
  const url = URL.parse(text)
  if (!url || !/^https?:\/\//i.test(text)) return 'must be an absolute http or https URL'
  if (url.username || url.password) return 'must not contain a user name or password'
  if (allowPrivate) return url
  const host = hostOf(url)
  if (isPrivateHost(host)) return 'must not point to a private, loopback or link-local host'
  if (ownHosts.includes(host)) return 'must not point to this service itself'
  return url
}

function pathOf({ pathname }: URL): string {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return pathname
  }
}
