// Which addresses may be given to us: we fetch pictures from them and deliver webhooks to them.
import { MAX_URL_LENGTH } from '../domain/limits.ts'
import ipaddr from 'ipaddr.js'
import { settingsOf } from '../settings.ts'

/** Names that never leave a machine or a site (RFC 6761, RFC 6762, RFC 8375, and custom). */
const PRIVATE_NAMES = ['localhost', 'local', 'internal', 'intranet', 'lan', 'home.arpa', 'corp']

/** Extensions of pictures that we cannot read. */
const OTHER_IMAGES =
  /\.(gif|bmp|tiff?|svgz?|avif|hei[cf]|ico|jxl|jp2|j2k|jpx|psd|eps|raw|cr2|nef|dng|apng|tga|pcx)$/i

/** Which URLs of customers this service requests. Every check of one takes it, so none can omit it. */
export interface UrlPolicy {
  /** Local development only: private hosts, and this service itself, may be requested. */
  readonly allowPrivate: boolean
  /** Hosts of this service, without ports: it never requests itself. */
  readonly ownHosts: readonly string[]
}

/** The policy where this service is reached at `ownUrls`, in addition to its BASE_URL. */
export function urlPolicy(env: Env, ownUrls: readonly string[]): UrlPolicy {
  const { allowPrivateUrls, baseUrl } = settingsOf(env)
  const known = baseUrl === undefined ? ownUrls : [baseUrl, ...ownUrls]
  return { allowPrivate: allowPrivateUrls, ownHosts: hostsOf(known) }
}

/**
 * What is wrong with a URL, in words that follow the name of its field; null when it is acceptable.
 * Names are judged as written: a Worker's fetch cannot reach a private network even where a public
 * name resolves into one.
 */
export function urlProblem(text: string, policy: UrlPolicy): string | null {
  const url = parsed(text, policy)
  return typeof url === 'string' ? url : null
}

/** Like `urlProblem`, and rejects URLs whose extension is of an image format that is not supported. */
export function imageUrlProblem(text: string, policy: UrlPolicy): string | null {
  const url = parsed(text, policy)
  if (typeof url === 'string') return url
  return OTHER_IMAGES.test(pathOf(url)) ? 'must be a JPEG, PNG or WebP image' : null
}

/**
 * The host that an address names, without its port. A name with a dot at its end is the same name, so
 * no dot is left there. Looking behind keeps a name full of dots from costing the square of its length.
 */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/(?<!\.)\.+$/, '')

/** The distinct hosts of some URLs. */
const hostsOf = (urls: readonly string[]): string[] => [
  ...new Set(urls.map((url) => hostOf(new URL(url)))),
]

/** The address, or what is wrong with it. */
function parsed(text: string, { allowPrivate, ownHosts }: UrlPolicy): URL | string {
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`
  // The parser would drop these silently, and the address fetched would not be the one shown.
  if (hasControlOrSpace(text)) return 'must not contain spaces or control characters'
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

/** @param host as `URL` writes it: lower case, IPv4 in dotted decimals, IPv6 in brackets */
function isPrivateHost(host: string): boolean {
  // The parser of addresses is slow to say no, so names are not shown to it.
  if (host.startsWith('[') || /^[\d.]+$/.test(host)) {
    const address = host.replace(/^\[|\]$/g, '')
    return !ipaddr.isValid(address) || !isPublicAddress(ipaddr.parse(address))
  }
  // A name without a dot is looked up in the local domain.
  return (
    !host.includes('.') || PRIVATE_NAMES.some((name) => host === name || host.endsWith(`.${name}`))
  )
}

function isPublicAddress(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) {
    return isPublicAddress(address.toIPv4Address())
  }
  // Of IPv6 only 2000::/3 has ever been given out (RFC 4291, 2.4); outside it are, among others, the
  // IPv4-compatible addresses, which the library calls unicast.
  if (address instanceof ipaddr.IPv6 && ((address.parts[0] ?? 0) & 0xe000) !== 0x2000) return false
  // Everything that tunnels to IPv4 (NAT64, 6to4, Teredo) has a range name of its own, so it is out.
  return address.range() === 'unicast'
}

// eslint-disable-next-line no-control-regex
const hasControlOrSpace = (text: string) => /[\u0000-\u0020\u007f]/.test(text)
