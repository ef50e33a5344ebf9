// The way to an Organisation, for everything that is outside of it.
import type { Organisation } from './organisation.ts'

/** The Organisation of an id. Making the stub costs nothing; each call on it is a round trip. */
export const organisationStub = (
  env: Env,
  organisationId: string,
): DurableObjectStub<Organisation> => env.ORGANISATION.getByName(organisationId)
