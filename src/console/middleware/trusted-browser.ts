// A browser that has signed in to an account is trusted for that account: it has its own limit of
// failed sign-ins, so that an attacker's wrong passwords do not lock out the user. A signed cookie
// identifies the browser.
import { z } from 'zod'
import { sha256 } from '../../platform/signing/sha256.ts'
import type { ConsoleContext } from '../console-context.ts'
import { signedCookie, YEAR_SECONDS } from '../cookies.ts'

const MAX_ACCOUNTS = 5

/** A random browser ID and the hashed IDs of the users that signed in, latest first. */
const browserCookie = signedCookie(
  'try-on.browser',
  YEAR_SECONDS,
  z.object({ id: z.uuid(), accounts: z.array(z.string()).max(MAX_ACCOUNTS) }),
)

/** @returns a key of this browser and user, or null if the user has not signed in here */
export async function trustedBrowserKey(c: ConsoleContext, userId: string | undefined) {
  const browser = await browserCookie.read(c)
  const account = userId === undefined ? undefined : hashOf(userId)
  return browser && account && browser.accounts.includes(account)
    ? `${browser.id}:${account}`
    : null
}

/** Call after every sign-in. */
export async function trustBrowser(c: ConsoleContext, userId: string): Promise<void> {
  const browser = (await browserCookie.read(c)) ?? { id: crypto.randomUUID(), accounts: [] }
  const account = hashOf(userId)
  const others = browser.accounts.filter((other) => other !== account)
  const accounts = [account, ...others].slice(0, MAX_ACCOUNTS)
  await browserCookie.set(c, { id: browser.id, accounts })
}

const hashOf = (userId: string) => sha256(userId).toString('base64url')
