// Limits of the console, with the page that says when to try again. Password checks count failures only. Each
// kind of email has its own budget, so that exhausting one does not block the others.
import { HTTPException } from 'hono/http-exception'
import { requireMail } from '../../users/auth.ts'
import { ACTION_BUDGETS, type ActionBudget, type RouteBudget } from '../../domain/budgets.ts'
import { normaliseAddress } from '../../organisations/email-address.ts'
import { refundRateLimit } from '../../platform/db/rate-limits.ts'
import { findUserByEmail } from '../../users/users.ts'
import { networkOf } from '../../http/network.ts'
import { budgetOf } from '../../http/route-budgets.ts'
import { limitsOf, takeLimits, takeRouteBudget, type Subjects } from '../../http/take-budget.ts'
import { Semaphore, SemaphoreTimeout } from '../../platform/concurrency/semaphore.ts'
import { log } from '../../platform/log.ts'
import { sha256 } from '../../platform/signing/sha256.ts'
import { createMiddleware, type ConsoleContext } from '../console-context.ts'
import { guestPage, memberPage, type Anchor } from '../components/layout.tsx'
import { returnTo } from '../return-to.ts'
import { trustedBrowserKey } from './trusted-browser.ts'

/** Removes an attempt from the count. */
type Undo = () => Promise<void>

/** Takes what the budget of the route allows a subject of the request. */
const limitRoute = (subjectsOf: (c: ConsoleContext) => Subjects) =>
  createMiddleware(async (c, next) => {
    const taken = await takeRouteBudget(c, subjectsOf(c))
    return taken.ok ? next() : tooManyPage(c, taken.waitSeconds)
  })

/** Precedes everything, so that requests above the limit read no row. */
export const limitNetwork = limitRoute((c) => ({ network: networkOf(c) }))
export const limitUser = limitRoute((c) => ({ user: c.var.user.id }))
export const limitOrganisation = limitRoute((c) => ({
  organisation: c.var.membership.organisation.id,
}))

/** The number of pages and thumbnails of an organisation that an isolate serves at a time. */
const PAGES_AT_A_TIME = 2
/** The slot of a killed invocation is free then. */
const MAX_PAGE_MS = 30_000
/** How long a page waits for others of its organisation, ms. */
const MAX_PAGE_WAIT_MS = 10_000

/** Thumbnails wait for pages. Changes do not wait. */
const PRIORITIES: Partial<Record<RouteBudget, number>> = { page: 0, thumbnail: 1 }

const pageSlots = new Semaphore({
  slots: Infinity,
  slotsPerOwner: PAGES_AT_A_TIME,
  timeoutMs: MAX_PAGE_MS,
})

/** Serves few pages of an organisation at a time, so that its readers do not delay other requests. */
export const limitConcurrentPages = createMiddleware(async (c, next) => {
  const priority = PRIORITIES[budgetOf(c.req.method, c.req.path)]
  if (priority === undefined) return next()
  try {
    const owner = c.var.membership.organisation.id
    await pageSlots.run(next, { owner, priority, maxWaitMs: MAX_PAGE_WAIT_MS })
  } catch (error) {
    if (!(error instanceof SemaphoreTimeout)) throw error
    return tooManyPage(c, 1)
  }
})

/** The browser that sets a new password by an emailed link has a limit of its own. */
const BY_EMAIL: Anchor = ['/console/forgot', 'Reset your password to sign in now']

/**
 * Counts a sign-in as failed before the password is checked; call the result if it succeeds. Limits apply
 * per network and per address. A trusted browser has its own limit.
 */
export const attemptSignIn = async (c: ConsoleContext, address: string): Promise<Undo> =>
  attempt(c, actionLimits('failed-sign-in', await sourceOf(c, address)), BY_EMAIL)

/**
 * Counts a code as wrong before it is checked, also as a failed sign-in. A code has a million values,
 * so the limit per user is low: it allows 480 attempts a day.
 */
export async function attemptCode(c: ConsoleContext, user: { id: string; email: string }) {
  const source = await sourceOf(c, user.email)
  const { browser } = source
  return attempt(c, [
    ...actionLimits('failed-sign-in', source),
    ...actionLimits('code', browser ? { browser } : { user: user.id }),
  ])
}

