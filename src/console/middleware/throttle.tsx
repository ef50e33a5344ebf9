// Throttles sign-ins, email, uploads and changes. Password checks count failures only. Each kind of
// email has its own limit, so that exhausting one does not block the others.
import { createMiddleware } from 'hono/factory'
import ipaddr from 'ipaddr.js'
import { requireMail } from '../../accounts/auth.ts'
import { normaliseAddress } from '../../accounts/email-address.ts'
import { consumeRateLimit, refundRateLimit } from '../../accounts/rate-limits.ts'
import type { RateLimit } from '../../accounts/rate-limits.ts'
import { findUserByEmail } from '../../accounts/users.ts'
import { log } from '../../log.ts'
import { sha256 } from '../../signing/sha256.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { guestPage, memberPage } from '../components/layout.tsx'
import { returnTo } from '../return-to.ts'
import { trustedBrowserKey } from './trusted-browser.ts'

const QUARTER_HOUR = 15 * 60
const HOUR = 60 * 60

export type Attempt =
  | { ok: false; response: Response }
  /** `undo` removes the attempt from the count. */
  | { ok: true; undo: () => Promise<void> }

/**
 * Counts a sign-in as failed before the password is checked; call `undo` if it succeeds. Limits apply
 * per network and per address. A trusted browser has its own limit.
 */
export async function attemptSignIn(c: ConsoleContext, address: string): Promise<Attempt> {
  return attempt(c, signInLimits(await sourceOf(c, address)))
}

const signInLimits = ({ trusted, mailbox, network }: Source): RateLimit[] =>
  trusted
    ? [{ key: `sign-in:browser:${trusted}`, max: 20, windowSeconds: QUARTER_HOUR }]
    : [
        { key: `sign-in:${mailbox}:${network}`, max: 10, windowSeconds: QUARTER_HOUR },
        networkLimit(network),
        { key: `sign-in:address:${mailbox}`, max: 100, windowSeconds: QUARTER_HOUR },
      ]

const networkLimit = (network: string): RateLimit => ({
  key: `sign-in:network:${network}`,
  max: 50,
  windowSeconds: QUARTER_HOUR,
})

/**
 * Counts a code as wrong before it is checked, also as a failed sign-in. A code has a million values,
 * so the limit per user is low: it allows 480 attempts a day.
 */
export async function attemptCode(
  c: ConsoleContext,
  user: { id: string; email: string },
): Promise<Attempt> {
  const source = await sourceOf(c, user.email)
  const { trusted } = source
  const key = trusted ? `code:browser:${trusted}` : `code:${user.id}`
  return attempt(c, [...signInLimits(source), { key, max: 20, windowSeconds: HOUR }])
}

/** Counts a sign-in with a passkey as failed before its signature is checked. */
export const attemptPasskey = (c: ConsoleContext): Promise<Attempt> =>
  attempt(c, [networkLimit(networkOf(c))])

/** Does the same as `attemptSignIn` for the current password of the signed-in user. */
export const attemptOwnPassword = (c: ConsoleContext): Promise<Attempt> =>
  attempt(c, [{ key: `password:${c.var.user.id}`, max: 20, windowSeconds: QUARTER_HOUR }])

/** Rejects requests to pages that send email if the settings for email are missing. */
export const requireMailSetUp = createMiddleware<ConsoleApp>(async (c, next) => {
  requireMail(c.env)
  await next()
})

/** @returns a response with status 429, or null if the email may be sent */
export async function limitMail(
  c: ConsoleContext,
  purpose: 'verification' | 'reset' | 'address-change',
  address: string,
): Promise<Response | null> {
  const { trusted, mailbox, network } = await sourceOf(c, address)
  const key = `${purpose}-mail`
  return limit(
    c,
    trusted
      ? [{ key: `${key}:browser:${trusted}`, max: 5, windowSeconds: HOUR }]
      : [
          { key: `${key}:${mailbox}:${network}`, max: 5, windowSeconds: HOUR },
          { key: `${key}:network:${network}`, max: 60, windowSeconds: HOUR },
          { key: `${key}:address:${mailbox}`, max: 20, windowSeconds: HOUR },
        ],
  )
}

