// Reads how much of their monthly limits of credits API keys and workspaces have used.
import { organisationStub } from '../credits/organisation-stub.ts'
import { requireMember, type OrganisationRequest } from './authorisation.ts'

/** An API key or a workspace. */
interface Limited {
  id: string
  monthlyCredits: number | null
  /** Of a key: whose credits count. */
  countId?: string | null
}

/**
 * The credits that those with a limit have used in this month (UTC), by id. Reserved credits are included. For
 * all members.
 * @throws AppError not_found
 */
export async function readCreditUse(
  request: OrganisationRequest,
  rows: Limited[],
): Promise<Map<string, number>> {
  await requireMember(request)
  const limited = rows.filter(({ monthlyCredits }) => monthlyCredits !== null)
  if (limited.length === 0) return new Map()
  const stub = organisationStub(request.env, request.organisationId)
  const used = await stub.creditUse(limited.map(({ id, countId }) => countId ?? id))
  return new Map(limited.map(({ id }, n) => [id, used[n] ?? 0]))
}
