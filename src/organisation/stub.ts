// Access to the Organisation objects.
import type { OrganisationRow } from '../db/schema.ts'
import type { Organisation } from './organisation.ts'

/** Where the object of an organisation is created, by region; none for organisations of all regions. */
const LOCATION_HINTS: Record<OrganisationRow['regionCode'], DurableObjectLocationHint | undefined> =
  { IN: 'apac', US: 'enam', EU: 'weur', GLOBAL: undefined }

/** Creating a stub is free of I/O; each method call is a round trip. */
export const organisationStub = (
  env: Env,
  organisationId: string,
): DurableObjectStub<Organisation> => env.ORGANISATION.getByName(organisationId)

/**
 * The stub of an organisation that is being created. The first call of an object decides where it is, and
 * it does not move (developers.cloudflare.com/durable-objects/reference/data-location).
 */
export function newOrganisationStub(
  env: Env,
  { id, regionCode }: Pick<OrganisationRow, 'id' | 'regionCode'>,
): DurableObjectStub<Organisation> {
  const locationHint = LOCATION_HINTS[regionCode]
  return env.ORGANISATION.getByName(id, locationHint && { locationHint })
}
