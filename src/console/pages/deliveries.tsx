// The list of webhook deliveries: filters, search by ID, and sending failed ones again.
import { z } from 'zod'
import { DEFAULT_PAGE_SIZE } from '../../domain/limits.ts'
import {
  DEFAULT_ENDPOINT,
  EVENT_STATUSES,
  EVENT_TYPES,
  isDeliveryFinal,
} from '../../domain/webhook.ts'
import { isEventId, isId } from '../../platform/ids.ts'
import { listEndpoints } from '../../webhooks/endpoints/endpoints.ts'
import {
  MAX_RESENT,
  MAX_SCANNED,
  countFailedDeliveries,
  listDeliveries,
  type DeliveriesPage,
} from '../../webhooks/delivery/read-deliveries.ts'
import { resendFailedEvents } from '../../webhooks/delivery/resend.ts'
import { csvResponse, EXPORT_PAGE_SIZE, rowsOf } from '../downloads.ts'
import {
  DeliveriesTable,
  withoutQuery,
  liveSecondsOf,
  POLL_LATER_SECONDS,
} from '../components/deliveries-table.tsx'
import { ActionForm } from '../components/form.tsx'
import { memberFragment, memberPage } from '../components/layout.tsx'
import { Link, formatCount } from '../components/text.tsx'
import { Filters, NoRows, pageLinks, EmptyState } from '../components/section.tsx'
import { parameter, fieldsOf, withQuery } from '../forms.ts'
import { permitted } from '../middleware/session.ts'
import { may, createApp, scopeOf, pathOf, type ConsoleContext } from '../console-context.ts'
import { redirectTo } from '../form-notices.ts'

const PATH = '/settings/webhooks/deliveries'

const Filter = z.object({
  status: parameter(z.enum(EVENT_STATUSES)),
  type: parameter(z.enum(EVENT_TYPES)),
  endpoint: parameter(z.string().refine((id) => id === DEFAULT_ENDPOINT || isId('we', id))),
})
const Query = Filter.extend({ q: z.string().trim().optional() })
type Query = z.infer<typeof Query>

const eventId = parameter(z.string().refine(isEventId))
const Start = z.object({ before: eventId, after: eventId })

export const deliveries = createApp()
  .get('/', async (c) => {
    const query = Query.parse(c.req.query())
    if (query.q && isEventId(query.q)) return redirectTo(c, `/settings/webhooks/${query.q}`)
    const canResend = query.status === 'failed' && may(c, 'develop')
    const [section, failed] = await Promise.all([
      readSection(c, query),
      canResend && !query.q ? countFailedDeliveries(searchOf(c, query)) : 0,
    ])
    const receivers = section.endpoints.map(
      ({ id, name }) => [id, id === DEFAULT_ENDPOINT ? `${name} and job URLs` : name] as const,
    )
    return memberPage(
      {
        c,
        title: 'Deliveries',
        above: { '/settings/webhooks': 'Webhooks' },
        csv: withQuery(`${PATH}/export.csv`, query),
      },
      <>
        <Filters
          to={PATH}
          query={query}
          search={{ label: 'Job or event ID' }}
          fields={{
            status: ['Status', EVENT_STATUSES],
            type: ['Type', EVENT_TYPES],
            endpoint: receivers.length > 1 && ['Endpoint', receivers],
          }}
        />
        {failed > 0 && <ResendFailed query={query} failed={failed} />}
        {isUnknownSearch(query) ? (
          <EmptyState title="No matching deliveries">
            <p>
              Enter a complete job ID, such as <code>job_01m7w4n5…</code>, or a complete event ID.{' '}
              <Link to={PATH}>Clear filters</Link>
            </p>
          </EmptyState>
        ) : (
          <DeliveriesSection c={c} {...section} />
        )}
      </>,
    )
  })
  // console.js polls this fragment while a delivery of the page can change.
  .get('/live', async (c) => {
    const query = Query.parse(c.req.query())
    return memberFragment(c, <DeliveriesSection c={c} {...await readSection(c, query)} />)
  })
  .get('/export.csv', (c) => {
    const query = Query.parse(c.req.query())
    const read = async (before?: string) => {
      const page = await readPage(c, query, { before }, EXPORT_PAGE_SIZE)
      return { rows: page.deliveries, next: page.older }
    }
    const pages = rowsOf(read, {
      time: (row) => row.createdAt,
      event_id: (row) => row.id,
      type: (row) => row.type,
      job_id: (row) => row.jobId,
      endpoint_id: (row) => row.endpointId ?? DEFAULT_ENDPOINT,
      url: (row) => withoutQuery(row.url),
      status: (row) => row.status,
      response_status: (row) => row.responseStatus,
      error: (row) => row.error,
      attempts: (row) => row.attempts,
    })
    return csvResponse(c, { name: `deliveries-${c.var.mode}`, list: 'deliveries' }, pages)
  })
  .get('/resend', (c) => redirectTo(c, PATH))
  .post('/resend', permitted('develop'), async (c) => {
    const filter = Filter.omit({ status: true }).parse(await c.req.parseBody())
    const sent = await resendFailedEvents(searchOf(c, filter))
    const notice = sent > 0 ? 'events_resent' : 'no_failed_events'
    return redirectTo(c, withQuery(PATH, filter), notice, String(sent))
  })

