// The challenges that browsers sign with a passkey, each in a signed cookie. users/passkeys records
// used ones, so that each works once.
import { z } from 'zod'
import { randomToken } from '../platform/signing/token.ts'
import { PASSKEY_SECONDS } from '../users/passkeys.ts'
import { baseUrlOf } from '../http/base-url.ts'
import type { ConsoleContext } from './console-context.ts'
import { signedCookie } from './cookies.ts'

/** What a passkey is used for. A challenge for one purpose is invalid for another. */
type Purpose = 'sign-in' | 'add' | 'confirm'

const Challenge = z.object({
  purpose: z.string(),
  /** Null for a sign-in, where the passkey names the user. */
  userId: z.string().nullable(),
  challenge: z.string(),
  expiresAt: z.number(),
})

const cookieOf = (purpose: Purpose) =>
  signedCookie(`try-on.passkey-${purpose}`, PASSKEY_SECONDS, Challenge)

/** The website that passkeys belong to. */
const originOf = (c: ConsoleContext): string => new URL(baseUrlOf(c)).origin

/** @returns the challenge, and the origin that the browser signs with it */
export async function setPasskeyChallenge(
  c: ConsoleContext,
  purpose: Purpose,
  userId: string | null,
) {
  const challenge = randomToken()
  const expiresAt = Date.now() + PASSKEY_SECONDS * 1_000
  await cookieOf(purpose).set(c, { purpose, userId, challenge, expiresAt })
  return { challenge, origin: originOf(c) }
}

/** Removes the cookie. @returns its challenge and the origin; undefined if there is none, or it has expired */
export async function takePasskeyChallenge(
  c: ConsoleContext,
  purpose: Purpose,
  userId: string | null,
) {
  const value = await cookieOf(purpose).read(c)
  if (!value) return undefined
  cookieOf(purpose).remove(c)
  const isValid =
    value.purpose === purpose && value.userId === userId && value.expiresAt > Date.now()
  return isValid ? { challenge: value.challenge, origin: originOf(c) } : undefined
}
