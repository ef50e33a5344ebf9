// Puts a plan into force: the plan of the organisation and the rate limit that follows from it.
import { and, eq, ne, sql } from 'drizzle-orm'
import { auditInsert } from '../organisations/audit-log.ts'
import { requireOperator } from '../organisations/authorisation.ts'
import type { OrganisationRequest } from '../organisations/authorisation.ts'
import { database } from '../platform/db/database.ts'
import { organisations } from '../platform/db/schema.ts'
import type { Plan } from '../domain/organisation.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import type { CreditAccount } from '../credits/organisation-stub.ts'
import { rateLimitOf } from './plans.ts'

/**
 * Sets the plan of an organisation and, unless an operator has set another one, its rate limit. Only
 * operators change the plan `enterprise`; a change by the system then does nothing.
 * @param account the Organisation itself, when its alarm calls this
 * @throws AppError not_found
 */
export async function applyPlan({
  env,
  actor,
  organisationId,
  plan,
  account = organisationStub(env, organisationId),
}: OrganisationRequest & { plan: Plan; account?: CreditAccount }): Promise<void> {
  requireOperator(actor)
  const db = database(env)
  const isChanged = and(
    eq(organisations.id, organisationId),
    ne(organisations.plan, plan),
    actor.type === 'system' ? ne(organisations.plan, 'enterprise') : undefined,
  )
  const [before] = await db
    .select({ plan: organisations.plan })
    .from(organisations)
    .where(isChanged)
  if (!before) return
  const entry = {
    organisationId,
    actor,
    action: 'plan.changed',
    target: organisationId,
    details: { plan_old: before.plan, plan_new: plan },
  } as const
  await db.batch([
    auditInsert(env, entry, sql`exists (select 1 from ${organisations} where ${isChanged})`),
    db
      .update(organisations)
      .set({
        plan,
        rateLimitPerMinute: sql`case when ${organisations.rateLimitOverridden}
          then ${organisations.rateLimitPerMinute} else ${rateLimitOf(plan)} end`,
      })
      .where(isChanged),
  ])
  await account.refresh()
}
