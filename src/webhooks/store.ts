// All SQL about webhook events and their attempts, but for writing an event, which happens in the
// transaction that ends its job (jobs/store).
import { and, between, desc, eq, getTableColumns, gt, inArray, lt, lte, or, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { database } from '../db/client.ts'
import { jobs, organisations, webhookAttempts, webhookEvents } from '../db/schema.ts'
import type { JobRow, OrganisationRow, WebhookAttemptRow, WebhookEventRow } from '../db/schema.ts'

/** How long one attempt has an event to itself, ms: longer than an attempt can take. */
const ATTEMPT_LEASE_MS = 60_000
/** Attempts that are stored for one event, the latest: more than the schedule has. */
const STORED_ATTEMPTS = 10

export interface DueEvent {
  event: WebhookEventRow
  job: JobRow
  organisation: OrganisationRow
}

/** Takes an event for one attempt. @returns undefined when it is not due or in other hands */
export async function claimEvent(env: Env, eventId: string): Promise<DueEvent | undefined> {
  const db = database(env)
  const now = new Date()
  const the = (column: SQLiteColumn) =>
    db.select({ value: column }).from(webhookEvents).where(eq(webhookEvents.id, eventId))
  const [[event], [job], [organisation]] = await db.batch([
    db
      .update(webhookEvents)
      .set({ dueAt: new Date(now.getTime() + ATTEMPT_LEASE_MS) })
      .where(
        and(
          eq(webhookEvents.id, eventId),
          inArray(webhookEvents.status, ['pending', 'retrying']),
          lte(webhookEvents.dueAt, now),
        ),
      )
      .returning(),
    // Two selects, not a join: in a batch, D1 gives rows as objects, and columns that have the same
    // name in two tables fall into one.
    db
      .select()
      .from(jobs)
      .where(eq(jobs.id, the(webhookEvents.jobId))),
    db
      .select()
      .from(organisations)
      .where(eq(organisations.id, the(webhookEvents.organisationId))),
  ])
  return event && job && organisation && { event, job, organisation }
}

/**
 * Keeps an attempt and what follows from it, in one transaction.
 * @param claimed the event as it was taken for this attempt
 * @returns false when its lease is over and another attempt was begun: that one decides then. Also
 *   false when the event was deleted meanwhile; then nothing is stored.
 */
export async function recordAttempt(
  env: Env,
  claimed: WebhookEventRow,
  attempt: WebhookAttemptRow,
  outcome: { status: WebhookEventRow['status']; dueAt: Date },
): Promise<boolean> {
  const db = database(env)
  const value = <T>(of: T, column: SQLiteColumn) => sql<T>`${sql.param(of, column)}`.as(column.name)
  const [, updated] = await db.batch([
    db
      .insert(webhookAttempts)
      .select(
        db
          .select({
            eventId: webhookEvents.id,
            number: value(attempt.number, webhookAttempts.number),
            at: value(attempt.at, webhookAttempts.at),
            responseStatus: value(attempt.responseStatus, webhookAttempts.responseStatus),
            durationMs: value(attempt.durationMs, webhookAttempts.durationMs),
            responseBody: value(attempt.responseBody, webhookAttempts.responseBody),
            error: value(attempt.error, webhookAttempts.error),
          })
          .from(webhookEvents)
          .where(eq(webhookEvents.id, attempt.eventId)),
      )
      .onConflictDoNothing(),
    db
      .update(webhookEvents)
      .set({ ...outcome, attempts: attempt.number })
      // Each claim sets another instant, so this is the claim's own mark.
      .where(and(eq(webhookEvents.id, claimed.id), eq(webhookEvents.dueAt, claimed.dueAt))),
    ...(attempt.number > 1 ? reduceAttempts(env, attempt) : []),
  ])
  return updated.meta.changes > 0
}

/**
 * Limits what one event can store: earlier answers to 128 bytes (128 characters, or 32 where some take
 * more than a byte), and the number of attempts, which people may add to by sending again.
 */
function reduceAttempts(env: Env, { eventId, number }: WebhookAttemptRow) {
  const db = database(env)
  const body = webhookAttempts.responseBody
  const ofEvent = eq(webhookAttempts.eventId, eventId)
  return [
    db
      .update(webhookAttempts)
      .set({
        responseBody: sql`substr(${body}, 1,
          case when length(${body}) = length(cast(${body} as blob)) then 128 else 32 end)`,
      })
      .where(and(ofEvent, lt(webhookAttempts.number, number))),
    db
      .delete(webhookAttempts)
      .where(and(ofEvent, lte(webhookAttempts.number, number - STORED_ATTEMPTS))),
  ] as const
}

/** Undelivered events whose next attempt is overdue, longest overdue first. */
export async function overdueEvents(env: Env, overdueMs: number, limit: number): Promise<string[]> {
  const rows = await database(env)
    .select({ id: webhookEvents.id })
    .from(webhookEvents)
    .where(
      and(
        // Literals, not bound values: only so does SQLite see that the partial index applies.
        sql`status in ('pending', 'retrying')`,
        lt(webhookEvents.dueAt, new Date(Date.now() - overdueMs)),
      ),
    )
    .orderBy(webhookEvents.dueAt)
    .limit(limit)
  return rows.map(({ id }) => id)
}

/** The attempts at delivering one event, first to last. */
export const attemptsOf = (env: Env, eventId: string): Promise<WebhookAttemptRow[]> =>
  database(env)
    .select()
    .from(webhookAttempts)
    .where(eq(webhookAttempts.eventId, eventId))
    .orderBy(webhookAttempts.number)

/** The attempts at delivering some events of one organisation, `first` to `last` by id. */
export const attemptsBetween = (
  env: Env,
  organisationId: string,
  { first, last }: { first: string; last: string },
): Promise<WebhookAttemptRow[]> =>
  database(env)
    .select(getTableColumns(webhookAttempts))
    .from(webhookAttempts)
    .innerJoin(webhookEvents, eq(webhookEvents.id, webhookAttempts.eventId))
    .where(
      and(eq(webhookEvents.organisationId, organisationId), between(webhookEvents.id, first, last)),
    )
    .orderBy(webhookAttempts.eventId, webhookAttempts.number)

/** One organisation's events, newest first, those before `beforeId` only. */
export const listEvents = (
  env: Env,
  organisationId: string,
  page: { limit: number; beforeId?: string | undefined },
): Promise<WebhookEventRow[]> =>
  database(env)
    .select()
    .from(webhookEvents)
    .where(
      and(
        eq(webhookEvents.organisationId, organisationId),
        page.beforeId === undefined ? undefined : lt(webhookEvents.id, page.beforeId),
      ),
    )
    .orderBy(desc(webhookEvents.id))
    .limit(page.limit)

export async function findEvent(
  env: Env,
  organisationId: string,
  eventId: string,
): Promise<WebhookEventRow | undefined> {
  const [event] = await database(env)
    .select()
    .from(webhookEvents)
    .where(and(eq(webhookEvents.id, eventId), eq(webhookEvents.organisationId, organisationId)))
  return event
}

/** Makes an event due now. @returns false when there is none or an attempt may be under way */
export async function reopenEvent(
  env: Env,
  organisationId: string,
  eventId: string,
): Promise<boolean> {
  const now = new Date()
  const { meta } = await database(env)
    .update(webhookEvents)
    .set({ status: 'retrying', dueAt: now })
    .where(
      and(
        eq(webhookEvents.id, eventId),
        eq(webhookEvents.organisationId, organisationId),
        or(
          inArray(webhookEvents.status, ['delivered', 'failed']),
          // Due later than any lease can last: nobody is at it.
          gt(webhookEvents.dueAt, new Date(now.getTime() + ATTEMPT_LEASE_MS)),
        ),
      ),
    )
  return meta.changes > 0
}

/** Deletes up to 100 events of one organisation with their attempts. @returns how many */
export async function deleteEvents(env: Env, organisationId: string): Promise<number> {
  const db = database(env)
  const page = await db
    .select({ id: webhookEvents.id })
    .from(webhookEvents)
    .where(eq(webhookEvents.organisationId, organisationId))
    .limit(100)
  const ids = page.map(({ id }) => id)
  if (ids.length > 0) {
    await db.batch([
      db.delete(webhookAttempts).where(inArray(webhookAttempts.eventId, ids)),
      db.delete(webhookEvents).where(inArray(webhookEvents.id, ids)),
    ])
  }
  return ids.length
}
