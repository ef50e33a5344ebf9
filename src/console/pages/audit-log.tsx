// The audit log, which only owners can read. `readAuditLog` checks the role.
import { Hono } from 'hono'
import type { AuditAction } from '../../access/audit-log.ts'
import { readAuditLog } from '../../accounts/read-audit-log.ts'
import type { AuditRow } from '../../db/schema.ts'
import { isId } from '../../ids.ts'
import type { ConsoleApp } from '../context.ts'
import { memberPage } from '../components/layout.tsx'
import { EmptyState, Table } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import { scopeOf } from '../middleware/session.ts'
import { Link } from '../components/link.tsx'

const PAGE_SIZE = 50

const ACTION_LABELS: Record<AuditAction, string> = {
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
  'account.deletion_scheduled': 'Scheduled the deletion of their account',
  'account.deletion_cancelled': 'Cancelled the deletion of their account',
  'account.deleted': 'Deleted an account',
  'api_key.created': 'Created an API key',
  'api_key.renamed': 'Renamed an API key',
  'api_key.rolled': 'Replaced an API key',
  'api_key.revoked': 'Revoked an API key',
  'notifications.updated': 'Changed their notifications',
  'webhook_secret.revealed': 'Revealed the webhook signing secret',
  'webhook_secret.rotated': 'Rotated the webhook signing secret',
  'webhook_endpoint.disabled': 'Disabled a webhook endpoint',
  'webhook_endpoint.enabled': 'Enabled a webhook endpoint',
  'webhook_endpoint.created': 'Added a webhook endpoint',
  'webhook_endpoint.updated': 'Changed a webhook endpoint',
  'webhook_endpoint.deleted': 'Deleted a webhook endpoint',
  'webhook_event.resent': 'Sent a webhook event again',
  'webhook_events.resent': 'Sent failed webhook events again',
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
  'job.output_deleted': 'Deleted the images of a job',
}

const ACTOR_LABELS = {
  user: 'A user',
  api_key: 'An API key',
  operator: 'Support staff',
  system: 'System',
} as const

export const auditLog = new Hono<ConsoleApp>().get('/', async (c) => {
  const before = c.req.query('before') ?? ''
  const beforeId = isId('aud', before) ? before : undefined
  const { rows: entries, hasMore } = await readAuditLog({
    ...scopeOf(c),
    limit: PAGE_SIZE,
    beforeId,
  })
  return memberPage(
    c,
    { title: 'Audit log' },
    <>
      <h1>Audit log</h1>
      <p>
        Changes by members and support staff in this organisation. Entries are stored for 400 days.
      </p>
      {entries.length === 0 ? (
        <EmptyState title="No entries" />
      ) : (
        <Table
          label="Audit log"
          columns={['Time', 'Actor', 'Action', 'Target']}
          rows={entries.map((entry) => [
            <Timestamp at={entry.at} precise />,
            <>
              {entry.actorEmail ?? ACTOR_LABELS[entry.actorType]}
              {entry.ipAddress && <span class="subline">from {entry.ipAddress}</span>}
            </>,
            <>
              {ACTION_LABELS[entry.action as AuditAction] ?? entry.action}
              <Details of={entry} />
            </>,
            entry.target && <span class="id">{entry.target}</span>,
          ])}
        />
      )}
      <nav aria-label="Pages" class="pages">
        {beforeId && <Link to="/settings/audit-log">Newest</Link>}
        {hasMore && (
          <Link to={`/settings/audit-log?before=${entries.at(-1)?.id ?? ''}`}>Older</Link>
        )}
      </nav>
    </>,
  )
})

const Details = ({ of: { details } }: { of: AuditRow }) => (
  <ul class="details">
    {detailsOf(details ?? {}).map(([name, value]) => (
      <li>
        {name}: {value}
      </li>
    ))}
  </ul>
)

/** Merges the old and new value of a field: `plan_old` and `plan_new` become `plan: old → new`. */
function detailsOf(details: NonNullable<AuditRow['details']>): [name: string, value: string][] {
  return Object.entries(details).flatMap(([key, value]): [string, string][] => {
    const field = key.replace(/_(old|new)$/, '')
    const name = field
      .replaceAll('_', ' ')
      .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    if (key === `${field}_old` && `${field}_new` in details) {
      return [[name, `${valueText(value)} → ${valueText(details[`${field}_new`])}`]]
    }
    return key === `${field}_new` && `${field}_old` in details ? [] : [[name, valueText(value)]]
  })
}

const valueText = (value: string | number | boolean | null | undefined): string =>
  value === null || value === undefined ? 'none' : value === true ? 'yes' : String(value)
