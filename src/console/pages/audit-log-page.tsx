// The audit log, which only owners can read. `readAuditLog` checks the role.
import { Hono } from 'hono'
import { z } from 'zod'
import { AUDIT_ACTIONS } from '../../organisations/audit-log.ts'
import type { AuditFilter } from '../../organisations/audit-log.ts'
import { readTeam } from '../../organisations/members.ts'
import type { Member } from '../../organisations/members.ts'
import { readAuditLog } from '../../organisations/read-audit-log.ts'
import type { AuditRow } from '../../platform/db/schema.ts'
import { isId } from '../../platform/ids.ts'
import { currencyOf } from '../../domain/organisation.ts'
import type { Currency } from '../../domain/organisation.ts'
import { ACTION_LABELS, ACTOR_LABELS, detailsOf } from '../audit-labels.ts'
import { Button, FilterSelect } from '../components/form.tsx'
import { csvResponse, EXPORT_PAGE_SIZE, rowsOf } from '../csv-response.ts'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { memberPage } from '../components/layout.tsx'
import { EmptyState, ShortId, Table } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import { scopeOf } from '../middleware/session.ts'
import { idParameter } from '../fields.ts'
import { Link } from '../components/link.tsx'

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
  before: idParameter('aud'),
})
type Query = z.infer<typeof Query>

/** The filter for a value of the select: the id of a user or key, or a type of actors. */
function actorFilter(value: string | undefined): AuditFilter['actor'] {
  const type = OTHER_ACTORS.find((known) => known === value)
  if (type) return { type }
  return value === undefined ? undefined : { id: value }
}

export const auditLog = new Hono<ConsoleApp>()
  .get('/', (c) => auditLogPage(c))
  .get('/export.csv', async (c) => {
    const { action, actor } = Query.parse(c.req.query())
    const columns = ['time', 'actor', 'ip_address', 'action', 'target', 'details']
    const pages = rowsOf<string>(columns, async (beforeId) => {
      const filter = { action, actor: actorFilter(actor) }
      const page = await readAuditLog({ ...scopeOf(c), filter, limit: EXPORT_PAGE_SIZE, beforeId })
      const rows = page.rows.map((entry) => [
        entry.at,
        entry.actorEmail ?? ACTOR_LABELS[entry.actorType],
        entry.ipAddress,
        entry.action,
        entry.target,
        entry.details && JSON.stringify(entry.details),
      ])
      return { rows, next: page.hasMore ? page.rows.at(-1)?.id : null }
    })
    return csvResponse(c, { name: 'audit-log', list: 'audit log' }, pages)
  })

async function auditLogPage(c: ConsoleContext) {
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
  const currency = currencyOf(c.var.membership.organisation.regionCode)
  const filter = { ...(action && { action }), ...(actor && { actor }) }
  const isFiltered = action !== undefined || actor !== undefined
  return memberPage(
    c,
    { title: 'Audit log' },
    <>
      <div class="bar">
        <h1>Audit log</h1>
        <Link to={`/settings/audit-log/export.csv?${new URLSearchParams(filter)}`}>
          Download CSV
        </Link>
      </div>
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
          columns={['Action', 'Actor', 'Target', 'Time']}
          narrow={{ Action: 'main', Time: 'side', Actor: 'sub' }}
          rows={entries.map((entry) => [
            <>
              {labelOf(entry.action)}
              <Details details={entry.details} currency={currency} />
            </>,
            <>
              <ActorName entry={entry} />
              {entry.ipAddress && <span class="subline">from {entry.ipAddress}</span>}
            </>,
            entry.target && <ShortId id={entry.target} />,
            <Timestamp as="ago" at={entry.at} />,
          ])}
        />
      )}
      <nav aria-label="Pages" class="pages">
        {before && <Link to={pageOf(filter)}>Newest</Link>}
        {hasMore && <Link to={pageOf({ ...filter, before: entries.at(-1)?.id ?? '' })}>Older</Link>}
      </nav>
    </>,
  )
}

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

const Details = ({ details, currency }: { details: AuditRow['details']; currency: Currency }) => (
  <ul class="details">
    {detailsOf(details ?? {}, currency).map(([name, value]) => (
      <li>
        {name}: {value}
      </li>
    ))}
  </ul>
)
