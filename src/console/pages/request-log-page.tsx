// The request log: the list of requests to /v1. The use case checks the permission.
import { Hono } from 'hono'
import { z } from 'zod'
import { readRequestLog } from '../../organisations/request-log/read-requests.ts'
import type { RequestPage, RequestWithKey } from '../../organisations/request-log/read-requests.ts'
import { ROUTES } from '../../organisations/request-log/logged-routes.ts'
import { ModeBadge } from '../components/badges.tsx'
import { KeyName, nameOf, StatusCode } from '../components/request-cells.tsx'
import { Button, FilterSelect } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { Link } from '../components/link.tsx'
import { EmptyState, IdLink, Table } from '../components/table.tsx'
import { formatDuration, Timestamp } from '../components/time.tsx'
import { csvResponse, EXPORT_PAGE_SIZE, rowsOf } from '../csv-response.ts'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { scopeOf } from '../middleware/session.ts'
import { textsOf } from '../read-form.ts'
import { LOGGED_CODES } from '../request-hints.ts'
import { request } from './request-page.tsx'

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
    const log = await readRequestLog({ ...searchOf(c, query), limit: PAGE_SIZE })
    return memberPage(
      c,
      { title: 'Request log' },
      <>
        <div class="bar">
          <h1>Request log</h1>
          <Link to={`/requests/export.csv?${new URLSearchParams(filtersOf(query))}`}>
            Download CSV
          </Link>
        </div>
        <p>
          Requests to the API in the last 7 days, without query values and IP addresses. Rejected
          ones have the error message, and submissions a redacted body. A request appears within a
          few seconds.
        </p>
        <Filters query={query} keys={log.keys} />
        {log.requests.length === 0 ? (
          <NoRequests query={query} isPartial={log.isPartial} mode={c.var.mode} />
        ) : (
          <RequestTable requests={log.requests} showsMode={query.q !== undefined} />
        )}
        <Pages query={query} log={log} />
      </>,
    )
  })

  .get('/export.csv', async (c) => {
    const query = Query.parse(c.req.query())
    const read = async (before?: string) => {
      const search = searchOf(c, { ...query, before, after: undefined })
      const page = await readRequestLog({ ...search, limit: EXPORT_PAGE_SIZE })
      return { rows: page.requests, next: page.olderThan }
    }
    const pages = rowsOf(read, {
      time: (row) => new Date(row.at),
      status: (row) => row.status,
      error_code: (row) => row.code,
      method: (row) => row.method,
      route: (row) => row.route,
      mode: (row) => row.mode,
      api_key_id: (row) => row.apiKey?.id,
      duration_ms: (row) => row.ms,
      request_id: (row) => row.requestId,
      job_id: (row) => row.jobId,
      error_message: (row) => row.message,
    })
    return csvResponse(c, { name: 'requests', list: 'request log' }, pages)
  })
  .route('/', request)

const searchOf = (c: ConsoleContext, { q, status, code, key, route, before, after }: Query) => ({
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
  before,
  after,
})

const RequestTable = ({
  requests,
  showsMode,
}: {
  requests: RequestWithKey[]
  showsMode: boolean
}) => (
  <Table
    label="Requests"
    columns={['Status', 'Request', 'Job', 'API key', 'Duration', 'Request ID', 'Time']}
    numeric={['Duration']}
    narrow={{ Status: 'thumb', Request: 'main', Time: 'side', 'Request ID': 'sub' }}
    rows={requests.map((request) => [
      <>
        <StatusCode status={request.status} /> {showsMode && <ModeBadge mode={request.mode} />}
      </>,
      <>
        <code>{nameOf(request)}</code>
        {request.code !== null && <span class="subline">{request.code}</span>}
      </>,
      request.jobId !== null && <IdLink to={`/jobs/${request.jobId}`} id={request.jobId} />,
      <KeyName request={request} />,
      formatDuration(request.ms),
      <IdLink
        to={`/requests/${encodeURIComponent(request.requestId)}?entry=${request.position}`}
        id={request.requestId}
      />,
      <Timestamp as="ago" at={request.at} />,
    ])}
  />
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
  const isFiltered = isFilteredBy(query)
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
    `/requests?${new URLSearchParams({ ...filtersOf(query), ...position })}`
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
const filtersOf = ({ before: _before, after: _after, ...filters }: Query) => textsOf(filters)

const isFilteredBy = (query: Query) => Object.keys(filtersOf(query)).length > 0

const Filters = ({
  query,
  keys,
}: {
  query: Query
  keys: { id: string; name: string; lastFour: string }[]
}) => (
  <form method="get" class="filters" aria-label="Filter requests">
    <div class="field">
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
    {isFilteredBy(query) && <Link to="/requests">Clear filters</Link>}
  </form>
)
