// The request log: the list of requests to /v1. The use case checks the permission.
import { Hono } from 'hono'
import { z } from 'zod'
import { readRequestLog } from '../../request-log/read.ts'
import type { RequestPage, RequestWithKey } from '../../request-log/read.ts'
import { ROUTES } from '../../request-log/routes.ts'
import { ModeBadge } from '../components/badges.tsx'
import { KeyName, nameOf, REQUEST_STYLES, StatusCode } from '../components/request.tsx'
import { Button } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { Link } from '../components/link.tsx'
import { EmptyState, Table } from '../components/table.tsx'
import { formatDuration, Timestamp } from '../components/time.tsx'
import type { ConsoleApp } from '../context.ts'
import { scopeOf } from '../middleware/session.ts'
import { LOGGED_CODES } from '../request-hints.ts'
import { request } from './request.tsx'
import { FilterSelect } from '../components/filter-select.tsx'

const PAGE_SIZE = 50
const STATUS_CLASSES = ['2xx', '4xx', '5xx'] as const

const text = z.string().trim().min(1).max(255).optional().catch(undefined)
const Position = z
  .string()
  .regex(/^\d+\.\d+$/)
  .optional()
  .catch(undefined)

/** Ignores invalid filters: users may edit the URL. */
const Query = z.object({
  q: text,
  status: z.enum(STATUS_CLASSES).optional().catch(undefined),
  code: text,
  key: text,
  route: text,
  before: Position,
  after: Position,
})
type Query = z.infer<typeof Query>

export const requests = new Hono<ConsoleApp>()
  .get('/', async (c) => {
    const query = Query.parse(c.req.query())
    const { q, status, code, key, route, before, after } = query
    const log = await readRequestLog({
      ...scopeOf(c),
      keyId: key,
      filter: {
        // An ID is found in both modes.
        mode: q === undefined ? c.var.mode : undefined,
        statusClass: status && Number(status.charAt(0)),
        code,
        route,
        id: q,
      },
      limit: PAGE_SIZE,
      before,
      after,
    })
    return memberPage(
      c,
      { title: 'Request log', stylesheet: REQUEST_STYLES },
      <>
        <h1>Request log</h1>
        <p>
          Requests to the API in the last 7 days, without bodies, query values and IP addresses. A
          request appears within a few seconds.
        </p>
        <Filters query={query} keys={log.keys} />
        {log.requests.length === 0 ? (
          <NoRequests query={query} isPartial={log.isPartial} mode={c.var.mode} />
        ) : (
          <RequestTable requests={log.requests} showsMode={q !== undefined} />
        )}
        <Pages query={query} log={log} />
      </>,
    )
  })

  .route('/', request)

const RequestTable = ({
  requests,
  showsMode,
}: {
  requests: RequestWithKey[]
  showsMode: boolean
}) => (
  <div class="requests">
    <Table
      label="Requests"
      columns={['Time', 'Status', 'Request', 'API key', 'Duration', 'Request ID']}
      numeric={['Duration']}
      rows={requests.map((request) => [
        <Timestamp at={request.at} precise />,
        <>
          <StatusCode status={request.status} />
          {showsMode && (
            <>
              {' '}
              <ModeBadge mode={request.mode} />
            </>
          )}
        </>,
        <>
          <code>{nameOf(request)}</code>
          {request.code !== null && <span class="subline">{request.code}</span>}
          {request.jobId !== null && (
            <span class="subline">
              <Link to={`/jobs/${request.jobId}`}>{request.jobId}</Link>
            </span>
          )}
        </>,
        <KeyName request={request} />,
        formatDuration(request.ms),
        <Link
          class="request-id"
          to={`/requests/${encodeURIComponent(request.requestId)}?entry=${request.position}`}
        >
          {request.requestId}
        </Link>,
      ])}
    />
  </div>
)

const NoRequests = ({
  query,
  isPartial,
  mode,
}: {
  query: Query
  isPartial: boolean
  mode: string
}) => {
  const isFiltered = filtersOf(query).size > 0
  if (isPartial) {
    return (
      <EmptyState title="No matching requests so far">
        <p>The log is long. Continue the search with older requests.</p>
      </EmptyState>
    )
  }
  return (
    <EmptyState title={isFiltered ? 'No matching requests' : `No ${mode} requests yet`}>
      {isFiltered ? (
        <p>
          <Link to="/requests">Clear the filters</Link>
        </p>
      ) : (
        <p>
          Send one with the <a href="/docs/quick-start">quick start</a>.
        </p>
      )}
    </EmptyState>
  )
}

const Pages = ({ query, log }: { query: Query; log: RequestPage }) => {
  const to = (position: Record<string, string>) =>
    `/requests?${new URLSearchParams([...filtersOf(query), ...Object.entries(position)])}`
  return (
    <nav aria-label="Pages" class="pages">
      {log.newerThan !== undefined && <Link to={to({ after: log.newerThan })}>Newer</Link>}
      {log.olderThan !== undefined && (
        <Link to={to({ before: log.olderThan })}>
          {log.isPartial ? 'Continue searching' : 'Older'}
        </Link>
      )}
    </nav>
  )
}

/** The filters of a page, without its position. */
function filtersOf({ before: _before, after: _after, ...filters }: Query): URLSearchParams {
  const set = Object.entries(filters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return new URLSearchParams(set)
}

const Filters = ({
  query,
  keys,
}: {
  query: Query
  keys: { id: string; name: string; lastFour: string }[]
}) => (
  <form method="get" class="filters" aria-label="Filter requests">
    <div class="field request-search">
      <label for="q">Request ID or job ID</label>
      <input id="q" name="q" type="search" value={query.q} maxlength={255} autocomplete="off" />
    </div>
    <FilterSelect name="status" label="Status" value={query.status} options={STATUS_CLASSES} />
    <FilterSelect name="code" label="Error code" value={query.code} options={LOGGED_CODES} />
    <FilterSelect name="route" label="Route" value={query.route} options={ROUTES} />
    <FilterSelect
      name="key"
      label="API key"
      value={query.key}
      options={keys.map(({ id, name, lastFour }) => [id, `${name} (${lastFour})`] as const)}
    />
    <Button kind="secondary">Filter</Button>
    {filtersOf(query).size > 0 && (
      <Link class="clear-filters" to="/requests">
        Clear filters
      </Link>
    )}
  </form>
)
