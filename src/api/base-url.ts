// Where this service is, for links that lead back to it.
import { settingsOf } from '../settings.ts'

/** What links in answers, pages and mail begin with: the configured address, else the one in use. */
export const baseUrlOf = (c: { env: Env; req: { url: string } }): string =>
  settingsOf(c.env).baseUrl ?? originOf(c.req.url)

/** Every address that is known to be this service's: the configured one and the one in use. */
export const ownUrlsOf = (c: { env: Env; req: { url: string } }): string[] => [
  baseUrlOf(c),
  originOf(c.req.url),
]

/** Of a request's URL, which is always absolute and normal: nothing is left to parse. */
const originOf = (url: string) => url.slice(0, url.indexOf('/', 'https://'.length))
