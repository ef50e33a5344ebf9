// A table of webhook deliveries.
import type { EndpointRow } from '../../platform/db/webhook-schema.ts'
import type { Delivery } from '../../webhooks/delivery/deliveries-store.ts'
import { DeliveryBadge } from './badges.tsx'
import { Link } from './link.tsx'
import { IdLink, Table } from './table.tsx'
import { Timestamp } from './time.tsx'

export const DeliveriesTable = ({
  deliveries: rows,
  endpoints,
}: {
  deliveries: Delivery[]
  endpoints: Pick<EndpointRow, 'id' | 'name'>[]
}) =>
  rows.length === 0 ? (
    <p class="muted">No deliveries yet.</p>
  ) : (
    <Table
      label="Deliveries"
      columns={['Event', 'Job', 'Status', 'Receiver', 'Response', 'Attempts', 'Created']}
      numeric={['Attempts']}
      narrow={{ Status: 'main', Created: 'side', Event: 'sub' }}
      rows={rows.map((delivery) => [
        <Link to={`/settings/webhooks/${delivery.id}`} class="event-type">
          {delivery.type}
        </Link>,
        <IdLink to={`/jobs/${delivery.jobId}`} id={delivery.jobId} />,
        <DeliveryBadge status={delivery.status} />,
        <Receiver delivery={delivery} endpoints={endpoints} />,
        <Response delivery={delivery} />,
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

const Receiver = ({
  delivery: { url, endpointId },
  endpoints,
}: {
  delivery: Delivery
  endpoints: Pick<EndpointRow, 'id' | 'name'>[]
}) => {
  const name =
    endpointId === null
      ? undefined
      : (endpoints.find(({ id }) => id === endpointId)?.name ?? 'Deleted endpoint')
  return (
    <span class="receiver" title={withoutQuery(url)}>
      {name !== undefined && <span class="endpoint-name">{name}</span>}
      <span class="url">{withoutQuery(url)}</span>
    </span>
  )
}

const Response = ({ delivery: { attempts, responseStatus, error } }: { delivery: Delivery }) => {
  if (attempts === 0) return <span class="muted">–</span>
  if (responseStatus !== null) return <>{responseStatus}</>
  return <span class="error-text">{error ?? 'no response'}</span>
}
