import type { Context } from 'hono'
import type { App } from '../context.ts'
import { settingsOf } from '../settings.ts'

/** What links in an answer begin with: the configured address, else the one the client used. */
export const baseUrlOf = (c: Context<App>): string =>
  settingsOf(c.env).baseUrl ?? new URL(c.req.url).origin
