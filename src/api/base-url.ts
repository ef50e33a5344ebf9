import type { Context } from 'hono'
import type { App } from '../context.ts'
import { settingsOf } from '../settings.ts'

/** What links in an answer begin with: the configured address, else the one the client used. */
export const baseUrlOf = (c: Context<App>): string =>
  settingsOf(c.env).baseUrl ?? originOf(c.req.url)

/** Of a request's URL, which is always absolute and normal: nothing is left to parse. */
const originOf = (url: string) => url.slice(0, url.indexOf('/', 'https://'.length))
