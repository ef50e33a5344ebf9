// The record of exports of lists, other than that of jobs, which has its filter.
import { auditInsert } from '../organisations/audit-log.ts'
import { requireMember } from '../organisations/authorisation.ts'
import type { OrganisationRequest } from '../organisations/authorisation.ts'

/**
 * Records an export. For members; what the list contains requires its own permission.
 * @throws AppError not_found
 */
export async function recordExport({
  env,
  actor,
  organisationId,
  list,
}: OrganisationRequest & {
  list: 'ledger' | 'deliveries' | 'request log' | 'audit log'
}): Promise<void> {
  await requireMember({ env, actor, organisationId })
  await auditInsert(env, {
    organisationId,
    actor,
    ...(list === 'ledger'
      ? { action: 'ledger.exported' }
      : { action: 'list.exported', details: { list } }),
  })
}
