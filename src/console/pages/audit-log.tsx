// The audit log, for owners: who did what, newest first.
import { Hono } from 'hono'
import type { AuditAction } from '../../access/audit-log.ts'
import { readAuditLog } from '../../accounts/read-audit-log.ts'
import type { AuditRow } from '../../db/schema.ts'
import { isId } from '../../ids.ts'
import type { ConsoleApp } from '../context.ts'
import { memberPage } from '../components/layout.tsx'
import { Empty, Table, When } from '../components/parts.tsx'
import { requestOf } from '../middleware/session.ts'

const PAGE_SIZE = 50

const ACTION_WORDS: Record<AuditAction, string> = {
  'session.created': 'Signed in',
  'account.deletion_scheduled': 'Scheduled the deletion of their account',
  'account.deletion_cancelled': 'Cancelled the deletion of their account',
  'account.deleted': 'Deleted an account',
  'api_key.created': 'Created an API key',
  'api_key.revoked': 'Revoked an API key',
  'webhook_secret.revealed': 'Revealed the webhook signing secret',
  'webhook_secret.rotated': 'Rotated the webhook signing secret',
  'webhook_endpoint.disabled': 'Disabled a webhook endpoint',
  'webhook_endpoint.enabled': 'Enabled a webhook endpoint',
  'invitation.created': 'Invited a person',
  'invitation.withdrawn': 'Withdrew an invitation',
  'member.joined': 'Joined the organisation',
  'member.role_changed': 'Changed the role of a member',
  'member.removed': 'Removed a member',
  'member.left': 'Left the organisation',
  'workspace.created': 'Created a workspace',
  'workspace.updated': 'Changed a workspace',
  'organisation.created': 'Created the organisation',
  'organisation.updated': 'Changed the organisation',
  'organisation.exported': 'Exported the organisation’s data',
  'organisation.deletion_scheduled': 'Scheduled the deletion of the organisation',
  'organisation.deletion_cancelled': 'Cancelled the deletion of the organisation',
  'credits.granted': 'Granted credits',
  'job.withdrawn': 'Withdrew a job',
  'job.output_deleted': 'Deleted the pictures of a job',
}

const ACTOR_WORDS = {
  user: 'A person',
  api_key: 'An API key',
  operator: 'Our staff',
  system: 'This service',
} as const

export const auditLog = new Hono<ConsoleApp>().get('/', async (c) => {
  const before = c.req.query('before') ?? ''
  const beforeId = isId('aud', before) ? before : undefined
  const { rows: entries, hasMore } = await readAuditLog({
    ...requestOf(c),
    limit: PAGE_SIZE,
    beforeId,
  })
  return memberPage(
    c,
    { title: 'Audit log' },
    <>
      <h1>Audit log</h1>
      <p>
        What members and our staff changed in this organisation. Entries are stored for 400 days.
      </p>
      {entries.length === 0 ? (
        <Empty title="No entries" />
      ) : (
        <Table
          label="Audit log"
          columns={['When', 'Who and from where', 'What', 'Target']}
          rows={entries.map((entry) => [
            <When at={entry.at} precise />,
            <>
              {entry.actorEmail ?? ACTOR_WORDS[entry.actorType]}
              {entry.ipAddress && <span class="by">from {entry.ipAddress}</span>}
            </>,
            <>
              {ACTION_WORDS[entry.action as AuditAction] ?? entry.action}
              <Details of={entry} />
            </>,
            entry.target && <span class="id">{entry.target}</span>,
          ])}
        />
      )}
      <nav aria-label="Pages" class="pages">
        {beforeId && <a href="/console/settings/audit-log">Newest</a>}
        {hasMore && (
          <a href={`/console/settings/audit-log?before=${entries.at(-1)?.id ?? ''}`}>Older</a>
        )}
      </nav>
    </>,
  )
})

const Details = ({ of: { details } }: { of: AuditRow }) => (
  <ul class="details">
    {factsOf(details ?? {}).map(([name, value]) => (
      <li>
        {name}: {value}
      </li>
    ))}
  </ul>
)

/** `plan_old` and `plan_new` become one fact about the plan. */
function factsOf(details: NonNullable<AuditRow['details']>): [name: string, value: string][] {
  return Object.entries(details).flatMap(([key, value]): [string, string][] => {
    const field = key.replace(/_(old|new)$/, '')
    const name = field.replaceAll('_', ' ')
    if (key === `${field}_old` && `${field}_new` in details) {
      return [[name, `${wordOf(value)} → ${wordOf(details[`${field}_new`])}`]]
    }
    return key === `${field}_new` && `${field}_old` in details ? [] : [[name, wordOf(value)]]
  })
}

const wordOf = (value: string | number | boolean | null | undefined): string =>
  value === null || value === undefined ? 'none' : value === true ? 'yes' : String(value)
