// The SQL of payments. D1 is the source of truth for what was asked and paid; the provider is the source
// of truth for money, and the Organisation's ledger for credits.
import { and, asc, desc, eq, gte, inArray, lt, lte, sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { SYSTEM, type Actor } from '../domain/actor.ts'
import type { PaymentStatus } from '../domain/billing.ts'
import { invalid } from '../domain/errors.ts'
import type { Plan } from '../domain/organisation.ts'
import { auditInsert, type AuditEntry } from '../organisations/audit-log.ts'
import { payments, type PaymentRow } from '../platform/db/billing-schema.ts'
import { database, hasChanged, IF_CHANGED } from '../platform/db/database.ts'
import { firstIdSince, newId } from '../platform/ids.ts'
import type { PaymentState } from './payment-provider.ts'

/** The time after which a receipt that was not recorded as sent is sent again, ms. */
export const RECEIPT_LEASE_MS = 10 * 60_000

export type NewPayment = Pick<
  PaymentRow,
  'organisationId' | 'kind' | 'plan' | 'credits' | 'amount' | 'currency' | 'provider' | 'createdBy'
> & {
  id?: string | undefined
  providerReference?: string
  /** For the audit log: what the provider will charge if `amount` is 0. */
  quotedAmount?: number | undefined
}

/**
 * Stores a payment before the provider is called, with its audit entry. Repeating it changes nothing.
 * @returns the stored row; of a renewal, the row with the same provider reference
 * @throws AppError validation_error while another upgrade is open
 */
export async function insertPayment(
  env: Env,
  actor: Actor,
  { id = newId('pay'), providerReference, quotedAmount, ...fields }: NewPayment,
): Promise<PaymentRow> {
  const now = new Date()
  const row = {
    ...fields,
    id,
    providerReference,
    status: 'open',
    createdAt: now,
    checkedAt: now,
  } as const
  const { organisationId, kind, amount, currency, credits, provider } = row
  const details = { kind, amount: quotedAmount ?? amount, currency, credits }
  const entry = { env, organisationId, actor, target: id, details }
  const db = database(env)
  const [inserted] = await db.batch([
    db.insert(payments).values(row).onConflictDoNothing().returning(),
    auditInsert({ ...entry, action: 'payment.started' }, IF_CHANGED),
  ])
  if (inserted[0]) return inserted[0]
  const stored =
    providerReference === undefined
      ? await findPayment(env, id)
      : await findPaymentByReference(env, { provider, reference: providerReference })
  // The unique index on open upgrades: two at once would both grant credits for one change of plan.
  if (!stored) {
    throw invalid('Another change of the plan is in progress. Try again in a minute.')
  }
  return stored
}

/** Reads a payment of any organisation. Does not check the actor. */
export const findPayment = (env: Env, paymentId: string): Promise<PaymentRow | undefined> =>
  database(env).select().from(payments).where(eq(payments.id, paymentId)).get()

/** The payment with an id of the provider. */
export const findPaymentByReference = (
  env: Env,
  { provider, reference }: { provider: PaymentRow['provider']; reference: string },
): Promise<PaymentRow | undefined> =>
  database(env)
    .select()
    .from(payments)
    .where(and(eq(payments.provider, provider), eq(payments.providerReference, reference)))
    .get()

/**
 * Whether the provider computes the amount: of renewals, and of upgrades, which are inserted with the
 * amount 0 because the provider prorates them.
 */
export const hasProviderAmount = ({ kind, amount }: Pick<PaymentRow, 'kind' | 'amount'>): boolean =>
  kind === 'renewal' || (kind === 'plan' && amount === 0)

/**
 * Records what the provider reports, with an audit entry for each change of status. A payment never
 * returns to `open`, and a paid one stays paid. Refunded amounts never decrease.
 */
export async function recordState(
  env: Env,
  payment: PaymentRow,
  state: Pick<PaymentState, 'status' | 'failure'> & Partial<PaymentState>,
  creditsReversed: number,
): Promise<PaymentRow> {
  const db = database(env)
  const now = new Date()
  const { id, organisationId } = payment
  const isThis = eq(payments.id, id)
  // A failed or expired attempt can still be paid: with another card, or by a late confirmation.
  const changesTo = (status: PaymentStatus) =>
    sql`exists (select 1 from ${payments} where ${isThis} and ${payments.status} <> 'paid'
          and ${payments.status} <> ${status})`
  const entry = { env, organisationId, actor: SYSTEM, target: id }
  const isPaid = state.status === 'paid'
  // A concurrent refresh may have stored a later state.
  const isLater =
    state.status === 'open' ? sql`${payments.status} <> 'open'` : sql`${payments.status} = 'paid'`
  const unlessLater = (column: SQLiteColumn, value: string | null) =>
    sql`case when ${isPaid ? sql`false` : isLater} then ${column} else ${value} end`
  const { amount = payment.amount, amountRefunded = 0, failure } = state
  const { currency, credits } = payment
  const ended: Pick<AuditEntry, 'action' | 'details'> = isPaid
    ? { action: 'payment.paid', details: { amount, currency, credits } }
    : { action: 'payment.failed', details: { status: state.status, failure } }
  const refunded = { amount: amountRefunded, currency, credits: creditsReversed }
  const [, , updated] = await db.batch([
    auditInsert(
      { ...entry, ...ended },
      state.status === 'open' ? sql`false` : changesTo(state.status),
    ),
    auditInsert(
      { ...entry, action: 'payment.refunded', details: refunded },
      sql`exists (select 1 from ${payments} where ${isThis}
            and ${payments.amountRefunded} < ${amountRefunded})`,
    ),
    db
      .update(payments)
      .set({
        status: unlessLater(payments.status, state.status),
        amount: isPaid && hasProviderAmount(payment) ? state.amount : undefined,
        paidAt: isPaid ? sql`coalesce(${payments.paidAt}, ${now.getTime()})` : undefined,
        receiptDueAt: isPaid
          ? sql`case when ${payments.paidAt} is null then ${now.getTime()} else ${payments.receiptDueAt} end`
          : undefined,
        tax: isPaid ? state.tax : undefined,
        // A later refund may report the card that replaced it.
        paymentMethod: isPaid
          ? sql`coalesce(${payments.paymentMethod}, ${state.paymentMethod ?? null})`
          : undefined,
        failure: unlessLater(payments.failure, isPaid ? null : failure),
        actionUrl: unlessLater(
          payments.actionUrl,
          state.status === 'open' ? (state.actionUrl ?? null) : null,
        ),
        providerReference: state.reference,
        invoiceUrl: state.invoiceUrl ?? undefined,
        dispute: state.dispute ?? undefined,
        amountRefunded: sql`max(${payments.amountRefunded}, ${amountRefunded})`,
        creditsReversed: sql`max(${payments.creditsReversed}, ${creditsReversed})`,
        checkedAt: now,
      })
      .where(isThis)
      .returning(),
  ])
  if (!updated[0]) throw new Error(`The payment ${id} does not exist`)
  return updated[0]
}

/**
 * Takes the turn to ask the provider about a payment.
 * @param intervalMs the time between two turns
 * @returns false when another task has asked in this time
 */
export async function claimCheck(env: Env, { id, checkedAt }: PaymentRow, intervalMs: number) {
  const now = Date.now()
  const before = new Date(now - intervalMs)
  if (checkedAt >= before) return false
  return hasChanged(
    database(env)
      .update(payments)
      .set({ checkedAt: new Date(now) })
      .where(and(eq(payments.id, id), lt(payments.checkedAt, before))),
  )
}

/**
 * The statement that changes a payment.
 * @throws Error when another payment has the same `providerReference`
 */
export const updatePayment = (
  env: Env,
  paymentId: string,
  change: Partial<Pick<PaymentRow, 'providerReference' | 'receiptDueAt'>>,
) => database(env).update(payments).set(change).where(eq(payments.id, paymentId))

/** Leases a receipt for 10 minutes. @returns false when it is sent, or leased by another task */
export const leaseReceipt = (env: Env, paymentId: string): Promise<boolean> =>
  hasChanged(
    database(env)
      .update(payments)
      .set({ receiptDueAt: new Date(Date.now() + RECEIPT_LEASE_MS) })
      .where(and(eq(payments.id, paymentId), lte(payments.receiptDueAt, new Date()))),
  )

/** The newest open payment of an organisation for a plan. */
export async function openPlanPayment(env: Env, organisationId: string, plan: Plan) {
  const isOpen = and(
    eq(payments.organisationId, organisationId),
    eq(payments.kind, 'plan'),
    eq(payments.plan, plan),
    eq(payments.status, 'open'),
  )
  const [newest] = await pageWhere(env, isOpen, { limit: 1 })
  return newest
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
export function unfinishedPayments(env: Env, organisationId: string): Promise<PaymentRow[]> {
  // Repeats the condition of the partial index.
  const isUnfinished = sql`(status = 'open' or receipt_due_at is not null)`
  return database(env)
    .select()
    .from(payments)
    .where(and(eq(payments.organisationId, organisationId), isUnfinished))
    .orderBy(asc(payments.id))
    .limit(100)
}

/** What automatic payments have cost since an instant, minor units, with those that are still open. */
export async function autoReloadSpent(env: Env, organisationId: string, since: Date) {
  const found = await database(env)
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
    .get()
  return found?.sum ?? 0
}
