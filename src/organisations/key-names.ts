// The names of API keys, for lists of what the keys have done.
import { desc, eq } from 'drizzle-orm'
import { requirePermission, type OrganisationRequest } from './authorisation.ts'
import { database } from '../platform/db/database.ts'
import { apiKeys, type ApiKeyRow } from '../platform/db/schema.ts'

/** The newest keys are named. Revoked keys are included. */
const MAX_NAMED = 1_000

export type NamedKey = Pick<ApiKeyRow, 'id' | 'name' | 'mode' | 'revokedAt'>

/**
 * The keys of an organisation with their names, newest first. For members who may read jobs.
 * @throws AppError not_found
 */
export async function listKeyNames(request: OrganisationRequest): Promise<NamedKey[]> {
  await requirePermission(request, 'jobs')
  const { id, name, mode, revokedAt } = apiKeys
  return database(request.env)
    .select({ id, name, mode, revokedAt })
    .from(apiKeys)
    .where(eq(apiKeys.organisationId, request.organisationId))
    .orderBy(desc(apiKeys.id))
    .limit(MAX_NAMED)
}
