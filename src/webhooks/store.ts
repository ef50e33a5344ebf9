// All SQL about webhook events and their attempts. Only the insert of an event is elsewhere: it
// happens in the transaction that ends its job (jobs/endings).
import { and, between, desc, eq, getTableColumns, gt, inArray, lt, lte, or, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { SYSTEM } from '../domain/actor.ts'
import { database, valueFor } from '../db/client.ts'
import { dueFrom, SWEEP_AGAIN_AFTER_MS } from '../db/due.ts'
import {
  jobs,
  organisations,
  webhookAttempts,
  webhookEndpoints,
  webhookEvents,
} from '../db/schema.ts'
import type { JobRow, OrganisationRow, WebhookAttemptRow, WebhookEventRow } from '../db/schema.ts'
import {
  ATTEMPT_LEASE_MS,
  disableEndpoint,
  insertFailure,
  removeEndpoint,
} from './endpoint-store.ts'
import type { Endpoint } from './endpoint-store.ts'

/** Attempts that are stored for one event, the latest: more than the schedule has. */
const STORED_ATTEMPTS = 10
const UNDELIVERED = ['pending', 'retrying'] as const

export interface DueEvent {
  event: WebhookEventRow
  job: JobRow
  organisation: OrganisationRow
  endpoint: Endpoint
}

/** Takes an event for one attempt. @returns undefined when it is not due or another one has it */
export async function claimEvent(env: Env, eventId: string): Promise<DueEvent | undefined> {
  const db = database(env)
  const now = new Date()
  const the = (column: SQLiteColumn) =>
    db.select({ value: column }).from(webhookEvents).where(eq(webhookEvents.id, eventId))
  const [[event], [job], [organisation], endpoints] = await db.batch([
    db
      .update(webhookEvents)
      .set(dueFrom(new Date(now.getTime() + ATTEMPT_LEASE_MS)))
      .where(
        and(
          eq(webhookEvents.id, eventId),
          inArray(webhookEvents.status, UNDELIVERED),
          lte(webhookEvents.dueAt, now),
        ),
      )
      .returning(),
    // Several selects, not a join: in a batch, D1 returns rows as objects, in which columns of the
    // same name in two tables collide.
    db
      .select()
      .from(jobs)
      .where(eq(jobs.id, the(webhookEvents.jobId))),
    db
      .select()
      .from(organisations)
      .where(eq(organisations.id, the(webhookEvents.organisationId))),
    db
      .select()
      .from(webhookEndpoints)
      .where(eq(webhookEndpoints.organisationId, the(webhookEvents.organisationId))),
  ])
  if (!event || !job || !organisation) return undefined
  const origin = URL.parse(event.url)?.origin ?? ''
  const row = endpoints.find((endpoint) => endpoint.origin === origin)
  return { event, job, organisation, endpoint: { organisationId: organisation.id, origin, row } }
}

const isClaimed = (claimed: WebhookEventRow) =>
  // Each claim sets another instant, which marks the claim.
  and(eq(webhookEvents.id, claimed.id), eq(webhookEvents.dueAt, claimed.dueAt))

/**
 * Gives a claimed event back without an attempt, or ends it.
 * @returns false when the lease is over and another attempt has begun
 */
export async function releaseEvent(
  env: Env,
  claimed: WebhookEventRow,
  change: { dueAt: Date } | { status: 'failed' },
): Promise<boolean> {
  const { meta } = await database(env)
    .update(webhookEvents)
    .set('dueAt' in change ? dueFrom(change.dueAt) : change)
    .where(isClaimed(claimed))
  return meta.changes > 0
}

/**
 * Stores an attempt and what follows from it, in one transaction.
 * @param due the event as it was claimed for this attempt
 * @param result `busyUntil`: what `occupyEndpoint` returned; `disables`: whether a failure disables
 *   the endpoint
 * @returns `decides`: false when the lease is over and another attempt has begun, which decides then;
 *   also when the event was deleted meanwhile, and nothing is stored then; `disabled`: whether this failure disabled the endpoint
 */
export async function recordAttempt(
  env: Env,
  { event, endpoint }: DueEvent,
  attempt: WebhookAttemptRow,
  outcome: { status: WebhookEventRow['status']; dueAt: Date },
  {
    timedOut,
    busyUntil,
    disables,
  }: { timedOut: boolean; busyUntil: Date | undefined; disables: boolean },
): Promise<{ decides: boolean; disabled: boolean }> {
  const db = database(env)
  const record = [
    db
      .update(webhookEvents)
      .set({ status: outcome.status, ...dueFrom(outcome.dueAt), attempts: attempt.number })
      .where(isClaimed(event)),
    db
      .insert(webhookAttempts)
      .select(
        db
          .select({
            eventId: webhookEvents.id,
            number: valueFor(attempt.number, webhookAttempts.number),
            at: valueFor(attempt.at, webhookAttempts.at),
            responseStatus: valueFor(attempt.responseStatus, webhookAttempts.responseStatus),
            durationMs: valueFor(attempt.durationMs, webhookAttempts.durationMs),
            responseBody: valueFor(attempt.responseBody, webhookAttempts.responseBody),
            error: valueFor(attempt.error, webhookAttempts.error),
          })
          .from(webhookEvents)
          .where(eq(webhookEvents.id, attempt.eventId)),
      )
      .onConflictDoNothing(),
  ] as const
  const reduction = attempt.number > 1 ? reduceAttempts(env, attempt) : []
  if (outcome.status === 'delivered') {
    const removal = endpoint.row ? removeEndpoint(env, SYSTEM, endpoint) : []
    const [updated] = await db.batch([...record, ...removal, ...reduction])
    return { decides: updated.meta.changes > 0, disabled: false }
  }
  const failure = insertFailure(env, endpoint, { timedOut, busyUntil })
  if (!disables) {
    const [updated] = await db.batch([...record, failure, ...reduction])
    return { decides: updated.meta.changes > 0, disabled: false }
  }
  const [updated, , , , disabled] = await db.batch([
    ...record,
    failure,
    ...disableEndpoint(env, endpoint),
    ...reduction,
  ])
  return { decides: updated.meta.changes > 0, disabled: disabled.meta.changes > 0 }
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

/**
 * Takes undelivered events whose `sweepAt` has come, and puts it off, so that no other sweep takes
 * them for a while.
 */
export async function takeSweptEvents(env: Env, limit: number): Promise<string[]> {
  const db = database(env)
  const now = Date.now()
  const due = db
    .select({ id: webhookEvents.id })
    .from(webhookEvents)
    // Literals, not bound values: only then does SQLite use the partial index.
    .where(and(sql`status in ('pending', 'retrying')`, lte(webhookEvents.sweepAt, new Date(now))))
    .orderBy(webhookEvents.sweepAt)
    .limit(limit)
  const rows = due.as('due')
  const [taken] = await db.batch([
    due,
    db
      .update(webhookEvents)
      .set({ sweepAt: new Date(now + SWEEP_AGAIN_AFTER_MS) })
      .where(inArray(webhookEvents.id, db.select({ id: rows.id }).from(rows))),
  ])
  return taken.map(({ id }) => id)
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
    .set({ status: 'retrying', ...dueFrom(now) })
    .where(
      and(
        eq(webhookEvents.id, eventId),
        eq(webhookEvents.organisationId, organisationId),
        or(
          inArray(webhookEvents.status, ['delivered', 'failed']),
          // Due later than any lease can last: no attempt is being made.
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
