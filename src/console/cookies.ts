// The console's own cookies; those of sessions are better-auth's.
import type { CookieOptions } from 'hono/utils/cookie'
import { baseUrlOf } from '../http/base-url.ts'
import type { ConsoleContext } from './context.ts'

/** For the console's pages only, and out of reach of scripts. */
export const cookieOptions = (c: ConsoleContext, maxAgeSeconds: number) =>
  ({
    path: '/console',
    httpOnly: true,
    sameSite: 'Lax',
    secure: baseUrlOf(c).startsWith('https:'),
    maxAge: maxAgeSeconds,
  }) satisfies CookieOptions
