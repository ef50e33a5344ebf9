// A browser that has signed in to an account is trusted for that account: it has its own limit of
// failed sign-ins, so that an attacker's wrong passwords do not lock out the user. A signed cookie
// identifies the browser.
import { getSignedCookie, setSignedCookie } from 'hono/cookie'
import { z } from 'zod'
import { authSecretOf } from '../../users/auth.ts'
import { sha256 } from '../../platform/signing/sha256.ts'
import type { ConsoleContext } from '../console-context.ts'
import { cookieOptions } from '../cookies.ts'

const COOKIE = 'try-on.browser'
const MAX_ACCOUNTS = 5
const YEAR_SECONDS = 365 * 24 * 60 * 60

/** A random browser ID and the hashed IDs of the users that signed in, latest first. */
const Browser = z.object({ id: z.uuid(), accounts: z.array(z.string()).max(MAX_ACCOUNTS) })

/** @returns a key of this browser and user, or null if the user has not signed in here */
export async function trustedBrowserKey(
  c: ConsoleContext,
  userId: string | undefined,
): Promise<string | null> {
  const browser = await readCookie(c)
  const account = userId === undefined ? undefined : hashOf(userId)
  return browser && account && browser.accounts.includes(account)
    ? `${browser.id}:${account}`
    : null
}

/** Call after every sign-in. */
export async function trustBrowser(c: ConsoleContext, userId: string): Promise<void> {
  const browser = (await readCookie(c)) ?? { id: crypto.randomUUID(), accounts: [] }
  const account = hashOf(userId)
  const others = browser.accounts.filter((other) => other !== account)
  const accounts = [account, ...others].slice(0, MAX_ACCOUNTS)
  await setSignedCookie(
    c,
    COOKIE,
    JSON.stringify({ id: browser.id, accounts }),
    authSecretOf(c.env),
    cookieOptions(c, YEAR_SECONDS),
  )
}

async function readCookie(c: ConsoleContext): Promise<z.infer<typeof Browser> | null> {
  const text = await getSignedCookie(c, authSecretOf(c.env), COOKIE)
  return text ? Browser.parse(JSON.parse(text)) : null
}

const hashOf = (userId: string) => sha256(userId).toString('base64url')
