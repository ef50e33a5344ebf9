// How often the pages that could be abused may be used, and what they answer past that. Passwords are
// limited by failures only. Mail has a budget for each purpose, so that using up one blocks no other.
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
import { trustedBrowserKey } from '../trusted-browser.ts'

const QUARTER_HOUR = 15 * 60
const HOUR = 60 * 60

export type Attempt = { ok: false; page: Response } | { ok: true; notAFailure: () => Promise<void> }

/**
 * Counts an attempt to sign in as a failure; `notAFailure` takes that back, once. Strangers share limits by
 * network and by address. A browser that signed in to the account before has a limit of its own.
 */
export async function attemptSignIn(c: ConsoleContext, address: string): Promise<Attempt> {
  const { trusted, mailbox, network } = await sourceOf(c, address)
  return attempt(
    c,
    trusted
      ? [{ key: `sign-in:browser:${trusted}`, max: 20, windowSeconds: QUARTER_HOUR }]
      : [
          { key: `sign-in:${mailbox}:${network}`, max: 10, windowSeconds: QUARTER_HOUR },
          { key: `sign-in:network:${network}`, max: 50, windowSeconds: QUARTER_HOUR },
          { key: `sign-in:address:${mailbox}`, max: 100, windowSeconds: QUARTER_HOUR },
        ],
  )
}

/** The same for the current password of the signed-in person. */
export const attemptOwnPassword = (c: ConsoleContext): Promise<Attempt> =>
  attempt(c, [{ key: `password:${c.var.person.id}`, max: 20, windowSeconds: QUARTER_HOUR }])

/** Rejects pages that send mail as long as none can be sent. */
export const mailRequired = createMiddleware<ConsoleApp>(async (c, next) => {
  requireMail(c.env)
  await next()
})

/** @returns the response that rejects a request for mail, or null if it may be sent */
export async function limitMail(
  c: ConsoleContext,
  purpose: 'verification' | 'reset',
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

/** @returns the response that rejects an invitation by the current organisation, or null */
export function limitInvitation(c: ConsoleContext, address: string): Promise<Response | null> {
  const organisationId = c.var.membership.organisation.id
  const mailbox = mailboxOf(address)
  return limit(c, [
    { key: `invitation-mail:${organisationId}:${mailbox}`, max: 5, windowSeconds: HOUR },
    { key: `invitation-mail:organisation:${organisationId}`, max: 60, windowSeconds: HOUR },
    { key: `invitation-mail:address:${mailbox}`, max: 20, windowSeconds: HOUR },
  ])
}

/**
 * Limits what an organisation's members change in the console: each change leaves rows behind, in the
 * audit log for 400 days.
 */
export const limitChanges = createMiddleware<ConsoleApp>(async (c, next) => {
  if (c.req.method !== 'POST') return next()
  const key = `change:${c.var.membership.organisation.id}`
  const tooMany = await limit(c, [{ key, max: 600, windowSeconds: HOUR }])
  return tooMany ?? next()
})

/** @returns the response that rejects an upload, or null. Uploads are stored before their job is accepted. */
export const limitUpload = (c: ConsoleContext): Promise<Response | null> =>
  limit(c, [{ key: `upload:${c.var.membership.organisation.id}`, max: 120, windowSeconds: HOUR }])

async function attempt(c: ConsoleContext, limits: RateLimit[]): Promise<Attempt> {
  const taken = await consumeRateLimit({ env: c.env, limits })
  if (!taken.ok) return { ok: false, page: await tooManyPage(c, taken.waitSeconds) }
  const notAFailure = async () => {
    try {
      await refundRateLimit({ env: c.env, counted: taken.counted })
    } catch (error) {
      // The person has signed in all the same; the attempt counts until its window ends.
      log.error('attempt not returned', error)
    }
  }
  return { ok: true, notAFailure }
}

async function limit(c: ConsoleContext, limits: RateLimit[]): Promise<Response | null> {
  const taken = await consumeRateLimit({ env: c.env, limits })
  return taken.ok ? null : tooManyPage(c, taken.waitSeconds)
}

function tooManyPage(c: ConsoleContext, waitSeconds: number) {
  c.header('Retry-After', String(waitSeconds))
  const minutes = Math.ceil(waitSeconds / 60)
  const requireSession = c.get('membership') !== undefined
  const page = requireSession ? memberPage : guestPage
  return page(
    c,
    { title: 'Too many attempts', status: 429 },
    <article>
      <h1>Too many attempts</h1>
      <p>
        Please wait {minutes} {minutes === 1 ? 'minute' : 'minutes'} and try again.
      </p>
      {requireSession ? (
        <a href={returnTo(c) ?? '/console'}>Back</a>
      ) : (
        <a href="/console/sign-in">Back to sign-in</a>
      )}
    </article>,
  )
}

/** Where a request about an address comes from, as keys of limits. */
async function sourceOf(c: ConsoleContext, address: string) {
  const user = await findUserByEmail(c.env, address)
  return {
    trusted: await trustedBrowserKey(c, user?.id),
    mailbox: mailboxOf(address),
    network: networkOf(c),
  }
}

/** Stored as a hash: the table of attempts holds no addresses. */
const mailboxOf = (address: string) => sha256(normaliseAddress(address)).toString('base64url')

/** An IPv6 customer has 2^64 addresses, so only the network counts. */
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
