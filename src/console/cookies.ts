// Options of the console's own cookies. better-auth sets the session cookies.
import type { CookieOptions } from 'hono/utils/cookie'
import { baseUrlOf } from '../http/base-url.ts'
import type { ConsoleContext } from './console-context.ts'

export const cookieOptions = (c: ConsoleContext, maxAgeSeconds: number) =>
  ({
    path: '/console',
    httpOnly: true,
    sameSite: 'Lax',
    secure: baseUrlOf(c).startsWith('https:'),
    maxAge: maxAgeSeconds,
  }) satisfies CookieOptions
