// The filters and the search of the list of deliveries.
import { useContext } from 'hono/jsx'
import type { EndpointRow } from '../../platform/db/webhook-schema.ts'
import { DEFAULT_ENDPOINT, EVENT_STATUSES, EVENT_TYPES } from '../../domain/webhook.ts'
import { Button, FilterSelect } from './form.tsx'
import { Link, OrganisationPath } from './link.tsx'

interface DeliveryQuery {
  status?: string | undefined
  type?: string | undefined
  endpoint?: string | undefined
  q?: string | undefined
}

export const DeliveryFilters = ({
  to,
  query,
  endpoints,
}: {
  to: string
  query: DeliveryQuery
  endpoints: Pick<EndpointRow, 'id' | 'name'>[]
}) => {
  const receivers = endpoints.map(
    ({ id, name }) => [id, id === DEFAULT_ENDPOINT ? `${name} and job URLs` : name] as const,
  )
  return (
    <form method="get" action={useContext(OrganisationPath) + to} class="filters">
      <div class="field">
        <label for="q">Job or event ID</label>
        <input
          id="q"
          name="q"
          type="search"
          value={query.q}
          autocomplete="off"
          spellcheck={false}
        />
      </div>
      <FilterSelect name="status" label="Status" value={query.status} options={EVENT_STATUSES} />
      <FilterSelect name="type" label="Type" value={query.type} options={EVENT_TYPES} />
      {endpoints.length > 1 && (
        <FilterSelect name="endpoint" label="Endpoint" value={query.endpoint} options={receivers} />
      )}
      <Button kind="secondary">Filter</Button>
      {Object.values(query).some(Boolean) && <Link to={to}>Clear filters</Link>}
    </form>
  )
}
