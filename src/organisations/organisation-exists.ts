// Which organisations exist: a deleted one remains as a row until privacy/run-deletions has removed it.
import { gt, isNull, or } from 'drizzle-orm'
import { organisations } from '../platform/db/schema.ts'

/** An SQL condition: excludes organisations whose grace period is over. */
export const organisationExists = () =>
  or(isNull(organisations.deleteAfter), gt(organisations.deleteAfter, new Date()))