/** @returns a response with status 429, or null if the organisation may send the invitation */
export function limitInvitation(c: ConsoleContext, address: string): Promise<Response | null> {
  const organisationId = c.var.membership.organisation.id
  const mailbox = mailboxOf(address)
  return limit(c, [
    { key: `invitation-mail:${organisationId}:${mailbox}`, max: 5, windowSeconds: HOUR },
    { key: `invitation-mail:organisation:${organisationId}`, max: 60, windowSeconds: HOUR },
    { key: `invitation-mail:address:${mailbox}`, max: 20, windowSeconds: HOUR },
  ])
}

/** Limits the changes per organisation, because each one adds a row to the audit log for 400 days. */
export const limitChanges = createMiddleware<ConsoleApp>(async (c, next) => {
  if (c.req.method !== 'POST') return next()
  const key = `change:${c.var.membership.organisation.id}`
  const tooMany = await limit(c, [{ key, max: 600, windowSeconds: HOUR }])
  return tooMany ?? next()
})

/** Limits the changes of an account, for the same reason. */
export const limitAccountChanges = createMiddleware<ConsoleApp>(async (c, next) => {
  if (c.req.method !== 'POST') return next()
  const key = `change:${c.var.user.id}`
  const tooMany = await limit(c, [{ key, max: 120, windowSeconds: HOUR }])
  return tooMany ?? next()
})

/**
 * Uploads are stored before their job is accepted, so they need their own limit.
 * @returns a response with status 429, or null if the upload is allowed
 */
export const limitUpload = (c: ConsoleContext): Promise<Response | null> =>
  limit(c, [{ key: `upload:${c.var.membership.organisation.id}`, max: 120, windowSeconds: HOUR }])

async function attempt(c: ConsoleContext, limits: RateLimit[]): Promise<Attempt> {
  const taken = await consumeRateLimit({ env: c.env, limits })
  if (!taken.ok) return { ok: false, response: await tooManyPage(c, taken.waitSeconds) }
  const undo = async () => {
    try {
      await refundRateLimit({ env: c.env, counted: taken.counted })
    } catch (error) {
      // The sign-in succeeds, but the attempt counts until its window ends.
      log.error('undoing an attempt failed', error)
    }
  }
  return { ok: true, undo }
}

async function limit(c: ConsoleContext, limits: RateLimit[]): Promise<Response | null> {
  const taken = await consumeRateLimit({ env: c.env, limits })
  return taken.ok ? null : tooManyPage(c, taken.waitSeconds)
}

function tooManyPage(c: ConsoleContext, waitSeconds: number) {
  c.header('Retry-After', String(waitSeconds))
  const minutes = Math.ceil(waitSeconds / 60)
  const isMember = c.get('membership') !== undefined
  const page = isMember ? memberPage : guestPage
  return page(
    c,
    { title: 'Too many attempts', status: 429 },
    <article>
      <h1>Too many attempts</h1>
      <p>
        Wait {minutes} {minutes === 1 ? 'minute' : 'minutes'} and try again.
      </p>
      {isMember ? (
        <a href={returnTo(c) ?? '/console'}>Back</a>
      ) : (
        <a href="/console/sign-in">Back to sign in</a>
      )}
    </article>,
  )
}

interface Source {
  /** The key of a trusted browser. */
  trusted: string | null
  mailbox: string
  network: string
}

/** The parts of the throttle keys for a request about an email address. */
async function sourceOf(c: ConsoleContext, address: string): Promise<Source> {
  const user = await findUserByEmail(c.env, address)
  return {
    trusted: await trustedBrowserKey(c, user?.id),
    mailbox: mailboxOf(address),
    network: networkOf(c),
  }
}

/** Hashed, so that the attempts table contains no email addresses. */
const mailboxOf = (address: string) => sha256(normaliseAddress(address)).toString('base64url')

/** The /64 network of an IPv6 address: a single customer can use all of its addresses. */
function networkOf(c: ConsoleContext): string {
  const ip = c.req.header('CF-Connecting-IP') ?? ''
  if (!ipaddr.isValid(ip)) return 'unknown'
  const address = ipaddr.process(ip) // converts IPv4-mapped addresses to IPv4
  if (address instanceof ipaddr.IPv4) return address.toString()
  return address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')
}
