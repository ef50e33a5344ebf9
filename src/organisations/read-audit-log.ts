// Reading the audit log, page by page.
import type { AuditRow } from '../platform/db/schema.ts'
import { listAuditEntries, type AuditFilter } from './audit-log.ts'
import { pageOf, type Page } from '../domain/page.ts'
import { requirePermission, type OrganisationRequest } from './authorisation.ts'

/**
 * A page of an organisation's audit log, newest first. For owners.
 * @param beforeId the last entry of the previous page
 * @throws AppError not_found
 */
export async function readAuditLog(
  request: OrganisationRequest & {
    filter?: AuditFilter
    limit: number
    beforeId?: string | undefined
  },
): Promise<Page<AuditRow>> {
  const { env, organisationId, filter = {}, limit, beforeId } = request
  await requirePermission(request, 'administer')
  const rows = await listAuditEntries(env, organisationId, { limit: limit + 1, beforeId, filter })
  return pageOf(rows, limit)
}
