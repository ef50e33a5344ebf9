// The SQL of failing receivers: a receiver has a row while its deliveries fail. Each endpoint has its own
// failures; after a time-out, all receivers of an origin share one lease. Some functions return statements on
// the organisation's jobs database, which the caller runs in the batch that records an attempt.
import { and, eq, gt, gte, isNull, lte, notExists, or, sql } from 'drizzle-orm'
import type { AuditAction } from '../../domain/audit-actions.ts'
import { recorded, type AuditEntry } from '../../organisations/audit-log.ts'
import { rowValues, type Database, jobsDatabase } from '../../platform/db/database.ts'
import {
  failingReceivers,
  webhookEvents,
  type EndpointRow,
  type FailingReceiverRow,
  type WebhookEventRow,
} from '../../platform/db/webhook-schema.ts'
import type { Actor } from '../../domain/actor.ts'
import { DAY_MS } from '../../domain/limits.ts'

/** The lease of an attempt on its event, and on an origin that timed out. */
export const ATTEMPT_LEASE_MS = 60_000
/** The maximum number of rows per organisation. Further failing receivers have no row. */
const MAX_RECEIVERS = 100
/** A receiver is disabled after this time without a success. */
const DISABLED_AFTER_MS = 5 * DAY_MS

/** The receiver of an event. */
export interface Receiver {
  organisationId: string
  /** The id of the endpoint; the origin of a URL that only jobs have. */
  receiver: string
  /** Scheme, host and port. */
  origin: string
  /** Exists while deliveries to the receiver fail. */
  row: FailingReceiverRow | undefined
  /** Whether the latest attempt at the origin timed out. */
  timesOut: boolean
}

/** @param failing the rows of the organisation @param endpoint the endpoint whose secret signs the event */
export function receiverOf(
  { organisationId, url }: Pick<WebhookEventRow, 'organisationId' | 'url'>,
  endpoint: Pick<EndpointRow, 'id' | 'url'> | undefined,
  failing: FailingReceiverRow[],
): Receiver {
  const origin = URL.parse(url)?.origin ?? ''
  const receiver = endpoint?.url === url ? endpoint.id : origin
  const row = failing.find((each) => each.receiver === receiver)
  const timesOut = failing.some((each) => each.origin === origin && each.timedOut)
  return { organisationId, receiver, origin, row, timesOut }
}

/**
 * Whether a failure disables the receiver. The first failures of an event do not, since
 * the receiver may not have received any event for days.
 * @param isLate whether the event has failed several times, or for the last time
 */
export const shouldDisable = ({ row }: Receiver, isLate: boolean): boolean =>
  isLate &&
  row !== undefined &&
  row.disabledAt === null &&
  row.failingSince.getTime() <= Date.now() - DISABLED_AFTER_MS

/** Members are informed after this many consecutive failures over this time. */
const REPORTED_FAILURES = 5
const REPORTED_AFTER_MS = 30 * 60_000

/**
 * Claims the report of a receiver that fails repeatedly. Call it after each failed attempt.
 * @param receiver as it was before the attempt
 * @returns the failures, once per failing period; undefined otherwise
 */
export async function claimReport(env: Env, receiver: Receiver) {
  const { row } = receiver
  if (!row || row.reportedAt || row.disabledAt || row.failures + 1 < REPORTED_FAILURES) return
  const now = new Date()
  const since = new Date(now.getTime() - REPORTED_AFTER_MS)
  if (row.failingSince > since) return
  return jobsDatabase(env, receiver.organisationId)
    .update(failingReceivers)
    .set({ reportedAt: now })
    .where(
      and(
        isReceiver(receiver),
        isNull(failingReceivers.reportedAt),
        isNull(failingReceivers.disabledAt),
        gte(failingReceivers.failures, REPORTED_FAILURES),
        lte(failingReceivers.failingSince, since),
      ),
    )
    .returning()
    .get()
}

/**
 * Leases an origin to one delivery. Required after an attempt that timed out.
 * @returns the end of the lease; undefined when another delivery has it
 */
export async function leaseOrigin(env: Env, receiver: Receiver): Promise<Date | undefined> {
  const now = new Date()
  const busyUntil = new Date(now.getTime() + ATTEMPT_LEASE_MS)
  const db = jobsDatabase(env, receiver.organisationId)
  const busy = db
    .select({ receiver: failingReceivers.receiver })
    .from(failingReceivers)
    .where(and(isOrigin(receiver), gt(failingReceivers.busyUntil, now)))
  const { meta } = await db
    .update(failingReceivers)
    .set({ busyUntil })
    .where(and(isOrigin(receiver), notExists(busy)))
  return meta.changes > 0 ? busyUntil : undefined
}

