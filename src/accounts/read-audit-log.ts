// Reading the audit log, page by page.
import type { AuditRow } from '../db/schema.ts'
import type { AuditFilter } from '../access/audit-log.ts'
import { listAuditEntries } from '../access/audit-log.ts'
import { pageOf } from '../domain/page.ts'
import type { Page } from '../domain/page.ts'
import { requirePermission } from '../access/authorisation.ts'
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
  filter = {},
  limit,
  beforeId,
}: OrganisationRequest & {
  filter?: AuditFilter
  limit: number
  beforeId?: string | undefined
}): Promise<Page<AuditRow>> {
  await requirePermission({ env, actor, organisationId }, 'administer')
  const rows = await listAuditEntries(env, organisationId, { limit: limit + 1, beforeId, filter })
  return pageOf(rows, limit)
}