/** Counts a sign-in with a passkey as failed before its signature is checked. */
export const attemptPasskey = (c: ConsoleContext): Promise<Undo> =>
  attempt(c, actionLimits('failed-sign-in', { network: networkOf(c) }))

/** Does the same as `attemptSignIn` for the current password of the signed-in user. */
export const attemptOwnPassword = (c: ConsoleContext): Promise<Undo> =>
  attempt(c, actionLimits('password', { user: c.var.user.id }))

/** Counts a sign-in whose identity was proved: each one stores a session and writes to audit logs. */
export const limitSignIns = (c: ConsoleContext, userId: string) =>
  limit(c, actionLimits('sign-in', { user: userId }))

/** Whether the email about a sign-in with a new browser is within its budget. */
export async function mayMailSignIn(c: ConsoleContext, userId: string): Promise<boolean> {
  const pair = `${userId}:${networkOf(c) ?? ''}`
  return (await takeLimits(c.env, actionLimits('new-sign-in-mail', { pair }))).ok
}

/** Rejects requests to pages that send email if the settings for email are missing. */
export const requireMailSetUp = createMiddleware(async (c, next) => {
  requireMail(c.env)
  await next()
})

export const limitMail = async (
  c: ConsoleContext,
  purpose: 'verification' | 'reset' | 'address-change',
  address: string,
) => limit(c, actionLimits(`${purpose}-mail`, await sourceOf(c, address)))

export function limitInvitation(c: ConsoleContext, address: string) {
  const organisation = c.var.membership.organisation.id
  const mailbox = mailboxOf(address)
  const pair = `${organisation}:${mailbox}`
  return limit(c, actionLimits('invitation-mail', { pair, organisation, mailbox }))
}

const actionLimits = (action: ActionBudget, subjects: Subjects) =>
  limitsOf(action, ACTION_BUDGETS[action].limits, subjects)

type Limits = ReturnType<typeof actionLimits>

async function attempt(c: ConsoleContext, limits: Limits, way?: Anchor): Promise<Undo> {
  const counted = await limit(c, limits, way)
  return async () => {
    try {
      await refundRateLimit(c.env, counted)
    } catch (error) {
      // The sign-in succeeds, but the attempt counts until its window ends.
      log.error('undoing an attempt failed', error)
    }
  }
}

/** @throws HTTPException whose response is the page with status 429 */
async function limit(c: ConsoleContext, limits: Limits, way?: Anchor) {
  const taken = await takeLimits(c.env, limits)
  if (taken.ok) return taken.counted
  throw new HTTPException(429, { res: await tooManyPage(c, taken.waitSeconds, way) })
}

/**
 * The page with status 429; JSON for a script that asks for it.
 * @param way what helps besides waiting
 */
function tooManyPage(c: ConsoleContext, waitSeconds: number, way?: Anchor) {
  c.header('Retry-After', String(waitSeconds))
  const minutes = Math.ceil(waitSeconds / 60)
  const time = `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`
  if (c.req.header('Accept') === 'application/json') {
    return c.json({ error: `Too many requests. Try again in ${time}.` }, 429)
  }
  const isGuest = c.get('membership') === undefined
  const [href, text] =
    way ?? (isGuest ? ['/console/sign-in', 'Back to sign in'] : [returnTo(c) ?? '/console', 'Back'])
  const title = 'Too many attempts'
  return (isGuest ? guestPage : memberPage)(
    { c, title, status: 429, heading: null },
    <article>
      <h1>{title}</h1>
      <p>Wait {time} and try again.</p>
      <a href={href}>{text}</a>
    </article>,
  )
}

/** Whom a request about an email address counts for. A trusted browser counts only for itself. */
async function sourceOf(c: ConsoleContext, address: string): Promise<Subjects> {
  const user = await findUserByEmail(c.env, address)
  const browser = await trustedBrowserKey(c, user?.id)
  if (browser) return { browser }
  const mailbox = mailboxOf(address)
  const network = networkOf(c)
  return { mailbox, network, pair: `${mailbox}:${network}` }
}

/** Hashed, so that the stored keys contain no email addresses. */
const mailboxOf = (address: string) => sha256(normaliseAddress(address)).toString('base64url')
