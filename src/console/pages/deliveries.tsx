// The list of webhook deliveries: filters, search by ID, and sending failed ones again.
import { Hono } from 'hono'
import { z } from 'zod'
import type { EndpointRow } from '../../platform/db/webhook-schema.ts'
import { DEFAULT_PAGE_SIZE } from '../../domain/limits.ts'
import { permits } from '../../domain/role.ts'
import {
  DEFAULT_ENDPOINT,
  EVENT_STATUSES,
  EVENT_TYPES,
  isDeliveryFinal,
} from '../../domain/webhook.ts'
import { isEventId, isId } from '../../platform/ids.ts'
import { listEndpoints } from '../../webhooks/endpoints/endpoints.ts'
import { MAX_RESENT, MAX_SCANNED } from '../../webhooks/delivery/deliveries-store.ts'
import type { DeliveryFilter } from '../../webhooks/delivery/deliveries-store.ts'
import { countFailedDeliveries, listDeliveries } from '../../webhooks/delivery/read-deliveries.ts'
import type { DeliveriesPage } from '../../webhooks/delivery/read-deliveries.ts'
import { resendFailedEvents } from '../../webhooks/delivery/resend.ts'
import { csvResponse, EXPORT_PAGE_SIZE, rowsOf } from '../csv-response.ts'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { DeliveriesTable, withoutQuery } from '../components/deliveries-table.tsx'
import { DeliveryFilters } from '../components/delivery-filters.tsx'
import { ActionForm } from '../components/form.tsx'
import { memberFragment, memberPage } from '../components/layout.tsx'
import { Link } from '../components/link.tsx'
import { EmptyState } from '../components/table.tsx'
import { formatCount } from '../format-count.ts'
import { liveSecondsOf, POLL_LATER_SECONDS } from '../delivery-polling.ts'
import { permitted, scopeOf } from '../middleware/session.ts'
import { pathOf, redirectTo } from '../organisation-path.ts'
import { withQuery } from '../query-string.ts'

const PATH = '/settings/webhooks/deliveries'

const eventId = z.string().refine(isEventId).optional().catch(undefined)
const Filter = z.object({
  status: z.enum(EVENT_STATUSES).optional().catch(undefined),
  type: z.enum(EVENT_TYPES).optional().catch(undefined),
  endpoint: z
    .string()
    .refine((id) => id === DEFAULT_ENDPOINT || isId('we', id))
    .optional()
    .catch(undefined),
})
const Query = Filter.extend({
  q: z.string().trim().optional(),
  before: eventId,
  after: eventId,
})
type Query = z.infer<typeof Query>

export const deliveries = new Hono<ConsoleApp>()
  .get('/', async (c) => {
    const query = Query.parse(c.req.query())
    if (query.q && isEventId(query.q)) return redirectTo(c, `/settings/webhooks/${query.q}`)
    return deliveriesPage(c, query)
  })
  // console.js polls this fragment while a delivery of the page can change.
  .get('/live', async (c) => {
    const query = Query.parse(c.req.query())
    const [page, endpoints] = await Promise.all([readPage(c, query), listEndpoints(scopeOf(c))])
    return memberFragment(
      c,
      <DeliveriesSection c={c} query={query} page={page} endpoints={endpoints} />,
    )
  })
  .get('/export.csv', async (c) => {
    const { before: _before, after: _after, ...query } = Query.parse(c.req.query())
    const columns = ['time', 'event_id', 'type', 'job_id', 'endpoint_id', 'url', 'status']
    const more = ['response_status', 'error', 'attempts']
    const pages = rowsOf<string>([...columns, ...more], async (before) => {
      const page = await readPage(c, { ...query, before }, EXPORT_PAGE_SIZE)
      const rows = page.deliveries.map((row) => [
        row.createdAt,
        row.id,
        row.type,
        row.jobId,
        row.endpointId ?? DEFAULT_ENDPOINT,
        withoutQuery(row.url),
        row.status,
        row.responseStatus,
        row.error,
        row.attempts,
      ])
      return { rows, next: page.older }
    })
    return csvResponse(c, { name: `deliveries-${c.var.mode}`, list: 'deliveries' }, pages)
  })
  .get('/resend', (c) => redirectTo(c, PATH))
  .post('/resend', permitted('develop'), async (c) => {
    const filter = Filter.omit({ status: true }).parse(await c.req.parseBody())
    const sent = await resendFailedEvents({
      ...scopeOf(c),
      filter: { ...filter, mode: c.var.mode },
    })
    const notice = sent > 0 ? 'events_resent' : 'no_failed_events'
    return redirectTo(c, withQuery(PATH, filter), notice, String(sent))
  })

const filterOf = (c: ConsoleContext, { status, type, endpoint, q }: Query): DeliveryFilter => ({
  mode: c.var.mode,
  status,
  type,
  endpoint,
  ...(q && isId('job', q) && { jobId: q }),
})

