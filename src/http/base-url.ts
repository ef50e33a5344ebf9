// Where this service is, for links that lead back to it.
import { urlPolicy } from '../net/public-url.ts'
import type { UrlPolicy } from '../net/public-url.ts'
import { perEnv, settingsOf } from '../settings.ts'

/** What links in answers, pages and mail begin with: the configured address, else the one in use. */
export const baseUrlOf = (c: { env: Env; req: { url: string } }): string =>
  settingsOf(c.env).baseUrl ?? originOf(c.req.url)

/** The policy for URLs that come with a request: this service is also the host that was requested. */
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

/** One policy object per origin, since schemas are cached by it. */
const policiesOf = perEnv(() => new Map<string, UrlPolicy>())
/** A Worker is reached under few names; made-up Host headers must not fill the memory. */
const MAX_ORIGINS = 100

/** Of a request's URL, which is always absolute and normal: nothing is left to parse. */
const originOf = (url: string) => url.slice(0, url.indexOf('/', 'https://'.length))
