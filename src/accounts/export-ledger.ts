// Exports of the ledger: how often they are allowed, and their record.
import { auditInsert } from '../access/audit-log.ts'
import { requireMember } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { EXPORT_LIMIT } from './export-organisation.ts'
import { consumeRateLimit } from './rate-limits.ts'

/**
 * Records an export of the ledger. For members.
 * @returns null, or the number of seconds after which to try again
 * @throws AppError not_found
 */
export async function recordLedgerExport({
  env,
  actor,
  organisationId,
}: OrganisationRequest): Promise<number | null> {
  await requireMember({ env, actor, organisationId })
  const key = `export-ledger:${organisationId}`
  const rateLimit = await consumeRateLimit({ env, limits: [{ key, ...EXPORT_LIMIT }] })
  if (!rateLimit.ok) return rateLimit.waitSeconds
  await auditInsert(env, { organisationId, actor, action: 'ledger.exported' })
  return null
}