/** An organisation's failing receivers, at most `MAX_RECEIVERS`. */
export const failingReceiversOf = (env: Env, organisationId: string) =>
  jobsDatabase(env, organisationId)
    .select()
    .from(failingReceivers)
    .where(eq(failingReceivers.organisationId, organisationId))

type ReceiverKey = Pick<Receiver, 'organisationId' | 'receiver'>

/**
 * Deletes the record of a receiver's failures, which enables it.
 * @param actor recorded if the receiver was disabled; null records nothing
 */
export async function resetReceiver(env: Env, actor: Actor | null, receiver: ReceiverKey) {
  const db = jobsDatabase(env, receiver.organisationId)
  const [row] = await db.select().from(failingReceivers).where(isReceiver(receiver))
  const remove = async () => (await removeReceiver(db, receiver)).length > 0
  if (row?.disabledAt && actor)
    await recorded(entryOf(env, receiver, actor, 'webhook_endpoint.enabled'), remove)
  else if (row) await remove()
}

const isReceiver = ({ organisationId, receiver }: ReceiverKey) =>
  and(eq(failingReceivers.organisationId, organisationId), eq(failingReceivers.receiver, receiver))

const isOrigin = ({ organisationId, origin }: Pick<Receiver, 'organisationId' | 'origin'>) =>
  and(eq(failingReceivers.organisationId, organisationId), eq(failingReceivers.origin, origin))

/** The entry of a change to a receiver. */
export const entryOf = (
  env: Env,
  { organisationId, receiver: target }: ReceiverKey,
  actor: Actor,
  action: AuditAction,
): AuditEntry => ({ env, organisationId, actor, action, target })

/** The statement that deletes the row. Returns it. */
export const removeReceiver = (db: Database, receiver: ReceiverKey) =>
  db
    .delete(failingReceivers)
    .where(isReceiver(receiver))
    .returning({ disabledAt: failingReceivers.disabledAt })

/** The statement that disables the receiver if it has failed for `DISABLED_AFTER_MS`. Returns the row if it has. */
export function disableReceiver(db: Database, receiver: ReceiverKey) {
  const now = new Date()
  return db
    .update(failingReceivers)
    .set({ disabledAt: now })
    .where(
      and(
        isReceiver(receiver),
        isNull(failingReceivers.disabledAt),
        lte(failingReceivers.failingSince, new Date(now.getTime() - DISABLED_AFTER_MS)),
      ),
    )
    .returning({ disabledAt: failingReceivers.disabledAt })
}

/**
 * The statement that ends the lease of a delivery on its origin, and stores whether the origin timed out.
 * @param busyUntil what `leaseOrigin` returned
 */
export function updateOrigin(
  db: Database,
  receiver: Receiver,
  { timedOut, busyUntil }: { timedOut: boolean; busyUntil: Date | undefined },
) {
  const { busyUntil: busy } = failingReceivers
  return db
    .update(failingReceivers)
    .set({ timedOut, busyUntil: sql`iif(${busy} = ${busyUntil?.getTime() ?? 0}, 0, ${busy})` })
    .where(isOrigin(receiver))
}

/**
 * The statement that counts a failure in the receiver's row; creates the row up to the limit. Only while
 * the event exists: the deletion of an organisation deletes its events before these rows.
 */
export function insertFailure(
  db: Database,
  { organisationId, receiver, origin }: Receiver,
  { eventId, timedOut }: { eventId: string; timedOut: boolean },
) {
  const rows = db
    .select({ receiver: failingReceivers.receiver })
    .from(failingReceivers)
    .where(eq(failingReceivers.organisationId, organisationId))
  const row = {
    organisationId,
    receiver,
    origin,
    failingSince: new Date(),
    failures: 1,
    timedOut,
  }
  const hasRow = sql`${receiver} in ${rows}`
  const isBelowLimit = sql`(select count(*) from ${rows}) < ${MAX_RECEIVERS}`
  return db
    .insert(failingReceivers)
    .select(
      sql`select ${rowValues(failingReceivers, row)} from ${webhookEvents}
        where ${and(eq(webhookEvents.id, eventId), or(hasRow, isBelowLimit))}`,
    )
    .onConflictDoUpdate({
      target: [failingReceivers.organisationId, failingReceivers.receiver],
      // An event may have another URL of the endpoint.
      set: { failures: sql`${failingReceivers.failures} + 1`, timedOut, origin },
    })
}
