// The SQL of webhook endpoints, which have a row while their deliveries fail. Some functions return
// statements on the organisation's jobs database, which the caller runs in the batch that records an
// attempt.
import { and, eq, gte, isNull, lte, or, sql } from 'drizzle-orm'
import { recorded } from '../access/audit-log.ts'
import type { AuditAction, AuditEntry } from '../access/audit-log.ts'
import { valueFor } from '../db/client.ts'
import type { Database } from '../db/client.ts'
import { jobsDatabase } from '../db/shards.ts'
import { webhookEndpoints, webhookEvents } from '../db/webhook-schema.ts'
import type { WebhookEndpointRow } from '../db/webhook-schema.ts'
import type { Actor } from '../domain/actor.ts'
import { DAY_MS } from '../domain/limits.ts'

/** The lease of an attempt on its event, and on an endpoint that timed out. */
export const ATTEMPT_LEASE_MS = 60_000
/** The maximum number of rows per organisation. Further failing endpoints have no row. */
const MAX_ENDPOINTS = 100
/** An endpoint is disabled after this time without a success. */
const DISABLED_AFTER_MS = 5 * DAY_MS

/** The receiver of an event. */
export interface Endpoint {
  organisationId: string
  /** Scheme, host and port. */
  origin: string
  /** Exists while deliveries to the endpoint fail. */
  row: WebhookEndpointRow | undefined
}

/**
 * Whether a failure disables the endpoint. The first failures of an event do not, since
 * the endpoint may not have received any event for days.
 * @param isLate whether the event has failed several times, or for the last time
 */
export const shouldDisable = ({ row }: Endpoint, isLate: boolean): boolean =>
  isLate &&
  row !== undefined &&
  row.disabledAt === null &&
  row.failingSince.getTime() <= Date.now() - DISABLED_AFTER_MS

/** Members are informed after this many consecutive failures over this time. */
const REPORTED_FAILURES = 5
const REPORTED_AFTER_MS = 30 * 60_000

/**
 * Claims the report of an endpoint that fails repeatedly. Call it after each failed attempt.
 * @param endpoint as it was before the attempt
 * @returns the failures, once per failing period; undefined otherwise
 */
export async function claimReport(
  env: Env,
  endpoint: Endpoint,
): Promise<{ failures: number; failingSince: Date } | undefined> {
  const { row } = endpoint
  if (!row || row.reportedAt || row.disabledAt || row.failures + 1 < REPORTED_FAILURES) return
  const now = new Date()
  const since = new Date(now.getTime() - REPORTED_AFTER_MS)
  if (row.failingSince > since) return
  const [reported] = await jobsDatabase(env, endpoint.organisationId)
    .update(webhookEndpoints)
    .set({ reportedAt: now })
    .where(
      and(
        isEndpoint(endpoint),
        isNull(webhookEndpoints.reportedAt),
        isNull(webhookEndpoints.disabledAt),
        gte(webhookEndpoints.failures, REPORTED_FAILURES),
        lte(webhookEndpoints.failingSince, since),
      ),
    )
    .returning()
  return reported
}

/**
 * Leases an endpoint to one delivery. Required after an attempt that timed out.
 * @returns the end of the lease; undefined when another delivery has it
 */
export async function leaseEndpoint(env: Env, endpoint: Endpoint): Promise<Date | undefined> {
  const now = new Date()
  const busyUntil = new Date(now.getTime() + ATTEMPT_LEASE_MS)
  const { meta } = await jobsDatabase(env, endpoint.organisationId)
    .update(webhookEndpoints)
    .set({ busyUntil })
    .where(and(isEndpoint(endpoint), lte(webhookEndpoints.busyUntil, now)))
  return meta.changes > 0 ? busyUntil : undefined
}

/** An organisation's failing endpoints, at most `MAX_ENDPOINTS`. */
export const failingEndpointsOf = (
  env: Env,
  organisationId: string,
): Promise<WebhookEndpointRow[]> =>
  jobsDatabase(env, organisationId)
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.organisationId, organisationId))

