// The mode whose data the console shows: live or test. A cookie stores the choice of the user.
import { getCookie, setCookie } from 'hono/cookie'
import { MODES } from '../../domain/job.ts'
import type { Mode } from '../../domain/job.ts'
import type { ConsoleContext } from '../console-context.ts'
import { cookieOptions } from '../cookies.ts'

const COOKIE = 'try-on.mode'
const YEAR_SECONDS = 365 * 24 * 60 * 60

/** @returns undefined when the user has not chosen a mode */
export const selectedMode = (c: ConsoleContext): Mode | undefined => {
  const value = getCookie(c, COOKIE)
  return MODES.find((mode) => mode === value)
}

export const selectMode = (c: ConsoleContext, mode: Mode): void =>
  setCookie(c, COOKIE, mode, cookieOptions(c, YEAR_SECONDS))

/** Parameters that refer to an entry of a list, which has no meaning in the other mode. */
const POSITIONS = new Set(['before', 'after', 'key'])

/**
 * The page to show after the mode has changed: with its filters, but at the start of its list.
 * @param page path and query
 */
export function pageInNewMode(page: string): string {
  const [path = '', query] = page.split('?', 2)
  const filters = [...new URLSearchParams(query)].filter(([name]) => !POSITIONS.has(name))
  return filters.length === 0 ? path : `${path}?${new URLSearchParams(filters)}`
}
