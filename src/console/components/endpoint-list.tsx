// The table of webhook endpoints with their health.
import type { EndpointRow, FailingReceiverRow } from '../../platform/db/webhook-schema.ts'
import { DEFAULT_ENDPOINT, EVENT_TYPES, type EventType } from '../../domain/webhook.ts'
import type { EndpointOutcome } from '../../webhooks/event-reads.ts'
import { Link } from './link.tsx'
import { Table } from './table.tsx'
import { Timestamp } from './time.tsx'

/** What is known about the latest deliveries of an organisation. */
export interface EndpointHealth {
  failing: FailingReceiverRow[]
  outcomes: EndpointOutcome[]
}

export const EndpointList = ({
  endpoints,
  health,
}: {
  endpoints: EndpointRow[]
  health: EndpointHealth
}) => (
  <Table
    label="Endpoints"
    columns={['Endpoint', 'Events', 'Mode', 'Status', 'Last success', 'Last failure']}
    rows={endpoints.map((endpoint) => {
      const { id, name, url, types, mode } = endpoint
      const isDefault = id === DEFAULT_ENDPOINT
      const outcome = outcomeOf(health, endpoint)
      return [
        <>
          {isDefault ? (
            name
          ) : (
            <Link to={`/settings/webhooks/endpoints/${id}`} class="endpoint-name">
              {name}
            </Link>
          )}
          <span class="subline address">{url}</span>
        </>,
        isDefault ? 'All events without a URL of the job' : typesText(types),
        mode ?? 'both',
        <EndpointStatus endpoint={endpoint} failing={health.failing} />,
        <RecentTime at={outcome?.succeededAt} />,
        <RecentTime at={outcome?.failedAt} />,
      ]
    })}
  />
)

const typesText = (types: EventType[]) =>
  types.length === EVENT_TYPES.length ? 'All events' : types.join(', ')

/** The outcomes of the default endpoint are those of its URL: jobs with a URL of their own have others. */
const outcomeOf = ({ outcomes }: EndpointHealth, { id, url }: EndpointRow) =>
  outcomes.find(({ endpointId, ...outcome }) =>
    endpointId === null ? id === DEFAULT_ENDPOINT && outcome.url === url : endpointId === id,
  )

const RecentTime = ({ at }: { at: Date | null | undefined }) =>
  at ? <Timestamp at={at} /> : <span class="muted">None recently</span>

export const EndpointStatus = ({
  endpoint: { id, enabled },
  failing,
}: {
  endpoint: EndpointRow
  failing: FailingReceiverRow[]
}) => {
  const row = failing.find(({ receiver }) => receiver === id)
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
