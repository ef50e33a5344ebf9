// The names of the actions and actors of the audit log, and its details as people read them.
import { snakeCase } from '../domain/text.ts'
import { formatMoney, nameOfPlan } from '../billing/money.ts'
import { CURRENCIES, PLANS, type Currency } from '../domain/organisation.ts'
import type { AuditAction } from '../organisations/audit-log.ts'
import type { AuditRow } from '../platform/db/schema.ts'
import { capitalised } from './components/text.tsx'

export const ACTION_LABELS: Record<AuditAction, string> = {
  'session.created': 'Signed in',
  'session.revoked': 'Signed out sessions',
  'user.updated': 'Changed their name',
  'user.email_changed': 'Changed their email address',
  'user.password_changed': 'Changed their password',
  'user.two_factor_enabled': 'Turned on two-factor authentication',
  'user.two_factor_disabled': 'Turned off two-factor authentication',
  'user.recovery_codes_created': 'Created new recovery codes',
  'user.passkey_added': 'Added a passkey',
  'user.passkey_removed': 'Removed a passkey',
  'api_key.renamed': 'Renamed an API key',
  'api_key.rolled': 'Replaced an API key',
  'api_key.limits_updated': 'Changed the limits of an API key',
  'notifications.updated': 'Changed their notifications',
  'webhook_endpoint.created': 'Added a webhook endpoint',
  'webhook_endpoint.updated': 'Changed a webhook endpoint',
  'webhook_endpoint.deleted': 'Deleted a webhook endpoint',
  'webhook_event.resent': 'Sent a webhook event again',
  'webhook_events.resent': 'Sent failed webhook events again',
  'account.deletion_scheduled': 'Scheduled the deletion of their account',
  'account.deletion_cancelled': 'Cancelled the deletion of their account',
  'account.deleted': 'Deleted an account',
  'api_key.created': 'Created an API key',
  'api_key.revoked': 'Revoked an API key',
  'webhook_secret.revealed': 'Revealed the webhook signing secret',
  'webhook_secret.rotated': 'Rotated the webhook signing secret',
  'webhook_endpoint.disabled': 'Disabled a webhook endpoint',
  'webhook_endpoint.enabled': 'Enabled a webhook endpoint',
  'invitation.created': 'Sent an invitation',
  'invitation.withdrawn': 'Withdrew an invitation',
  'member.joined': 'Joined the organisation',
  'member.role_changed': 'Changed a member’s role',
  'member.removed': 'Removed a member',
  'member.left': 'Left the organisation',
  'workspace.created': 'Created a workspace',
  'workspace.updated': 'Updated a workspace',
  'organisation.created': 'Created the organisation',
  'organisation.updated': 'Updated the organisation',
  'organisation.exported': 'Exported the organisation’s data',
  'organisation.deletion_scheduled': 'Scheduled the deletion of the organisation',
  'organisation.deletion_cancelled': 'Cancelled the deletion of the organisation',
  'payment.started': 'Payment started',
  'payment.paid': 'Payment received',
  'payment.failed': 'Payment failed',
  'payment.refund_requested': 'Refund requested',
  'payment.refunded': 'Payment refunded',
  'plan.changed': 'Plan changed',
  'plan.change_scheduled': 'Plan change scheduled',
  'auto_reload.updated': 'Auto-reload changed',
  'auto_reload.disabled': 'Auto-reload turned off',
  'enterprise_terms.updated': 'Enterprise terms changed',
  'credits.granted': 'Granted credits',
  'job.withdrawn': 'Withdrew a job',
  'job.exported': 'Exported a list of jobs',
  'ledger.exported': 'Exported the ledger',
  'list.exported': 'Exported a list',
  'job.output_deleted': 'Deleted the images of a job',
}

export const ACTOR_LABELS = {
  user: 'A user',
  api_key: 'An API key',
  operator: 'Support staff',
  system: 'System',
} as const

type Details = NonNullable<AuditRow['details']>
type Value = Details[string] | undefined

/** Fields whose name says too little. Others are shown with their own name. */
const FIELDS: Record<string, string> = {
  auto_reload_enabled: 'Auto-reload',
  auto_reload_threshold: 'Below',
  auto_reload_pack: 'Pack',
  auto_reload_monthly_max: 'Monthly maximum',
  auto_reload_ceiling: 'Highest monthly maximum',
  ends_at: 'Ends',
  at: 'Takes effect',
  delete_after: 'Deletion',
  known_browser: 'Browser',
  last_four: 'Ends in',
  method: 'With',
  output_retention_days: 'Retention of images, days',
}
const MONEY = /^(auto_reload_(monthly_max|ceiling)|monthly_fee|credit_price)$/
const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

/**
 * The details of an entry. The old and the new value of a field are merged: `plan_old` and `plan_new` become
 * `Plan: Starter → Growth`.
 * @param currency that of the organisation, for amounts without one
 */
export function detailsOf(details: Details, currency: Currency): [name: string, value: string][] {
  const own = CURRENCIES.find((known) => known === details['currency'])
  // Amounts without a currency are credits, except those of refunds and limits.
  const text = (field: string, value: Value): string => {
    if (value === null || value === undefined || value === '') return 'none'
    if (field === 'known_browser') return value ? 'used before' : 'new'
    if (typeof value === 'boolean') return value ? 'on' : 'off'
    if (typeof value === 'number') {
      if (field === 'amount' && own) return formatMoney(value, own)
      return MONEY.test(field) ? formatMoney(value, currency) : value.toLocaleString('en')
    }
    const plan = field.endsWith('plan') && PLANS.find((known) => known === value)
    if (plan) return nameOfPlan(plan)
    return /^\d{4}-\d\d-\d\dT/.test(value) ? DATE.format(new Date(value)) : value
  }
  return Object.entries(details).flatMap(([key, value]): [string, string][] => {
    const stem = key.replace(/_(old|new)$/, '')
    const field = snakeCase(stem)
    if (key === 'currency' && own) return []
    if (key === `${stem}_new` && `${stem}_old` in details) return []
    const name = FIELDS[field] ?? capitalised(field.replaceAll('_', ' '))
    const after = key === `${stem}_old` ? details[`${stem}_new`] : undefined
    return [[name, text(field, value) + (after === undefined ? '' : ` → ${text(field, after)}`)]]
  })
}
