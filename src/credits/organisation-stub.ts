// Access to the Organisation objects, and their credits as billing sees them.
import type { OrganisationRow } from '../platform/db/schema.ts'
import { settingsOf } from '../platform/settings.ts'

/** Where the object of an organisation is created, by region; none for organisations of all regions. */
const LOCATION_HINTS: Record<OrganisationRow['regionCode'], DurableObjectLocationHint | undefined> =
  { IN: 'apac', US: 'enam', EU: 'weur', GLOBAL: undefined }

type OrganisationStub = ReturnType<Env['ORGANISATION']['getByName']>
type Organisation = Env['ORGANISATION'] extends DurableObjectNamespace<infer T> ? T : never

/**
 * The methods of the Organisation that billing calls. A stub implements them, and so does the object
 * itself, which runs the billing tasks in its alarm.
 */
export type CreditAccount = {
  [Name in 'grant' | 'reverse' | 'scheduleBilling' | 'refresh']: (
    ...parameters: Parameters<Organisation[Name]>
  ) => unknown
}

/** The Organisation object itself, in its own alarm. */
export type OwnAccount = CreditAccount &
  Pick<Organisation, 'totals' | 'creditNotices' | 'recordCreditNotice'>

/** Objects of other jurisdictions have other ids, so the same name would be another, empty object. */
function namespaceOf(env: Env): Env['ORGANISATION'] {
  const { jurisdiction } = settingsOf(env)
  return jurisdiction ? env.ORGANISATION.jurisdiction(jurisdiction) : env.ORGANISATION
}

/** Creating a stub is free of I/O; each method call is a round trip. */
export const organisationStub = (env: Env, organisationId: string): OrganisationStub =>
  namespaceOf(env).getByName(organisationId)

/**
 * The stub of an organisation that is being created. The first call of an object decides where it is, and
 * it does not move (developers.cloudflare.com/durable-objects/reference/data-location).
 */
export function newOrganisationStub(
  env: Env,
  { id, regionCode }: Pick<OrganisationRow, 'id' | 'regionCode'>,
): OrganisationStub {
  const locationHint = settingsOf(env).jurisdiction ? undefined : LOCATION_HINTS[regionCode]
  return namespaceOf(env).getByName(id, locationHint && { locationHint })
}