const isUnknownSearch = ({ q }: Query) => Boolean(q) && !isId('job', q ?? '')

async function readPage(
  c: ConsoleContext,
  query: Query,
  limit = DEFAULT_PAGE_SIZE,
): Promise<DeliveriesPage> {
  if (isUnknownSearch(query)) return { deliveries: [], older: null, newer: null, isPartial: false }
  const { before, after } = query
  return listDeliveries({
    ...scopeOf(c),
    filter: filterOf(c, query),
    start: after === undefined ? { before } : { after },
    limit,
  })
}

async function deliveriesPage(c: ConsoleContext, query: Query) {
  const canResend = query.status === 'failed' && permits(c.var.membership.role, 'develop')
  const scope = scopeOf(c)
  const [page, endpoints, failed] = await Promise.all([
    readPage(c, query),
    listEndpoints(scope),
    canResend && !query.q ? countFailedDeliveries({ ...scope, filter: filterOf(c, query) }) : 0,
  ])
  return memberPage(
    c,
    { title: 'Deliveries' },
    <>
      <p class="breadcrumb">
        <Link to="/settings/webhooks">Webhooks</Link>
      </p>
      <div class="bar">
        <h1>Deliveries</h1>
        <Link to={withQuery(`${PATH}/export.csv`, { ...query, before: '', after: '' })}>
          Download CSV
        </Link>
      </div>
      <DeliveryFilters to={PATH} query={query} endpoints={endpoints} />
      {failed > 0 && <ResendFailed query={query} failed={failed} />}
      {isUnknownSearch(query) ? (
        <EmptyState title="No matching deliveries">
          <p>
            Enter a complete job ID, such as <code>job_01m7w4n5…</code>, or a complete event ID.{' '}
            <Link to={PATH}>Clear filters</Link>
          </p>
        </EmptyState>
      ) : (
        <DeliveriesSection c={c} query={query} page={page} endpoints={endpoints} />
      )}
    </>,
  )
}

const ResendFailed = ({ query: { type, endpoint }, failed }: { query: Query; failed: number }) => {
  const count = Math.min(failed, MAX_RESENT)
  const events = `${formatCount(count)} failed ${count === 1 ? 'event' : 'events'}`
  return (
    <p class="buttons">
      <ActionForm
        to={`${PATH}/resend`}
        label={`Send ${events} again`}
        isSafe
        fields={{ ...(type && { type }), ...(endpoint && { endpoint }) }}
        confirm={
          <>
            Send {failed > MAX_RESENT ? `the latest ${events}` : events} again? About ten are sent
            per second. Events of disabled endpoints fail again without an attempt.
          </>
        }
      />
    </p>
  )
}

const DeliveriesSection = ({
  c,
  query,
  page,
  endpoints,
}: {
  c: ConsoleContext
  query: Query
  page: DeliveriesPage
  endpoints: EndpointRow[]
}) => {
  const { status, type, endpoint, q, before, after } = query
  const filter = { status, type, endpoint, q }
  const open = page.deliveries.filter((delivery) => !isDeliveryFinal(delivery.status))
  // A partial page has read the maximum number of events, so it is not read every second.
  const liveSeconds = page.isPartial ? POLL_LATER_SECONDS : liveSecondsOf(open)
  const live = withQuery(`${PATH}/live`, { ...filter, before, after })
  const isFiltered = Object.values(filter).some(Boolean)
  return (
    <section
      aria-label="Deliveries"
      data-status={`${page.deliveries.length - open.length} of ${page.deliveries.length} ended`}
      data-live={open.length > 0 ? pathOf(c, live) : undefined}
      data-live-seconds={open.length > 0 ? liveSeconds : undefined}
    >
      {page.deliveries.length === 0 && !page.isPartial ? (
        <EmptyState
          title={isFiltered ? 'No matching deliveries' : `No ${c.var.mode} deliveries yet`}
        >
          {isFiltered ? (
            <p>
              <Link to={PATH}>Clear filters</Link>
            </p>
          ) : (
            <p>
              Deliveries appear here when a {c.var.mode} job with a webhook URL ends. Test events
              are in test mode. See <a href="/docs/webhooks">how to receive webhooks</a>.
            </p>
          )}
        </EmptyState>
      ) : (
        <DeliveriesTable deliveries={page.deliveries} endpoints={endpoints} />
      )}
      {page.isPartial && (
        <p class="muted">
          This page searched {formatCount(MAX_SCANNED)} events. There may be more matching ones.
        </p>
      )}
      <nav aria-label="Pages" class="pages">
        {page.newer && <Link to={withQuery(PATH, { ...filter, after: page.newer })}>Newer</Link>}
        {page.older && (
          <Link to={withQuery(PATH, { ...filter, before: page.older })}>
            {page.isPartial && after === undefined ? 'Continue searching' : 'Older'}
          </Link>
        )}
      </nav>
    </section>
  )
}
