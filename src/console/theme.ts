// Whether the pages are light or dark. Without a choice they follow the system.
import { getCookie, setCookie } from 'hono/cookie'
import type { ConsoleContext } from './console-context.ts'
import { cookieOptions } from './cookies.ts'

export const THEMES = ['light', 'dark', 'system'] as const
type Theme = (typeof THEMES)[number]

const COOKIE = 'try-on.theme'
const YEAR_SECONDS = 365 * 24 * 60 * 60

/** The choice of the user, in this browser. */
export const themeOf = (c: ConsoleContext): Theme =>
  THEMES.find((theme) => theme === getCookie(c, COOKIE)) ?? 'system'

/** Stores the choice of the user. */
export const selectTheme = (c: ConsoleContext, theme: Theme): void =>
  setCookie(c, COOKIE, theme, cookieOptions(c, YEAR_SECONDS))
