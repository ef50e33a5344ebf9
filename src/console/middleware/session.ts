// Sessions: finds the user and the selected organisation of a request, starts and ends sessions.
import { getCookie, setCookie } from 'hono/cookie'
import { membershipsOf } from '../../organisations/members.ts'
import { endIfOld, recordSignIn, notifyNewSignIn, type SignInMethod } from '../../users/sessions.ts'
import { AppError } from '../../domain/errors.ts'
import { permits, type Permission } from '../../domain/role.ts'
import { addLogFields } from '../../platform/log.ts'
import {
  createMiddleware,
  actorFor,
  authApi,
  ipAddressOf,
  type ConsoleContext,
  type SessionUser,
} from '../console-context.ts'
import { chosenMode, cookieOptions, removeCookie, YEAR_SECONDS } from '../cookies.ts'
import { deviceOf } from '../device.ts'
import { setNotice } from '../form-notices.ts'
import { redirectToSignIn, returnTo } from '../return-to.ts'
import { limitOrganisation, limitUser, mayMailSignIn } from './throttle.tsx'
import { trustBrowser, trustedBrowserKey } from './trusted-browser.ts'

const ORGANISATION_COOKIE = 'try-on.organisation'

/** Copies the cookies that better-auth sets to the response. */
function forwardCookies(c: ConsoleContext, headers: Headers): void {
  for (const cookie of headers.getSetCookie()) c.header('Set-Cookie', cookie, { append: true })
}

/** @returns null without a session, or when the sign-in is so long ago that the session ends */
export async function findSessionUser(c: ConsoleContext): Promise<SessionUser | null> {
  const { response, headers } = await authApi(c).getSession({
    headers: c.req.raw.headers,
    returnHeaders: true,
  })
  forwardCookies(c, headers)
  if (!response || (await endIfOld(c.env, response.session))) return null
  const { id, email, name, organisationName, deleteAfter, twoFactorEnabledAt } = response.user
  return {
    id,
    email,
    name,
    sessionId: response.session.id,
    hasTwoFactor: Boolean(twoFactorEnabledAt),
    organisationName: organisationName ?? null,
    signedInAt: response.session.createdAt,
    deleteAfter: deleteAfter ?? null,
  }
}

/**
 * Signs in a user whose identity was proved by `method`. Every sign-in passes here: its cookies are sent
 * after it was recorded, so that there is no session without an entry in the audit log.
 */
export async function startSession(
  c: ConsoleContext,
  user: { id: string; email: string },
  method: SignInMethod,
): Promise<void> {
  const { headers } = await authApi(c).startSession({
    body: { userId: user.id },
    headers: c.req.raw.headers,
    returnHeaders: true,
  })
  const knownBrowser = (await trustedBrowserKey(c, user.id)) !== null
  await recordSignIn({ env: c.env, actor: actorFor(c, user), method, knownBrowser })
  await trustBrowser(c, user.id)
  if (!knownBrowser) {
    const device = deviceOf(c.req.header('User-Agent'))
    const sender = { env: c.env, userId: user.id, device, ipAddress: ipAddressOf(c) }
    const mayMail = () => mayMailSignIn(c, user.id)
    c.executionCtx.waitUntil(notifyNewSignIn({ ...sender, mayMail }))
  }
  forwardCookies(c, headers)
}

export async function endSession(c: ConsoleContext): Promise<void> {
  const { headers } = await authApi(c).signOut({
    headers: c.req.raw.headers,
    returnHeaders: true,
  })
  forwardCookies(c, headers)
  forgetOrganisation(c)
}

/**
 * Requires a session. Without one, redirects to the sign-in page, which returns to this page. A user
 * whose account is scheduled for deletion can only cancel the deletion or sign out.
 */
export const requireSession = createMiddleware(async (c, next) => {
  const user = await findSessionUser(c)
  if (!user) {
    const { pathname, search } = new URL(c.req.url)
    const isForm = c.req.method === 'POST'
    if (isForm) setNotice(c, 'session_ended')
    return redirectToSignIn(c, isForm ? returnTo(c) : pathname + search)
  }
  if (user.deleteAfter) return c.redirect('/console/account/keep', 303)
  c.set('user', user)
  return limitUser(c, next)
})

/**
 * Sets the organisation of the address, otherwise the one that was used last. Redirects users without
 * an organisation to onboarding.
 * @throws AppError not_found if the user is not a member of the organisation in the address
 */
export const requireOrganisation = createMiddleware(async (c, next) => {
  const memberships = await membershipsOf(c.env, c.var.user.id)
  const lastUsedId = getCookie(c, ORGANISATION_COOKIE)
  const find = (id: string | undefined) =>
    memberships.find(({ organisation }) => organisation.id === id)
  const requestedId = c.req.param('organisationId')
  const lastUsed = find(lastUsedId) ?? memberships[0]
  const membership = requestedId ? find(requestedId) : lastUsed
  if (!lastUsed) {
    // A user with a selected organisation was a member when it was selected.
    forgetOrganisation(c)
    return c.redirect(`/console/onboarding${lastUsedId ? '?left=1' : ''}`, 303)
  }
  const shown = membership ?? lastUsed
  c.set('memberships', memberships)
  c.set('membership', shown)
  addLogFields({ organisationId: shown.organisation.id })
  c.set('mode', chosenMode.read(c) ?? (shown.hasLiveKey ? 'live' : 'test'))
  // The page of the error has the navigation of the organisation that was used last.
  if (!membership) throw new AppError('not_found')
  if (membership.organisation.id !== lastUsedId) selectOrganisation(c, membership.organisation.id)
  return limitOrganisation(c, next)
})

/**
 * Returns 404 to members whose role does not permit the page or action.
 * @param change the permission for forms, if it differs from that for pages
 */
export const permitted = (permission: Permission, change = permission) =>
  createMiddleware(async (c, next) => {
    const required = c.req.method === 'POST' ? change : permission
    if (!permits(c.var.membership.role, required)) throw new AppError('not_found')
    await next()
  })

/**
 * Returns 404 to members who are limited to some workspaces: the forms concern all workspaces.
 * Resending events is excepted: its use cases check the workspaces.
 */
export const unlimitedForms = createMiddleware(async (c, next) => {
  const resends = /\/(evt_\w+|deliveries)\/resend$/.test(c.req.path)
  const isChange = c.req.method === 'POST' && !resends
  if (isChange && c.var.membership.workspaceIds) throw new AppError('not_found')
  await next()
})

/** Pages without an organisation in their address use this one. */
export const selectOrganisation = (c: ConsoleContext, organisationId: string): void =>
  setCookie(c, ORGANISATION_COOKIE, organisationId, cookieOptions(c, YEAR_SECONDS))

export const forgetOrganisation = (c: ConsoleContext) => removeCookie(c, ORGANISATION_COOKIE)
