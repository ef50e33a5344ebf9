// The SQL that changes webhook events and their attempts; webhooks/event-reads reads them. Events are
// inserted in the transaction that ends their job (jobs/processing/end).
import { and, eq, inArray, lt, lte, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { SYSTEM } from '../domain/actor.ts'
import { auditInsert, recorded } from '../organisations/audit-log.ts'
import { hasChanged, rowValues, type Database, jobsDatabase } from '../platform/db/database.ts'
import { dueFrom } from '../platform/db/due.ts'
import { jobs } from '../platform/db/schema.ts'
import {
  failingReceivers,
  webhookAttempts,
  webhookEvents,
  type WebhookAttemptRow,
  type WebhookEventRow,
} from '../platform/db/webhook-schema.ts'
import { missingEndpointOf } from './endpoints/default-endpoint.ts'
import { selectEndpointOf } from './endpoints/endpoint-store.ts'
import {
  ATTEMPT_LEASE_MS,
  disableReceiver,
  entryOf,
  insertFailure,
  receiverOf,
  removeReceiver,
  updateOrigin,
} from './endpoints/failing-receiver-store.ts'

/** The maximum number of stored attempts per event, more than the default schedule has. */
const STORED_ATTEMPTS = 10
const UNDELIVERED = ['pending', 'retrying'] as const

export type ClaimedEvent = NonNullable<Awaited<ReturnType<typeof claimEvent>>>

/**
 * Claims an event for one attempt.
 * @returns undefined when the event is not due or is already claimed; `endpoint` signs the request, and is undefined
 *   when it was deleted
 */
export async function claimEvent(env: Env, eventId: string) {
  const db = jobsDatabase(env, eventId)
  const now = new Date()
  const valueOf = (column: SQLiteColumn) =>
    db.select({ value: column }).from(webhookEvents).where(eq(webhookEvents.id, eventId))
  const [[event], [job], failing, [endpoint]] = await db.batch([
    db
      .update(webhookEvents)
      // Not `sweepAt`, whose index would be written again. The lease delays the sweep.
      .set({ dueAt: new Date(now.getTime() + ATTEMPT_LEASE_MS) })
      .where(
        and(
          eq(webhookEvents.id, eventId),
          inArray(webhookEvents.status, UNDELIVERED),
          lte(webhookEvents.dueAt, now),
        ),
      )
      .returning(),
    // Separate selects instead of a join: in a batch, D1 returns rows as objects, in which equal
    // column names of two tables collide.
    db
      .select()
      .from(jobs)
      .where(eq(jobs.id, valueOf(webhookEvents.jobId))),
    db
      .select()
      .from(failingReceivers)
      .where(eq(failingReceivers.organisationId, valueOf(webhookEvents.organisationId))),
    selectEndpointOf(db, {
      organisationId: valueOf(webhookEvents.organisationId),
      endpointId: valueOf(webhookEvents.endpointId),
    }),
  ])
  if (!event || !job) return undefined
  const signer = endpoint ?? (await missingEndpointOf(env, event))
  return { event, job, receiver: receiverOf(event, signer, failing), endpoint: signer }
}

/** Whether the claim is still valid: each claim sets a different `dueAt`. */
const isClaimed = (claimed: WebhookEventRow) =>
  and(eq(webhookEvents.id, claimed.id), eq(webhookEvents.dueAt, claimed.dueAt))

/**
 * Releases a claimed event without an attempt, or ends it.
 * @returns false when the lease has expired and another attempt has started
 */
export const releaseEvent = (
  env: Env,
  claimed: WebhookEventRow,
  change: { dueAt: Date } | { status: 'failed' },
): Promise<boolean> =>
  hasChanged(
    jobsDatabase(env, claimed.id)
      .update(webhookEvents)
      .set('dueAt' in change ? dueFrom(change.dueAt) : change)
      .where(isClaimed(claimed)),
  )

export interface AttemptRecord {
  env: Env
  claimed: ClaimedEvent
  attempt: WebhookAttemptRow
  /** The event's new status, and when its next attempt is due. */
  status: WebhookEventRow['status']
  dueAt: Date
  timedOut: boolean
  /** What `leaseOrigin` returned, if it was called. */
  busyUntil: Date | undefined
  /** Whether this failure disables the endpoint. */
  disables: boolean
}

/**
 * Stores an attempt and its consequences in one transaction.
 * @returns `leaseHeld`: false when the lease has expired and another attempt has started, which
 *   determines the outcome, or when the event was deleted; `disabled`: whether this failure disabled
 *   the endpoint
 */
export async function recordAttempt(made: AttemptRecord) {
  const { env, attempt, status, disables } = made
  const { event, receiver } = made.claimed
  const db = jobsDatabase(env, event.id)
  /** `disabled`: whether the receiver was or is now disabled. */
  const store = async () => {
    const [updated, , changed] = await db.batch([
      db
        .update(webhookEvents)
        .set({ status, ...dueFrom(made.dueAt), attempts: attempt.number })
        .where(isClaimed(event)),
      db
        .insert(webhookAttempts)
        .select(
          sql`select ${rowValues(webhookAttempts, attempt)} from ${webhookEvents}
            where ${eq(webhookEvents.id, attempt.eventId)}`,
        )
        .onConflictDoNothing(),
      ...changesOfReceiver(db, made),
      // Other receivers of the origin share the lease, and whether it times out.
      ...(receiver.timesOut ? [updateOrigin(db, receiver, made)] : []),
      // Only an earlier attempt can be shortened or deleted.
      ...(attempt.number > 1 ? reduceAttempts(db, attempt) : []),
    ])
    const disabled = Array.isArray(changed) && changed.some((row) => row.disabledAt !== null)
    return { leaseHeld: updated.meta.changes > 0, disabled }
  }
  if (disables) {
    const entry = entryOf(env, receiver, SYSTEM, 'webhook_endpoint.disabled')
    return recorded(entry, store, ({ disabled }) => disabled)
  }
  // Afterwards, since only the transaction knows whether the endpoint was disabled. A crash before it
  // loses the entry, but not the delivery, which shows why the endpoint is enabled.
  const { leaseHeld, disabled } = await store()
  if (disabled) await auditInsert(entryOf(env, receiver, SYSTEM, 'webhook_endpoint.enabled'))
  return { leaseHeld, disabled: false }
}

/** The statements that an attempt needs in the receiver's row. The first returns the row if it removes or disables it. */
function changesOfReceiver(db: Database, made: AttemptRecord) {
  const { event, receiver } = made.claimed
  if (made.status === 'delivered') return receiver.row ? [removeReceiver(db, receiver)] : []
  const failure = insertFailure(db, receiver, { eventId: event.id, timedOut: made.timedOut })
  return made.disables ? [disableReceiver(db, receiver), failure] : [failure]
}

/**
 * Statements that limit what one event stores. Earlier attempts lose their response headers, and their
 * response bodies are truncated to 128 bytes: to 128 characters, or to 32 if some take more than a
 * byte. The number of attempts is limited because members can resend an event at any time.
 */
function reduceAttempts(db: Database, { eventId, number }: WebhookAttemptRow) {
  const body = webhookAttempts.responseBody
  const ofEvent = eq(webhookAttempts.eventId, eventId)
  return [
    db
      .update(webhookAttempts)
      .set({
        responseBody: sql`substr(${body}, 1,
          case when length(${body}) = length(cast(${body} as blob)) then 128 else 32 end)`,
        responseHeaders: null,
      })
      .where(and(ofEvent, lt(webhookAttempts.number, number))),
    db
      .delete(webhookAttempts)
      .where(and(ofEvent, lte(webhookAttempts.number, number - STORED_ATTEMPTS))),
  ] as const
}

/** Deletes up to 100 events of an organisation with their attempts. @returns how many events */
export async function deleteEvents(env: Env, organisationId: string): Promise<number> {
  const db = jobsDatabase(env, organisationId)
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
