// Authentication: better-auth on D1, with email and password. Only the console's pages call it; its
// own HTTP endpoints are not mounted. Actions by an emailed link (verification, password reset,
// invitation) are in users/passwords and users/accept-invitation, each as one D1 batch.
import type { BetterAuthPlugin } from 'better-auth'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import { createAuthEndpoint, isAPIError } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { betterAuth } from 'better-auth/minimal'
import { waitUntil } from 'cloudflare:workers'
import { drizzle } from 'drizzle-orm/d1'
import { z } from 'zod'
import { sendEmail } from '../mail/send.ts'
import {
  alreadyRegisteredEmail,
  passwordResetEmail,
  verificationEmail,
  type EmailContent,
} from '../mail/templates.tsx'
import { logins, RELATED, sessions, users, verifications } from '../platform/db/auth-schema.ts'
import { connection } from '../platform/db/read-sessions.ts'
import { newId } from '../platform/ids.ts'
import { perEnv, settingsOf } from '../platform/settings.ts'
import { passwordHash } from './password-hash.ts'

export const MIN_PASSWORD_LENGTH = 10
export const MAX_PASSWORD_LENGTH = 128
const MIN_SECRET_LENGTH = 32
const SESSION_SECONDS = 7 * 24 * 60 * 60
/** How exact the last activity of a session is. */
const ACTIVITY_SECONDS = 10 * 60
const LINK_SECONDS = 60 * 60
/** Without BASE_URL, base URLs come from the Host header. Forged headers must not fill the memory. */
const MAX_INSTANCES = 10

export type Auth = ReturnType<typeof createAuth>

/**
 * A setting that the console needs is missing. The API works without it. The message is for the operator
 * and is logged; visitors see `visitorMessage`.
 */
export class ConsoleNotSetUp extends Error {
  override readonly name = 'ConsoleNotSetUp'
  readonly visitorMessage: string

  constructor(message: string, visitorMessage: string) {
    super(message)
    this.visitorMessage = visitorMessage
  }
}

const instancesOf = perEnv(() => new Map<string, Auth>())

/** The better-auth instance for a base URL, cached in the isolate. @throws ConsoleNotSetUp */
export function authOf(env: Env, baseUrl: string): Auth {
  const instances = instancesOf(env)
  let auth = instances.get(baseUrl)
  if (!auth) {
    if (instances.size >= MAX_INSTANCES) instances.clear()
    instances.set(baseUrl, (auth = createAuth(env, baseUrl)))
  }
  return auth
}

/**
 * Checks that email can be sent. Links in email are never built from a Host header.
 * @throws ConsoleNotSetUp
 */
export function requireMail(env: Env): void {
  const { devMailbox, baseUrl, mailFrom } = settingsOf(env)
  if (devMailbox) return
  if (!baseUrl) throw needs('BASE_URL, the URL that links in email start with')
  if (!mailFrom) throw needs('MAIL_FROM, the sender address of all email')

  function needs(setting: string): ConsoleNotSetUp {
    return new ConsoleNotSetUp(
      `The console needs ${setting}: set it in wrangler.toml.`,
      'This service is not configured to send email yet, and this page needs email. Contact its operator.',
    )
  }
}

/** @throws ConsoleNotSetUp */
export function authSecretOf(env: Env): string {
  const secret = settingsOf(env).authSecret
  if (secret && secret.length >= MIN_SECRET_LENGTH) return secret
  throw new ConsoleNotSetUp(
    `The console needs AUTH_SECRET, at least ${MIN_SECRET_LENGTH} characters: run \`wrangler secret put AUTH_SECRET\`.`,
    'This service is not configured to sign people in yet. Contact its operator.',
  )
}

/** Creates a session for a user whom the console has authenticated. */
const sessionPlugin = {
  id: 'session-for-user',
  endpoints: {
    startSession: createAuthEndpoint(
      '/start-session',
      { method: 'POST', body: z.object({ userId: z.string() }), metadata: { scope: 'server' } },
      async (ctx) => {
        const { internalAdapter } = ctx.context
        const user = await internalAdapter.findUserById(ctx.body.userId)
        if (!user) throw new Error('The user does not exist')
        const session = await internalAdapter.createSession(user.id)
        await setSessionCookie(ctx, { session, user })
        return ctx.json({ status: true })
      },
    ),
  },
} satisfies BetterAuthPlugin

function createAuth(env: Env, baseUrl: string) {
  const mail = async (user: { email: string }, path: string, email: EmailContent) => {
    await sendEmail({ env, to: user.email, link: `${baseUrl}/console/${path}`, email })
  }
  return betterAuth({
    appName: 'Try-On',
    baseURL: baseUrl,
    secret: authSecretOf(env),
    trustedOrigins: [baseUrl],
    database: drizzleAdapter(drizzle(connection(env.DB), { schema: RELATED }), {
      provider: 'sqlite',
      schema: { user: users, session: sessions, account: logins, verification: verifications },
      transaction: false, // D1 has no interactive transactions
    }),
    user: {
      additionalFields: {
        organisationName: { type: 'string', required: false },
        deleteAfter: { type: 'date', required: false, input: false },
        twoFactorEnabledAt: { type: 'date', required: false, input: false },
      },
    },
    emailAndPassword: {
      enabled: true,
      requireEmailVerification: true,
      autoSignIn: false,
      minPasswordLength: MIN_PASSWORD_LENGTH,
      maxPasswordLength: MAX_PASSWORD_LENGTH,
      password: passwordHash,
      resetPasswordTokenExpiresIn: LINK_SECONDS,
      sendResetPassword: ({ user, token }) =>
        mail(user, `reset?token=${token}`, passwordResetEmail),
      // Sent by email only: the page is the same whether or not the address has an account.
      onExistingUserSignUp: async ({ user }) => {
        if (user.emailVerified) {
          await mail(user, 'sign-in', alreadyRegisteredEmail)
        } else {
          await authOf(env, baseUrl).api.sendVerificationEmail({ body: { email: user.email } })
        }
      },
    },
    emailVerification: {
      sendOnSignUp: true,
      expiresIn: LINK_SECONDS,
      sendVerificationEmail: ({ user, token }) =>
        mail(user, `verify?token=${token}`, verificationEmail),
    },
    // Reset tokens are stored as hashes, so that a copy of the database gives no access to accounts.
    verification: { storeIdentifier: 'hashed' },
    session: { expiresIn: SESSION_SECONDS, updateAge: ACTIVITY_SECONDS },
    plugins: [sessionPlugin],
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
    advanced: {
      cookiePrefix: 'try-on',
      defaultCookieAttributes: { path: '/console', httpOnly: true, sameSite: 'lax' },
      ipAddress: { ipAddressHeaders: ['cf-connecting-ip'] },
      backgroundTasks: { handler: waitUntil },
      database: {
        joins: true,
        generateId: ({ model }) => (model === 'user' ? newId('usr') : crypto.randomUUID()),
      },
    },
  })
}

/** better-auth's code for a rejected request; undefined for an internal error. */
export const authErrorCodeOf = (error: unknown): string | undefined =>
  isAPIError(error) && error.statusCode < 500 ? error.body?.code : undefined
