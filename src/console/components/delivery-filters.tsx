// The filters and the search of the list of deliveries.
import { useContext } from 'hono/jsx'
import type { AddedEndpointRow } from '../../db/webhook-schema.ts'
import { DEFAULT_ENDPOINT, EVENT_STATUSES, EVENT_TYPES } from '../../domain/webhook.ts'
import { Button } from './form.tsx'
import { Link, OrganisationPath } from './link.tsx'
import { FilterSelect } from './filter-select.tsx'

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
  endpoints: Pick<AddedEndpointRow, 'id' | 'name'>[]
}) => {
  const receivers = [
    [DEFAULT_ENDPOINT, 'Default URL and job URLs'] as const,
    ...endpoints.map(({ id, name }) => [id, name] as const),
  ]
  return (
    <form method="get" action={useContext(OrganisationPath) + to} class="filters">
      <div class="field search">
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
      {endpoints.length > 0 && (
        <FilterSelect name="endpoint" label="Endpoint" value={query.endpoint} options={receivers} />
      )}
      <Button kind="secondary">Filter</Button>
      {Object.values(query).some(Boolean) && <Link to={to}>Clear filters</Link>}
    </form>
  )
}