type EndpointKey = Pick<Endpoint, 'organisationId' | 'origin'>

/** Deletes the record of an endpoint's failures, which enables it. */
export async function resetEndpoint(env: Env, actor: Actor, endpoint: EndpointKey): Promise<void> {
  const db = jobsDatabase(env, endpoint.organisationId)
  const [row] = await db.select().from(webhookEndpoints).where(isEndpoint(endpoint))
  const remove = async () => (await removeEndpoint(db, endpoint)).length > 0
  if (row?.disabledAt)
    await recorded(env, entryOf(endpoint, actor, 'webhook_endpoint.enabled'), remove)
  else if (row) await remove()
}

const isEndpoint = ({ organisationId, origin }: EndpointKey) =>
  and(eq(webhookEndpoints.organisationId, organisationId), eq(webhookEndpoints.origin, origin))

/** The entry of a change to an endpoint. */
export const entryOf = (
  { organisationId, origin }: EndpointKey,
  actor: Actor,
  action: AuditAction,
): AuditEntry => ({
  organisationId,
  actor,
  action,
  target: origin,
})

/** The statement that deletes the row. Returns it. */
export const removeEndpoint = (db: Database, endpoint: EndpointKey) =>
  db
    .delete(webhookEndpoints)
    .where(isEndpoint(endpoint))
    .returning({ disabledAt: webhookEndpoints.disabledAt })

/** The statement that disables the endpoint if it has failed for `DISABLED_AFTER_MS`. */
export function disableEndpoint(db: Database, endpoint: EndpointKey) {
  const now = new Date()
  return db
    .update(webhookEndpoints)
    .set({ disabledAt: now })
    .where(
      and(
        isEndpoint(endpoint),
        isNull(webhookEndpoints.disabledAt),
        lte(webhookEndpoints.failingSince, new Date(now.getTime() - DISABLED_AFTER_MS)),
      ),
    )
}

/**
 * The statement that counts a failure in the endpoint's row; creates the row up to the limit. Only while
 * the event exists: the deletion of an organisation deletes its events before its endpoints.
 */
export function insertFailure(
  db: Database,
  { organisationId, origin }: EndpointKey,
  {
    eventId,
    timedOut,
    busyUntil,
  }: { eventId: string; timedOut: boolean; busyUntil: Date | undefined },
) {
  const rows = db
    .select({ origin: webhookEndpoints.origin })
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.organisationId, organisationId))
  const row = {
    organisationId: valueFor(organisationId, webhookEndpoints.organisationId),
    origin: valueFor(origin, webhookEndpoints.origin),
    failingSince: valueFor(new Date(), webhookEndpoints.failingSince),
    failures: valueFor(1, webhookEndpoints.failures),
    timedOut: valueFor(timedOut, webhookEndpoints.timedOut),
    busyUntil: valueFor(new Date(0), webhookEndpoints.busyUntil),
    disabledAt: sql<null>`null`.as(webhookEndpoints.disabledAt.name),
    reportedAt: sql<null>`null`.as(webhookEndpoints.reportedAt.name),
  }
  const hasRow = sql`${origin} in ${rows}`
  const isBelowLimit = sql`(select count(*) from ${rows}) < ${MAX_ENDPOINTS}`
  const { failures, busyUntil: busy } = webhookEndpoints
  const ownLease = busyUntil?.getTime() ?? 0
  return db
    .insert(webhookEndpoints)
    .select(
      db
        .select(row)
        .from(webhookEvents)
        .where(and(eq(webhookEvents.id, eventId), or(hasRow, isBelowLimit))),
    )
    .onConflictDoUpdate({
      target: [webhookEndpoints.organisationId, webhookEndpoints.origin],
      set: {
        failures: sql`${failures} + 1`,
        timedOut,
        busyUntil: sql`iif(${busy} = ${ownLease}, 0, ${busy})`,
      },
    })
}
