// From cookies to a person and their current organisation, and the start of a session.
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { createMiddleware } from 'hono/factory'
import { authOf } from '../../accounts/auth.ts'
import { membershipsOf } from '../../accounts/members.ts'
import { recordSignIn } from '../../accounts/sessions.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { AppError } from '../../domain/errors.ts'
import type { ConsoleApp, ConsoleContext, Person } from '../context.ts'
import { cookieOptions } from '../cookies.ts'
import { returnTo } from '../return-to.ts'
import { trustBrowser } from '../trusted-browser.ts'

const ORGANISATION_COOKIE = 'try-on.organisation'
const YEAR_SECONDS = 365 * 24 * 60 * 60

/** Passes better-auth's cookies on to the browser. */
export function forwardCookies(c: ConsoleContext, headers: Headers): void {
  for (const cookie of headers.getSetCookie()) c.header('Set-Cookie', cookie, { append: true })
}

/** @returns null when nobody is signed in */
export async function findPerson(c: ConsoleContext): Promise<Person | null> {
  const { response, headers } = await authOf(c.env, baseUrlOf(c)).api.getSession({
    headers: c.req.raw.headers,
    returnHeaders: true,
  })
  forwardCookies(c, headers)
  if (!response) return null
  const { id, email, organisationName, deleteAfter } = response.user
  return {
    id,
    email,
    organisationName: organisationName ?? null,
    signedInAt: response.session.createdAt,
    deleteAfter: deleteAfter ?? null,
  }
}

/** The signed-in person as the actor of a use case. */
export const actorOf = (c: ConsoleContext) => actorFor(c, c.var.person)

const actorFor = (c: ConsoleContext, { id, email }: { id: string; email: string }) => ({
  type: 'user' as const,
  userId: id,
  email,
  ipAddress: ipAddressOf(c),
})

export const ipAddressOf = (c: ConsoleContext): string | null =>
  c.req.header('CF-Connecting-IP') ?? null

/** Signs a person in who has proved the address by a mailed link. */
export async function startSession(
  c: ConsoleContext,
  user: { id: string; email: string },
): Promise<void> {
  const { headers } = await authOf(c.env, baseUrlOf(c)).api.startSession({
    body: { userId: user.id },
    headers: c.req.raw.headers,
    returnHeaders: true,
  })
  await completeSignIn(c, user, headers)
}

/**
 * Hands the cookies of a new session to the browser. The audit log comes first, so that no session is
 * used without its entry.
 */
export async function completeSignIn(
  c: ConsoleContext,
  user: { id: string; email: string },
  headers: Headers,
): Promise<void> {
  await recordSignIn({ env: c.env, actor: actorFor(c, user) })
  await trustBrowser(c, user.id)
  forwardCookies(c, headers)
}
/** What use cases need to know of a request about the organisation that the person looks at. */
export const requestOf = (c: ConsoleContext) => ({
  env: c.env,
  actor: actorOf(c),
  organisationId: c.var.membership.organisation.id,
})

/**
 * Redirects to the sign-in page, and back afterwards. A person whose account is scheduled for deletion
 * can only keep it or sign out.
 */
export const requireSession = createMiddleware<ConsoleApp>(async (c, next) => {
  const person = await findPerson(c)
  if (!person) {
    const { pathname, search } = new URL(c.req.url)
    const isForm = c.req.method === 'POST'
    const next = isForm ? returnTo(c) : pathname + search
    const query = new URLSearchParams({ ...(isForm && { ended: '1' }), ...(next && { next }) })
    return c.redirect(`/console/sign-in?${query}`, 303)
  }
  if (person.deleteAfter) return c.redirect('/console/account/keep', 303)
  c.set('person', person)
  await next()
})

/** Finds the organisation that a signed-in person looks at; without any, they found one first. */
export const requireOrganisation = createMiddleware<ConsoleApp>(async (c, next) => {
  const memberships = await membershipsOf(c.env, c.var.person.id)
  const chosen = getCookie(c, ORGANISATION_COOKIE)
  const membership =
    memberships.find(({ organisation }) => organisation.id === chosen) ?? memberships[0]
  if (!membership) {
    // Who has looked at one here was a member until now.
    forgetOrganisation(c)
    return c.redirect(`/console/onboarding${chosen ? '?left=1' : ''}`, 303)
  }
  c.set('memberships', memberships)
  c.set('membership', membership)
  await next()
})

/** Answers members as if what only owners may do did not exist. */
export const ownersOnly = createMiddleware<ConsoleApp>(async (c, next) => {
  if (c.var.membership.role !== 'owner') throw new AppError('not_found')
  await next()
})

/** Remembers which organisation to look at; that it is one of theirs is checked at every page. */
export const selectOrganisation = (c: ConsoleContext, organisationId: string): void =>
  setCookie(c, ORGANISATION_COOKIE, organisationId, cookieOptions(c, YEAR_SECONDS))

export const forgetOrganisation = (c: ConsoleContext): void => {
  deleteCookie(c, ORGANISATION_COOKIE, { path: '/console' })
}
