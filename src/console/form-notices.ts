// The message about a form that succeeded, which the next page shows once. A cookie has the name of the
// message, so that a link cannot show one.
import { getCookie, setCookie } from 'hono/cookie'
import { GRACE_PERIOD_DAYS } from '../organisations/grace-period.ts'
import { nameOfPlan } from '../billing/money.ts'
import { ROLES } from '../domain/role.ts'
import { pathOf, type ConsoleContext } from './console-context.ts'
import { cookieOptions } from './cookies.ts'

const COOKIE = 'try-on.notice'
const SECONDS = 60

export type NoticeKind = 'good' | 'bad' | 'info'
type Text = string | ((c: ConsoleContext, detail: string) => string)

const SECRET_OVERLAP =
  'For 24 hours, deliveries are signed with both the new and the previous secret.'

const TEXTS = {
  auto_reload_saved: 'Auto-reload settings saved.',
  payment_not_discarded:
    'The payment provider cannot be reached. Try again in a few minutes. You were not charged.',
  plan_changed: (c) => `Your plan is now ${planOf(c)}.`,
  plan_scheduled: 'Plan change scheduled for the end of the billing period.',
  plan_unchanged: (c) => `Your plan remains ${planOf(c)}.`,

  account_deleted: `Your account is scheduled for deletion and you have been signed out everywhere. To keep your account, sign in within ${GRACE_PERIOD_DAYS} days.`,
  already_verified: 'Your email address is already verified. Sign in to continue.',
  email_changed: 'Email address changed. All other sessions have been signed out.',
  email_change_sent:
    'We sent a link to the new address. Open it within one hour to complete the change.',
  name_saved: 'Name saved.',
  notifications_saved: 'Notifications saved.',
  passkey_added: 'Passkey added. You can now sign in with it.',
  passkey_removed: 'Passkey removed. It no longer signs in.',
  passkey_renamed: 'Passkey renamed.',
  password_changed: 'Password changed. All other sessions have been signed out.',
  password_reset: 'Password changed. You have been signed out everywhere.',
  session_ended: 'Your session has ended. Your changes were not saved.',
  session_signed_out: 'Session signed out.',
  sessions_signed_out: 'All other sessions have been signed out.',
  sign_in_expired: 'The sign-in took more than ten minutes. Sign in again.',
  two_factor_disabled: 'Two-factor authentication is off. Your password alone signs in.',
  two_factor_recovered:
    'You signed in with a recovery code, which is now used. If you lost your authenticator app, turn two-factor authentication off and set it up again.',
  verification_sent: 'If the address needs to be verified, we sent a new link.',

  cancelled_late: 'The job can no longer be cancelled because processing has started.',
  key_ended: 'The key has been revoked.',
  key_limits_saved: 'Limits saved. They apply from the next request.',
  key_renamed: 'API key renamed.',
  key_repeated:
    'This key was already created and shown. It cannot be shown again. If you did not store it, revoke it and create a new one.',
  key_revoked: 'API key revoked. Requests with it are rejected.',

  deletion_cancelled: 'Deletion cancelled.',
  invitation_sent: (_, replacedRole) => `Invitation sent.${replacement(replacedRole)}`,
  invitation_withdrawn: 'Invitation withdrawn.',
  last_owner: 'An organisation must have at least one owner.',
  member_removed: (c) =>
    `Member removed. They no longer have access to ${c.var.membership.organisation.name}.`,
  organisation_renamed: 'Organisation renamed.',
  retention_saved: 'Retention saved. Older images are deleted within a day.',
  role_changed: 'Role changed.',
  workspace_archived: 'Workspace archived. New jobs for it are rejected.',
  workspace_created: 'Workspace created.',
  workspace_limit_saved: 'Limit saved. It applies from the next job.',
  workspace_renamed: 'Workspace renamed.',
  workspace_restored: 'Workspace restored.',

  default_url_saved: 'Default URL saved. It applies to new jobs.',
  endpoint_added: 'Endpoint added. Reveal its signing secret below, and send a test event.',
  endpoint_deleted: 'Endpoint deleted.',
  endpoint_enabled: 'Endpoint enabled.',
  endpoint_saved: 'Endpoint saved. It applies to new events.',
  endpoint_secret_rotated: `Signing secret rotated. ${SECRET_OVERLAP}`,
  event_busy: 'A delivery attempt is already in progress. Try again in a minute.',
  events_resent: (_, count) =>
    `${Number(count) || 0} failed ${count === '1' ? 'event is' : 'events are'} being sent again.`,
  no_failed_events: 'There are no failed events to send again.',
  secret_rotated: `Signing secret rotated. Reveal the new secret below and add it to your endpoints. ${SECRET_OVERLAP}`,
} satisfies Record<string, Text>

/** Other notices are good. */
const KINDS: Partial<Record<NoticeName, NoticeKind>> = {
  email_change_sent: 'info',
  session_ended: 'bad',
  sign_in_expired: 'bad',
  two_factor_recovered: 'info',
  cancelled_late: 'bad',
  payment_not_discarded: 'bad',
  key_ended: 'info',
  key_repeated: 'info',
  last_owner: 'bad',
  event_busy: 'info',
  no_failed_events: 'info',
}

const replacement = (role: string) =>
  ROLES.some((known) => known === role)
    ? ` It replaces the earlier invitation. The role is now ${role}.`
    : ''

const planOf = (c: ConsoleContext) => nameOfPlan(c.var.membership.organisation.plan)

export type NoticeName = keyof typeof TEXTS
const isNoticeName = (name: string): name is NoticeName => Object.hasOwn(TEXTS, name)

/** @param detail what the text of the notice takes, such as a count */
export const setNotice = (c: ConsoleContext, name: NoticeName, detail = ''): void =>
  setCookie(c, COOKIE, `${name}.${detail}`, cookieOptions(c, SECONDS))

/** The response to a form that succeeded. @param page path and query */
export function redirectWithNotice(c: ConsoleContext, page: string, name: NoticeName): Response {
  setNotice(c, name)
  return c.redirect(page, 303)
}

/** The same for a page of the organisation. @param detail what the text of the notice takes */
export function redirectTo(
  c: ConsoleContext,
  page: string,
  notice?: NoticeName,
  detail?: string,
): Response {
  if (notice) setNotice(c, notice, detail)
  return c.redirect(pathOf(c, page), 303)
}

/** @returns the name of the notice that this page shows */
export function noticeOf(c: ConsoleContext): NoticeName | undefined {
  const [name = ''] = (getCookie(c, COOKIE) ?? '').split('.')
  return isNoticeName(name) ? name : undefined
}

/** Returns the notice once. One about the organisation waits for a page of the organisation. */
export function takeNotice(c: ConsoleContext): { kind: NoticeKind; text: string } | null {
  const name = noticeOf(c)
  if (!name) return null
  const text: Text = TEXTS[name]
  if (typeof text === 'function' && c.get('membership') === undefined) return null
  setCookie(c, COOKIE, '', cookieOptions(c, 0))
  const [, detail = ''] = (getCookie(c, COOKIE) ?? '').split('.')
  return { kind: KINDS[name] ?? 'good', text: typeof text === 'string' ? text : text(c, detail) }
}
