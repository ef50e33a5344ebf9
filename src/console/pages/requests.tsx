// The request log: the list of requests to /v1, and the page of one. The use cases check the permission.
import { z } from 'zod'
import { errorDocsPath } from '../../domain/docs.ts'
import { isActive } from '../../organisations/api-keys.ts'
import {
  readRequest,
  readRequestLog,
  type RequestPage,
  type RequestWithKey,
} from '../../organisations/request-log/read-requests.ts'
import { ROUTES } from '../../organisations/request-log/logged-routes.ts'
import { ModeBadge, Link, Notice, formatDuration, Timestamp } from '../components/text.tsx'
import { memberPage } from '../components/layout.tsx'
import { CopyableId, CopyableText } from '../components/copyable-text.tsx'
import {
  Filters,
  pageLinks,
  detailList,
  Section,
  EmptyState,
  NoRows,
  ShortId,
  Table,
} from '../components/section.tsx'
import { csvResponse, EXPORT_PAGE_SIZE, rowsOf } from '../downloads.ts'
import { parameter, withQuery } from '../forms.ts'
import { createApp, scopeOf, type ConsoleContext } from '../console-context.ts'
import { LOGGED_CODES, REQUEST_HINTS } from '../error-messages.ts'

const PAGE = '/requests'
const PAGE_SIZE = 50
const STATUS_CLASSES = ['2xx', '4xx', '5xx'] as const

const text = parameter(z.string().trim().min(1).max(255))
const position = parameter(z.string().regex(/^\d+\.\d+$/))
const Filter = z.object({
  q: text,
  status: parameter(z.enum(STATUS_CLASSES)),
  code: text,
  key: text,
  route: text,
})
type Filter = z.infer<typeof Filter>
const Start = z.object({ before: position, after: position })

