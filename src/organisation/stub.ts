// Access to the Organisation objects.
import type { Organisation } from './organisation.ts'

/** Creating a stub is free of I/O; each method call is a round trip. */
export const organisationStub = (
  env: Env,
  organisationId: string,
): DurableObjectStub<Organisation> => env.ORGANISATION.getByName(organisationId)
