// Reading the audit log, page by page.
import type { AuditRow } from '../db/schema.ts'
import { listAuditEntries } from '../access/audit-log.ts'
import { requireOwner } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'

/**
 * A page of an organisation's audit log, newest first. For owners.
 * @param beforeId the last entry of the previous page
 * @throws AppError not_found
 */
export async function readAuditLog({
  env,
  actor,
  organisationId,
  limit,
  beforeId,
}: OrganisationRequest & { limit: number; beforeId?: string | undefined }): Promise<{
  entries: AuditRow[]
  hasMore: boolean
}> {
  await requireOwner({ env, actor, organisationId })
  const rows = await listAuditEntries(env, organisationId, { limit: limit + 1, beforeId })
  return { entries: rows.slice(0, limit), hasMore: rows.length > limit }
}
