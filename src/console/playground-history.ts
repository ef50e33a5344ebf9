// The latest jobs of the playground in this browser, by their ids in a cookie. The cookie is limited to
// the organisation's playground, so that other requests do not send it.
import { getCookie, setCookie } from 'hono/cookie'
import { isId } from '../ids.ts'
import type { ConsoleContext } from './context.ts'
import { cookieOptions } from './cookies.ts'
import { pathOf } from './organisation-path.ts'

const COOKIE = 'try-on.playground'
const MAX_JOBS = 10
/** As long as the pictures of jobs are usually stored. */
const MAX_AGE_SECONDS = 30 * 24 * 60 * 60

/** The newest first. */
export const recentJobIds = (c: ConsoleContext): string[] =>
  (getCookie(c, COOKIE) ?? '')
    .split('.')
    .filter((id) => isId('job', id))
    .slice(0, MAX_JOBS)

/** Only for requests to the playground: others do not send the cookie, and would replace the history. */
export function rememberJob(c: ConsoleContext, jobId: string): void {
  const jobIds = new Set([jobId, ...recentJobIds(c)])
  setCookie(c, COOKIE, [...jobIds].slice(0, MAX_JOBS).join('.'), {
    ...cookieOptions(c, MAX_AGE_SECONDS),
    path: pathOf(c, '/playground'),
  })
}
