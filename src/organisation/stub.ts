// Access to the Organisation objects.
import type { Organisation } from './organisation.ts'

/** Creating the stub costs nothing; each call of a method is a round trip. */
export const organisationStub = (
  env: Env,
  organisationId: string,
): DurableObjectStub<Organisation> => env.ORGANISATION.getByName(organisationId)
