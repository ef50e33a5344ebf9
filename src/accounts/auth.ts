// Who somebody is: better-auth on D1, with email and password. It is called by the console's own
// pages only and has no address of its own, so what these pages do not offer, nobody can reach.
// Attempts are limited in accounts/attempts, which counts per address as well as per IP.
import { isAPIError } from 'better-auth/api'
import { betterAuth } from 'better-auth/minimal'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import { waitUntil } from 'cloudflare:workers'
import { database } from '../db/client.ts'
import { logins, sessions, users, verifications } from '../db/people.ts'
import { newId } from '../ids.ts'
import { alreadyRegisteredLetter, resetLetter, verifyLetter } from '../mail/letters.ts'
import { sendMail } from '../mail/send.ts'
import { settingsOf } from '../settings.ts'

export const MIN_PASSWORD_LENGTH = 10
export const MAX_PASSWORD_LENGTH = 128
const MIN_SECRET_LENGTH = 32
const SESSION_SECONDS = 7 * 24 * 60 * 60
const LINK_SECONDS = 60 * 60

export type Auth = ReturnType<typeof createAuth>

/** What the console says where AUTH_SECRET is missing; the API works without. */
export class ConsoleNotSetUp extends Error {
  override readonly name = 'ConsoleNotSetUp'
}

const instances = new WeakMap<Env, Map<string, Auth>>()

/**
 * better-auth for the address that the console is used under; made once per isolate.
 * @throws ConsoleNotSetUp
 */
export function authOf(env: Env, baseUrl: string): Auth {
  let ofEnv = instances.get(env)
  if (!ofEnv) instances.set(env, (ofEnv = new Map()))
  let auth = ofEnv.get(baseUrl)
  if (!auth) ofEnv.set(baseUrl, (auth = createAuth(env, baseUrl)))
  return auth
}

/** @throws ConsoleNotSetUp */
export function authSecretOf(env: Env): string {
  const secret = settingsOf(env).authSecret
  if (secret && secret.length >= MIN_SECRET_LENGTH) return secret
  throw new ConsoleNotSetUp(
    `The console needs AUTH_SECRET, at least ${MIN_SECRET_LENGTH} characters: run \`wrangler secret put AUTH_SECRET\`.`,
  )
}

function createAuth(env: Env, baseUrl: string) {
  return betterAuth({
    appName: 'Try-On',
    baseURL: baseUrl,
    secret: authSecretOf(env),
    trustedOrigins: [baseUrl],
    database: drizzleAdapter(database(env), {
      provider: 'sqlite',
      schema: { user: users, session: sessions, account: logins, verification: verifications },
      transaction: false, // D1 has none
    }),
    user: {
      additionalFields: {
        organisationName: { type: 'string', required: false },
        deleteAfter: { type: 'date', required: false, input: false },
      },
    },
    emailAndPassword: {
      enabled: true,
      requireEmailVerification: true,
      autoSignIn: false,
      minPasswordLength: MIN_PASSWORD_LENGTH,
      maxPasswordLength: MAX_PASSWORD_LENGTH,
      resetPasswordTokenExpiresIn: LINK_SECONDS,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: ({ user, token }) =>
        sendMail(env, user.email, resetLetter(`${baseUrl}/console/reset?token=${token}`)),
      // Told by mail alone: the page answers alike whether or not an address is known.
      onExistingUserSignUp: async ({ user }) => {
        if (user.emailVerified) {
          await sendMail(env, user.email, alreadyRegisteredLetter(`${baseUrl}/console/sign-in`))
        } else {
          await authOf(env, baseUrl).api.sendVerificationEmail({ body: { email: user.email } })
        }
      },
    },
    emailVerification: {
      sendOnSignUp: true,
      autoSignInAfterVerification: true,
      expiresIn: LINK_SECONDS,
      sendVerificationEmail: ({ user, token }) =>
        sendMail(env, user.email, verifyLetter(`${baseUrl}/console/verify?token=${token}`)),
    },
    session: { expiresIn: SESSION_SECONDS },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
    advanced: {
      cookiePrefix: 'try-on',
      defaultCookieAttributes: { path: '/console', httpOnly: true, sameSite: 'lax' },
      ipAddress: { ipAddressHeaders: ['cf-connecting-ip'] },
      backgroundTasks: { handler: waitUntil },
      database: {
        generateId: ({ model }) => (model === 'user' ? newId('usr') : crypto.randomUUID()),
      },
    },
  })
}

/**
 * Why signing in, a link or a password was refused: a code of better-auth's.
 * @returns undefined for what is not the person's fault, which the page has to report as ours
 */
export const refusalOf = (error: unknown): string | undefined =>
  isAPIError(error) && error.statusCode < 500 ? error.body?.code : undefined

const LINK_CODES = new Set(['INVALID_TOKEN', 'TOKEN_EXPIRED', 'USER_NOT_FOUND'])

/** Whether the link from a mail is what was refused: used before, too old or never ours. */
export const isBadLink = (error: unknown): boolean => LINK_CODES.has(refusalOf(error) ?? '')
