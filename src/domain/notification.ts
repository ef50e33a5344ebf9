// The notifications that members receive by email, and which roles receive them.
import type { Role } from './role.ts'

/** Each can be switched off by the user. `new_sign_in` concerns the user, all others an organisation. */
export const NOTIFICATIONS = [
  'new_sign_in',
  'api_key_created',
  'webhook_failing',
  'low_balance',
  'credit_limit',
] as const
export type NotificationKind = (typeof NOTIFICATIONS)[number]

/** A kind that concerns an organisation. */
export type OrganisationNotification = Exclude<NotificationKind, 'new_sign_in'>

/** The roles that receive each kind. */
export const RECIPIENTS: Record<OrganisationNotification, Role[]> = {
  api_key_created: ['owner', 'developer'],
  webhook_failing: ['owner', 'developer'],
  low_balance: ['owner', 'billing'],
  credit_limit: ['owner', 'developer'],
}

/** The kinds that a member with this role receives. */
export const notificationsFor = (role: Role): OrganisationNotification[] =>
  NOTIFICATIONS.filter((kind) => kind !== 'new_sign_in').filter((kind) =>
    RECIPIENTS[kind].includes(role),
  )
