// The lists and sums of payments.
import { and, asc, desc, eq, gte, inArray, lt, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { database } from '../platform/db/database.ts'
import { payments } from '../platform/db/billing-schema.ts'
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import type { PaymentStatus } from '../domain/billing.ts'
import type { Plan } from '../domain/organisation.ts'
import { firstIdSince } from '../platform/ids.ts'

/** The newest open payment of an organisation for a plan. */
export async function openPlanPayment(
  env: Env,
  organisationId: string,
  plan: Plan,
): Promise<PaymentRow | undefined> {
  const [row] = await database(env)
    .select()
    .from(payments)
    .where(
      and(
        eq(payments.organisationId, organisationId),
        eq(payments.kind, 'plan'),
        eq(payments.plan, plan),
        eq(payments.status, 'open'),
      ),
    )
    .orderBy(desc(payments.id))
    .limit(1)
  return row
}

interface Page {
  limit: number
  /** The last payment of the previous page. */
  beforeId?: string | undefined
}

/** A page of an organisation's payments, newest first. */
export const paymentsOf = (env: Env, organisationId: string, page: Page): Promise<PaymentRow[]> =>
  pageWhere(env, eq(payments.organisationId, organisationId), page)

/** A page of all payments, newest first. For operators. */
export const allPayments = (
  env: Env,
  { status, ...page }: Page & { status?: PaymentStatus | undefined },
): Promise<PaymentRow[]> => pageWhere(env, status && eq(payments.status, status), page)

const pageWhere = (env: Env, condition: SQL | undefined, { limit, beforeId }: Page) =>
  database(env)
    .select()
    .from(payments)
    .where(and(condition, beforeId === undefined ? undefined : lt(payments.id, beforeId)))
    .orderBy(desc(payments.id))
    .limit(limit)

/** Payments that are open and paid ones without a receipt, oldest first. At most 100. */
export const unfinishedPayments = (env: Env, organisationId: string): Promise<PaymentRow[]> =>
  database(env)
    .select()
    .from(payments)
    .where(
      and(
        eq(payments.organisationId, organisationId),
        // Repeats the condition of the partial index.
        sql`(status = 'open' or receipt_due_at is not null)`,
      ),
    )
    .orderBy(asc(payments.id))
    .limit(100)

/**
 * What automatic payments have cost since an instant, minor units, with those that are still open.
 */
export async function autoReloadSpent(
  env: Env,
  organisationId: string,
  since: Date,
): Promise<number> {
  const [row] = await database(env)
    .select({ sum: sql<number>`coalesce(sum(${payments.amount}), 0)` })
    .from(payments)
    .where(
      and(
        eq(payments.organisationId, organisationId),
        eq(payments.kind, 'auto_reload'),
        inArray(payments.status, ['open', 'paid']),
        gte(payments.id, firstIdSince('pay', since.getTime())),
      ),
    )
  return row?.sum ?? 0
}
