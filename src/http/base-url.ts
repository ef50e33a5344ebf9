// The origin of this service, for links to it.
import { urlPolicy, type UrlPolicy } from '../platform/net/public-url.ts'
import { perEnv, settingsOf } from '../platform/settings.ts'

/** The beginning of links in responses, pages and mail: BASE_URL, else the origin of the request. */
export const baseUrlOf = (c: { env: Env; req: { url: string } }): string =>
  settingsOf(c.env).baseUrl ?? originOf(c.req.url)

/** The policy for URLs in a request. The requested host counts as a host of this service. */
export function urlPolicyOf(c: { env: Env; req: { url: string } }): UrlPolicy {
  const origin = originOf(c.req.url)
  const policies = policiesOf(c.env)
  let policy = policies.get(origin)
  if (!policy) {
    if (policies.size >= MAX_ORIGINS) policies.clear()
    policies.set(origin, (policy = urlPolicy(c.env, [origin])))
  }
  return policy
}

/** One policy object per origin, since schemas are cached by policy. */
const policiesOf = perEnv(() => new Map<string, UrlPolicy>())
/** A Worker has few host names. The limit prevents forged Host headers from filling the memory. */
const MAX_ORIGINS = 100

/** A request's URL is always absolute and normalised, so it needs no parser. */
const originOf = (url: string) => url.slice(0, url.indexOf('/', 'https://'.length))
