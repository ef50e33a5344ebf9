// A table of webhook deliveries, and how often pages ask for their state.
import type { EndpointRow } from '../../platform/db/webhook-schema.ts'
import { StatusBadge, Link, Timestamp } from './text.tsx'
import { Section, ShortId, Table } from './section.tsx'
import { listDeliveries, type Delivery } from '../../webhooks/delivery/read-deliveries.ts'
import { scopeOf, type ConsoleContext } from '../console-context.ts'

interface DeliveriesProps {
  deliveries: Delivery[]
  endpoints: Pick<EndpointRow, 'id' | 'name'>[]
}

export const DeliveriesTable = ({ deliveries: rows, endpoints }: DeliveriesProps) => (
  <Table
    label="Deliveries"
    empty={<p class="muted">No deliveries yet.</p>}
    columns={['Event', 'Job', 'Status', 'Receiver', 'Response', 'Attempts', 'Created']}
    numeric={['Attempts']}
    narrow={{ Status: 'main', Created: 'side', Event: 'sub' }}
    rows={rows.map((delivery) => [
      <Link to={`/settings/webhooks/${delivery.id}`} class="event-type">
        {delivery.type}
      </Link>,
      <ShortId to={`/jobs/${delivery.jobId}`} id={delivery.jobId} />,
      <StatusBadge status={delivery.status} />,
      receiverOf(delivery, endpoints),
      responseOf(delivery),
      delivery.attempts,
      <Timestamp as="ago" at={delivery.createdAt} />,
    ])}
  />
)

/** The host and the path of a URL. The query can contain a token. */
export const withoutQuery = (url: string): string => {
  const parsed = URL.parse(url)
  return parsed ? parsed.host + parsed.pathname : url
}

function receiverOf({ url, endpointId }: Delivery, endpoints: DeliveriesProps['endpoints']) {
  const endpoint = endpoints.find(({ id }) => id === endpointId)
  return (
    <span class="receiver" title={withoutQuery(url)}>
      {endpointId !== null && <span>{endpoint?.name ?? 'Deleted endpoint'}</span>}
      <span class="subline cut">{withoutQuery(url)}</span>
    </span>
  )
}

function responseOf({ attempts, responseStatus, error }: Delivery) {
  if (attempts === 0) return <span class="muted">–</span>
  return responseStatus ?? <span class="error-text">{error ?? 'no response'}</span>
}

const LATEST_DELIVERIES = 5

/** Reads the start of the list. */
export const readLatestDeliveries = async (
  c: ConsoleContext,
  filter: Parameters<typeof listDeliveries>[0]['filter'],
) =>
  (await listDeliveries({ ...scopeOf(c), filter, start: {}, limit: LATEST_DELIVERIES })).deliveries

/** The start of the list, on the pages of endpoints. @param all the query of the whole list */
export const LatestDeliveries = ({ all = '', ...props }: DeliveriesProps & { all?: string }) => (
  <Section
    id="deliveries-heading"
    title="Latest deliveries"
    action={<Link to={`/settings/webhooks/deliveries${all}`}>All deliveries</Link>}
  >
    <DeliveriesTable {...props} />
  </Section>
)

const SOON_MS = 90_000
const POLL_SOON_SECONDS = 1
export const POLL_LATER_SECONDS = 15

/**
 * Seconds between two requests: often while an attempt is in progress or due soon; else rarely, since
 * retries take hours.
 * @param open the events that have not ended
 */
export const liveSecondsOf = (open: { dueAt: Date }[]): number =>
  open.some(({ dueAt }) => dueAt.getTime() < Date.now() + SOON_MS)
    ? POLL_SOON_SECONDS
    : POLL_LATER_SECONDS
