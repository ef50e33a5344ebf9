// The audit log, which only owners can read. `readAuditLog` checks the role.
import { Hono } from 'hono'
import { z } from 'zod'
import { AUDIT_ACTIONS } from '../../access/audit-log.ts'
import type { AuditFilter } from '../../access/audit-log.ts'
import { readTeam } from '../../accounts/members.ts'
import type { Member } from '../../accounts/members.ts'
import { readAuditLog } from '../../accounts/read-audit-log.ts'
import type { AuditRow } from '../../db/schema.ts'
import { isId } from '../../ids.ts'
import { ACTION_LABELS, ACTOR_LABELS } from '../audit-labels.ts'
import { Button } from '../components/form.tsx'
import type { ConsoleApp } from '../context.ts'
import { memberPage } from '../components/layout.tsx'
import { EmptyState, Table } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import { scopeOf } from '../middleware/session.ts'
import { Link } from '../components/link.tsx'
import { FilterSelect } from '../components/filter-select.tsx'

const PAGE_SIZE = 50

/** Actors without an id in the select. */
const OTHER_ACTORS = ['api_key', 'operator', 'system'] as const
const isOther = (text: string | undefined) => OTHER_ACTORS.some((type) => type === text)

/** Ignores invalid filters: users may edit the URL. */
const Query = z.object({
  action: z.enum(AUDIT_ACTIONS).optional().catch(undefined),
  actor: z
    .string()
    .refine((text) => isId('usr', text) || isId('key', text) || isOther(text))
    .optional()
    .catch(undefined),
  before: z
    .string()
    .refine((id) => isId('aud', id))
    .optional()
    .catch(undefined),
})
type Query = z.infer<typeof Query>

/** The filter for a value of the select: the id of a user or key, or a type of actors. */
function actorFilter(value: string | undefined): AuditFilter['actor'] {
  const type = OTHER_ACTORS.find((known) => known === value)
  if (type) return { type }
  return value === undefined ? undefined : { id: value }
}

export const auditLog = new Hono<ConsoleApp>().get('/', async (c) => {
  const query = Query.parse(c.req.query())
  const { action, actor, before } = query
  const [{ rows: entries, hasMore }, { members }] = await Promise.all([
    readAuditLog({
      ...scopeOf(c),
      filter: { action, actor: actorFilter(actor) },
      limit: PAGE_SIZE,
      beforeId: before,
    }),
    readTeam(scopeOf(c)),
  ])
  const filter = { ...(action && { action }), ...(actor && { actor }) }
  const isFiltered = action !== undefined || actor !== undefined
  return memberPage(
    c,
    { title: 'Audit log' },
    <>
      <h1>Audit log</h1>
      <p>
        Changes by members and support staff in this organisation. Entries are stored for 400 days.
      </p>
      <Filters query={query} members={members} />
      {entries.length === 0 ? (
        <EmptyState title={isFiltered ? 'No matching entries' : 'No entries'}>
          {isFiltered && (
            <p>
              <Link to="/settings/audit-log">Clear filters</Link>
            </p>
          )}
        </EmptyState>
      ) : (
        <Table
          label="Audit log"
          columns={['Time', 'Actor', 'Action', 'Target']}
          rows={entries.map((entry) => [
            <Timestamp at={entry.at} precise />,
            <>
              <ActorName entry={entry} />
              {entry.ipAddress && <span class="subline">from {entry.ipAddress}</span>}
            </>,
            <>
              {labelOf(entry.action)}
              <Details of={entry} />
            </>,
            entry.target && <span class="id">{entry.target}</span>,
          ])}
        />
      )}
      <nav aria-label="Pages" class="pages">
        {before && <Link to={pageOf(filter)}>Newest</Link>}
        {hasMore && <Link to={pageOf({ ...filter, before: entries.at(-1)?.id ?? '' })}>Older</Link>}
      </nav>
    </>,
  )
})

const pageOf = (query: Record<string, string>) =>
  `/settings/audit-log?${new URLSearchParams(query)}`

const labelOf = (action: string): string =>
  AUDIT_ACTIONS.filter((known) => known === action).map((known) => ACTION_LABELS[known])[0] ??
  action

/** Links to all entries of the actor, who may have left the organisation. */
const ActorName = ({ entry }: { entry: AuditRow }) => {
  const label = entry.actorEmail ?? ACTOR_LABELS[entry.actorType]
  if (entry.actorId === null) return <>{label}</>
  return <Link to={pageOf({ actor: entry.actorId })}>{label}</Link>
}

const Filters = ({ query: { action, actor }, members }: { query: Query; members: Member[] }) => {
  const isListed = members.some(({ userId }) => userId === actor) || isOther(actor)
  return (
    <form method="get" class="filters">
      <FilterSelect
        name="action"
        label="Action"
        value={action}
        options={AUDIT_ACTIONS.map((value) => [value, ACTION_LABELS[value]] as const)}
      />
      <FilterSelect
        name="actor"
        label="Actor"
        value={actor}
        options={[
          ...(actor && !isListed ? [actor] : []),
          ...members.map(({ userId, email }) => [userId, email] as const),
          ...OTHER_ACTORS.map((type) => [type, ACTOR_LABELS[type]] as const),
        ]}
      />
      <Button kind="secondary">Filter</Button>
    </form>
  )
}

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
