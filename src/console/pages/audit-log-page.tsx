// The audit log, which only owners can read. `readAuditLog` checks the role.
import { z } from 'zod'
import { readAuditLog, type AuditFilter } from '../../organisations/audit-log.ts'
import { readTeam } from '../../organisations/members.ts'
import type { AuditRow } from '../../platform/db/schema.ts'
import { isId } from '../../platform/ids.ts'
import { AUDIT_ACTIONS, type AuditAction } from '../../domain/audit-actions.ts'
import { currencyOf } from '../../domain/organisation.ts'
import { ACTOR_LABELS, detailsOf } from '../audit-labels.ts'
import { csvResponse, EXPORT_PAGE_SIZE, rowsOf } from '../downloads.ts'
import { memberPage } from '../components/layout.tsx'
import { Filters, NoRows, pageLinks, ShortId, Table } from '../components/section.tsx'
import { Timestamp, Link } from '../components/text.tsx'
import { createApp, scopeOf } from '../console-context.ts'
import { idParameter, parameter, withQuery } from '../forms.ts'

const PATH = '/settings/audit-log'
const PAGE_SIZE = 50

/** Actors without an id in the select. */
const OTHER_ACTORS = ['api_key', 'operator', 'system'] as const
const isActor = (text: string) =>
  isId('usr', text) || isId('key', text) || OTHER_ACTORS.some((type) => type === text)

const Filter = z.object({
  action: parameter(z.enum(Object.keys(AUDIT_ACTIONS) as AuditAction[])),
  /** The id of a user or key, or a type of actors. */
  actor: parameter(z.string().refine(isActor)),
})

function filterOf({ action, actor }: z.infer<typeof Filter>): AuditFilter {
  const type = OTHER_ACTORS.find((known) => known === actor)
  return { action, actor: type ? { type } : actor === undefined ? undefined : { id: actor } }
}

export const auditLog = createApp()
  .get('/', async (c) => {
    const query = Filter.parse(c.req.query())
    const before = idParameter('aud').parse(c.req.query('before'))
    const [{ rows: entries, hasMore }, { members }] = await Promise.all([
      readAuditLog({ ...scopeOf(c), filter: filterOf(query), limit: PAGE_SIZE, beforeId: before }),
      readTeam(scopeOf(c)),
    ])
    const { actor } = query
    const currency = currencyOf(c.var.membership.organisation.regionCode)
    const actors = [
      ...members.map(({ userId, email }) => [userId, email] as const),
      ...OTHER_ACTORS.map((type) => [type, ACTOR_LABELS[type]] as const),
    ]
    const isListed = actor === undefined || actors.some(([id]) => id === actor)
    return memberPage(
      { c, title: 'Audit log', csv: withQuery(`${PATH}/export.csv`, query) },
      <>
        <p>
          Changes by members and support staff in this organisation. Entries are stored for 400
          days.
        </p>
        <Filters
          to={PATH}
          query={query}
          fields={{
            action: ['Action', Object.entries(AUDIT_ACTIONS)],
            actor: ['Actor', isListed ? actors : [actor, ...actors]],
          }}
        />
        <Table
          label="Audit log"
          empty={<NoRows to={PATH} query={query} noMatch="No matching entries" none="No entries" />}
          columns={['Action', 'Actor', 'Target', 'Time']}
          narrow={{ Action: 'main', Time: 'side', Actor: 'sub' }}
          rows={entries.map((entry) => [
            <>
              {LABELS[entry.action] ?? entry.action}
              <ul class="details">
                {detailsOf(entry.details ?? {}, currency).map(([name, value]) => (
                  <li>
                    {name}: {value}
                  </li>
                ))}
              </ul>
            </>,
            <>
              {entry.actorId === null ? (
                actorOf(entry)
              ) : (
                // They may have left the organisation.
                <Link to={withQuery(PATH, { actor: entry.actorId })}>{actorOf(entry)}</Link>
              )}
              {entry.ipAddress && <span class="subline">from {entry.ipAddress}</span>}
            </>,
            entry.target && <ShortId id={entry.target} />,
            <Timestamp as="ago" at={entry.at} />,
          ])}
        />
        {pageLinks({
          Newest: before && withQuery(PATH, query),
          Older: hasMore && withQuery(PATH, { ...query, before: entries.at(-1)?.id }),
        })}
      </>,
    )
  })
  .get('/export.csv', (c) => {
    const filter = filterOf(Filter.parse(c.req.query()))
    const read = async (beforeId?: string) => {
      const page = await readAuditLog({ ...scopeOf(c), filter, limit: EXPORT_PAGE_SIZE, beforeId })
      return { rows: page.rows, next: page.hasMore ? page.rows.at(-1)?.id : null }
    }
    const pages = rowsOf(read, {
      time: (entry) => entry.at,
      actor: actorOf,
      ip_address: (entry) => entry.ipAddress,
      action: (entry) => entry.action,
      target: (entry) => entry.target,
      details: (entry) => entry.details && JSON.stringify(entry.details),
    })
    return csvResponse(c, { name: 'audit-log', list: 'audit log' }, pages)
  })

/** Includes actions that are no longer recorded. */
const LABELS: Record<string, string | undefined> = AUDIT_ACTIONS

const actorOf = ({ actorEmail, actorType }: AuditRow) => actorEmail ?? ACTOR_LABELS[actorType]
