// Granting credits. The ledger of the Organisation is the source of truth.
import { and, eq, sql } from 'drizzle-orm'
import { auditInsert } from './audit-log.ts'
import { requireOperator, type OrganisationRequest } from './authorisation.ts'
import { auditLog, type OrganisationRow } from '../platform/db/schema.ts'
import { AppError } from '../domain/errors.ts'
import { SIGN_UP_REFERENCE, type Grant } from '../credits/ledger.ts'
import { newOrganisationStub, organisationStub } from '../credits/organisation-stub.ts'
import { findOrganisation } from './organisations.ts'

/**
 * Grants credits to an organisation, once per `reference`. For operators.
 * @returns the balance
 * @throws AppError not_found
 */
export async function addCredits(request: OrganisationRequest & Grant): Promise<number> {
  const { env, actor, organisationId, amount, reason, reference } = request
  requireOperator(actor)
  if (!(await findOrganisation(env, organisationId))) {
    throw new AppError('not_found', 'No organisation with this id.')
  }
  const grant = { amount, reason, reference }
  const { balance } = await organisationStub(env, organisationId).grant(grant)
  // The ledger is in another database. If this fails, repeating the request records the grant.
  const action = 'credits.granted'
  const recorded = and(
    eq(auditLog.organisationId, organisationId),
    eq(auditLog.action, action),
    eq(auditLog.target, reference),
  )
  await auditInsert(
    { env, organisationId, actor, action, target: reference, details: grant },
    sql`not exists (select 1 from ${auditLog} where ${recorded})`,
  )
  return balance
}

/**
 * Grants the first credits of an organisation, once. Runs before its row is inserted: credits without
 * a row cannot be used, while a row without credits would be a customer who never received them.
 */
export async function grantSignUpCredits(
  env: Env,
  organisation: Pick<OrganisationRow, 'id' | 'regionCode'>,
  amount: number,
): Promise<void> {
  await newOrganisationStub(env, organisation).grant({
    amount,
    reason: 'Credits at sign-up',
    reference: SIGN_UP_REFERENCE,
  })
}