/** The search of a list in the mode of the console. */
const searchOf = (c: ConsoleContext, { q, ...filter }: Query) => ({
  ...scopeOf(c),
  filter: { ...filter, mode: c.var.mode, ...(q && { jobId: q }) },
})

const isUnknownSearch = ({ q }: Query) => Boolean(q) && !isId('job', q ?? '')

async function readPage(
  c: ConsoleContext,
  query: Query,
  { before, after }: z.infer<typeof Start>,
  limit = DEFAULT_PAGE_SIZE,
): Promise<DeliveriesPage> {
  if (isUnknownSearch(query)) return { deliveries: [], older: null, newer: null, isPartial: false }
  const start = after === undefined ? { before } : { after }
  return listDeliveries({ ...searchOf(c, query), start, limit })
}

/** A page of the list, with the names of its endpoints. */
async function readSection(c: ConsoleContext, query: Query) {
  const start = Start.parse(c.req.query())
  const [page, endpoints] = await Promise.all([
    readPage(c, query, start),
    listEndpoints(scopeOf(c)),
  ])
  return { query, start, page, endpoints }
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
        fields={fieldsOf({ type, endpoint })}
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

type SectionProps = { c: ConsoleContext } & Awaited<ReturnType<typeof readSection>>

const DeliveriesSection = ({ c, query, start, page, endpoints }: SectionProps) => {
  const open = page.deliveries.filter((delivery) => !isDeliveryFinal(delivery.status))
  // A partial page has read the maximum number of events, so it is not read every second.
  const liveSeconds = page.isPartial ? POLL_LATER_SECONDS : liveSecondsOf(open)
  const live = pathOf(c, withQuery(`${PATH}/live`, { ...query, ...start }))
  return (
    <section
      aria-label="Deliveries"
      data-status={`${page.deliveries.length - open.length} of ${page.deliveries.length} ended`}
      data-live={open.length > 0 ? live : undefined}
      data-live-seconds={open.length > 0 ? liveSeconds : undefined}
    >
      {page.deliveries.length === 0 && !page.isPartial ? (
        <NoRows
          to={PATH}
          query={query}
          noMatch="No matching deliveries"
          none={`No ${c.var.mode} deliveries yet`}
        >
          <p>
            Deliveries appear here when a {c.var.mode} job with a webhook URL ends. Test events are
            in test mode. See <a href="/docs/webhooks">how to receive webhooks</a>.
          </p>
        </NoRows>
      ) : (
        <DeliveriesTable deliveries={page.deliveries} endpoints={endpoints} />
      )}
      {page.isPartial && (
        <p class="muted">
          This page searched {formatCount(MAX_SCANNED)} events. There may be more matching ones.
        </p>
      )}
      {pageLinks({
        Newer: page.newer && withQuery(PATH, { ...query, after: page.newer }),
        [page.isPartial && start.after === undefined ? 'Continue searching' : 'Older']:
          page.older && withQuery(PATH, { ...query, before: page.older }),
      })}
    </section>
  )
}