export const requests = createApp()
  .get('/', async (c) => {
    const query = Filter.parse(c.req.query())
    const start = Start.parse(c.req.query())
    const log = await readRequestLog({ ...searchOf(c, query), ...start, limit: PAGE_SIZE })
    const { newerThan, olderThan, isPartial } = log
    const to = (position: z.infer<typeof Start>) => withQuery(PAGE, { ...query, ...position })
    return memberPage(
      { c, title: 'Request log', csv: withQuery(`${PAGE}/export.csv`, query) },
      <>
        <p>
          Requests to the API in the last 7 days, without query values and IP addresses. Rejected
          ones have the error message, and submissions a redacted body. A request appears within a
          few seconds.
        </p>
        <Filters
          to={PAGE}
          query={query}
          search={{ label: 'Request ID or job ID', maxlength: 255 }}
          fields={{
            status: ['Status', STATUS_CLASSES],
            code: ['Error code', LOGGED_CODES],
            route: ['Route', ROUTES],
            key: [
              'API key',
              log.keys.map(({ id, name, lastFour }) => [id, `${name} (${lastFour})`]),
            ],
          }}
        />
        {log.requests.length === 0
          ? noRequests(c, query, log)
          : requestTable(log.requests, query.q !== undefined)}
        {pageLinks({
          Newer: newerThan && to({ after: newerThan }),
          [isPartial ? 'Continue searching' : 'Older']: olderThan && to({ before: olderThan }),
        })}
      </>,
    )
  })

  .get('/export.csv', async (c) => {
    const query = Filter.parse(c.req.query())
    const read = async (before?: string) => {
      const page = await readRequestLog({ ...searchOf(c, query), before, limit: EXPORT_PAGE_SIZE })
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

  .get('/:requestId', async (c) => {
    const entry = await readRequest({
      ...scopeOf(c),
      requestId: c.req.param('requestId'),
      position: position.parse(c.req.query('entry')),
    })
    const heading = <code>{nameOf(entry)}</code>
    const page = { c, title: 'Request', above: { [PAGE]: 'Request log' }, heading }
    return memberPage(page, requestContent(entry))
  })

const searchOf = (c: ConsoleContext, { q, status, code, key, route }: Filter) => ({
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
})

const requestTable = (requests: RequestWithKey[], showsMode: boolean) => (
  <Table
    label="Requests"
    columns={['Status', 'Request', 'Job', 'API key', 'Duration', 'Request ID', 'Time']}
    numeric={['Duration']}
    narrow={{ Status: 'thumb', Request: 'main', Time: 'side', 'Request ID': 'sub' }}
    rows={requests.map((request) => [
      <>
        {statusOf(request)} {showsMode && <ModeBadge mode={request.mode} />}
      </>,
      <>
        <code>{nameOf(request)}</code>
        {request.code !== null && <span class="subline">{request.code}</span>}
      </>,
      request.jobId !== null && <ShortId to={`/jobs/${request.jobId}`} id={request.jobId} />,
      keyOf(request),
      formatDuration(request.ms),
      <ShortId
        to={`${PAGE}/${encodeURIComponent(request.requestId)}?entry=${request.position}`}
        id={request.requestId}
      />,
      <Timestamp as="ago" at={request.at} />,
    ])}
  />
)

const noRequests = (c: ConsoleContext, query: Filter, { isPartial }: RequestPage) =>
  isPartial ? (
    <EmptyState title="No matching requests so far">
      <p>The log is long. Continue the search with older requests.</p>
    </EmptyState>
  ) : (
    <NoRows
      to={PAGE}
      query={query}
      noMatch="No matching requests"
      none={`No ${c.var.mode} requests yet`}
    >
      <p>
        Send one with the <a href="/docs/quick-start">quick start</a>.
      </p>
    </NoRows>
  )

const requestContent = (entry: Awaited<ReturnType<typeof readRequest>>) => (
  <>
    <p class="job-status">
      {statusOf(entry)} <ModeBadge mode={entry.mode} />
    </p>
    {entry.code !== null && (
      <Notice kind={entry.code === 'internal_error' ? 'bad' : 'info'}>
        <strong>{entry.code}</strong>: {REQUEST_HINTS[entry.code]}{' '}
        <a href={errorDocsPath(entry.code)}>Read about this error</a>
      </Notice>
    )}
    <Section id="details-heading" title="Details" card>
      {detailList({
        'Request ID': <CopyableId id={entry.requestId} label="request ID" />,
        Time: <Timestamp as="second" at={entry.at} />,
        Duration: formatDuration(entry.ms),
        'API key': keyOf(entry),
        'Error code': entry.code !== null && <code>{entry.code}</code>,
        Message: entry.message,
        Job: entry.jobId !== null && (
          <Link class="id" to={`/jobs/${entry.jobId}`}>
            {entry.jobId}
          </Link>
        ),
        'Other requests': entry.jobId !== null && (
          <Link to={withQuery(PAGE, { q: entry.jobId })}>All requests of this job</Link>
        ),
      })}
    </Section>
    {entry.body !== null && (
      <Section id="body-heading" title="Request body" card>
        <p class="muted">URLs are stored without their query, other values are not stored.</p>
        <CopyableText label="Request body" text={entry.body} />
      </Section>
    )}
  </>
)

const nameOf = ({ method, route }: RequestWithKey) =>
  `${method} ${route === '' ? 'unknown path' : route}`

function statusOf({ status }: RequestWithKey) {
  const colour = status >= 500 ? 'bad' : status >= 400 ? 'waiting' : 'good'
  return <span class={`badge ${colour}`}>{status}</span>
}

const keyOf = ({ apiKey }: RequestWithKey) =>
  apiKey ? (
    <>
      <span class="name" title={apiKey.name}>
        {apiKey.name}
      </span>
      <span class="subline">
        …{apiKey.lastFour}
        {!isActive(apiKey) && ', revoked'}
      </span>
    </>
  ) : (
    <span class="muted">Unknown key</span>
  )
