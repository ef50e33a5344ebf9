// The table of webhook endpoints with their health.
import type { AddedEndpointRow, WebhookEndpointRow } from '../../db/webhook-schema.ts'
import { EVENT_TYPES } from '../../domain/webhook.ts'
import type { EventType } from '../../domain/webhook.ts'
import type { EndpointOutcome } from '../../webhooks/lists.ts'
import { Link } from './link.tsx'
import { Table } from './table.tsx'
import { Timestamp } from './time.tsx'

/** What is known about the latest deliveries of an organisation. */
export interface EndpointHealth {
  /** By origin. */
  failing: WebhookEndpointRow[]
  outcomes: EndpointOutcome[]
}

type Listed = Pick<AddedEndpointRow, 'id' | 'name' | 'url' | 'types' | 'mode' | 'enabled'>

export const EndpointList = ({
  defaultUrl,
  endpoints,
  health,
}: {
  defaultUrl: string | null
  endpoints: Listed[]
  health: EndpointHealth
}) => {
  const rows = [
    ...(defaultUrl === null ? [] : [{ url: defaultUrl, endpoint: undefined }]),
    ...endpoints.map((endpoint) => ({ url: endpoint.url, endpoint })),
  ]
  return (
    <Table
      label="Endpoints"
      columns={['Endpoint', 'Events', 'Mode', 'Status', 'Last success', 'Last failure']}
      rows={rows.map(({ url, endpoint }) => {
        const outcome = outcomeOf(health, { url, id: endpoint?.id ?? null })
        return [
          <>
            {endpoint ? (
              <Link to={`/settings/webhooks/endpoints/${endpoint.id}`} class="endpoint-name">
                {endpoint.name}
              </Link>
            ) : (
              'Default URL'
            )}
            <span class="subline address">{url}</span>
          </>,
          endpoint ? typesText(endpoint.types) : 'All events without a URL of the job',
          endpoint?.mode ?? 'both',
          <EndpointStatus url={url} enabled={endpoint?.enabled ?? true} health={health} />,
          <RecentTime at={outcome?.succeededAt} />,
          <RecentTime at={outcome?.failedAt} />,
        ]
      })}
    />
  )
}

const typesText = (types: EventType[]) =>
  types.length === EVENT_TYPES.length ? 'All events' : types.join(', ')

const outcomeOf = ({ outcomes }: EndpointHealth, { id, url }: { id: string | null; url: string }) =>
  outcomes.find((each) => each.addedEndpointId === id && (id !== null || each.url === url))

const RecentTime = ({ at }: { at: Date | null | undefined }) =>
  at ? <Timestamp at={at} /> : <span class="muted">None recently</span>

/** Failures are counted per origin. */
export const EndpointStatus = ({
  url,
  enabled,
  health: { failing },
}: {
  url: string
  enabled: boolean
  health: EndpointHealth
}) => {
  const origin = URL.parse(url)?.origin
  const row = failing.find((each) => each.origin === origin)
  if (!enabled) return <span class="badge off">disabled</span>
  if (!row) return <span class="badge good">active</span>
  return (
    <>
      <span class="badge bad">{row.disabledAt ? 'disabled' : 'failing'}</span>
      <span class="subline muted">
        {row.failures} {row.failures === 1 ? 'failure' : 'failures'} since{' '}
        <Timestamp at={row.failingSince} />
      </span>
    </>
  )
}
