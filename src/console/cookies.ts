// The console's own cookies, among them what users choose in their browser. better-auth sets the session cookies.
import { deleteCookie, getCookie, getSignedCookie, setCookie, setSignedCookie } from 'hono/cookie'
import type { CookieOptions } from 'hono/utils/cookie'
import type { z } from 'zod'
import { baseUrlOf } from '../http/base-url.ts'
import { authSecretOf } from '../users/auth.ts'
import type { ConsoleContext } from './console-context.ts'
import { MODES } from '../domain/job.ts'

const PATH = '/console'
export const YEAR_SECONDS = 365 * 24 * 60 * 60

export const cookieOptions = (c: ConsoleContext, maxAgeSeconds: number, path = PATH) =>
  ({
    path,
    httpOnly: true,
    sameSite: 'Lax',
    secure: baseUrlOf(c).startsWith('https:'),
    maxAge: maxAgeSeconds,
  }) satisfies CookieOptions

export const removeCookie = (c: ConsoleContext, name: string) =>
  deleteCookie(c, name, { path: PATH })

/** A cookie with a value that only the console can create. */
export const signedCookie = <Value>(name: string, seconds: number, schema: z.ZodType<Value>) => ({
  async read(c: ConsoleContext): Promise<Value | null> {
    const text = await getSignedCookie(c, authSecretOf(c.env), name)
    return text ? schema.parse(JSON.parse(text)) : null
  },
  set: (c: ConsoleContext, value: Value) =>
    setSignedCookie(c, name, JSON.stringify(value), authSecretOf(c.env), cookieOptions(c, seconds)),
  remove: (c: ConsoleContext) => removeCookie(c, name),
})

/** What a user has chosen in this browser, for a year. */
export const choiceCookie = <Value extends string>(name: string, values: readonly Value[]) => ({
  /** @returns undefined when the user has not chosen */
  read: (c: ConsoleContext): Value | undefined =>
    values.find((value) => value === getCookie(c, name)),
  /** Ignores a value that is not one of them. */
  set(c: ConsoleContext, value: string): void {
    const isKnown = values.some((known) => known === value)
    if (isKnown) setCookie(c, name, value, cookieOptions(c, YEAR_SECONDS))
  },
})

export const THEMES = ['light', 'dark', 'system'] as const

export const chosenMode = choiceCookie('try-on.mode', MODES)
export const chosenTheme = choiceCookie('try-on.theme', THEMES)

/** Without a choice, the pages follow the system. */
export const themeOf = (c: ConsoleContext) => chosenTheme.read(c) ?? 'system'
