// The SQL of webhook endpoints, which have a row while their deliveries fail. Some functions return
// statements, which the caller runs in the batch that records an attempt.
import { and, eq, gte, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import { auditInsert } from '../access/audit-log.ts'
import type { AuditAction } from '../access/audit-log.ts'
import { database, valueFor } from '../db/client.ts'
import { organisations } from '../db/schema.ts'
import { webhookEndpoints } from '../db/webhook-schema.ts'
import type { WebhookEndpointRow } from '../db/webhook-schema.ts'
import { SYSTEM } from '../domain/actor.ts'
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
  const [reported] = await database(env)
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
  const { meta } = await database(env)
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
  database(env)
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.organisationId, organisationId))

type EndpointKey = Pick<Endpoint, 'organisationId' | 'origin'>

/** Deletes the record of an endpoint's failures, which enables it. */
export async function resetEndpoint(env: Env, actor: Actor, endpoint: EndpointKey): Promise<void> {
  await database(env).batch(removeEndpoint(env, actor, endpoint))
}

const isEndpoint = ({ organisationId, origin }: EndpointKey) =>
  and(eq(webhookEndpoints.organisationId, organisationId), eq(webhookEndpoints.origin, origin))

const auditEntry = (
  { organisationId, origin }: EndpointKey,
  actor: Actor,
  action: AuditAction,
) => ({
  organisationId,
  actor,
  action,
  target: origin,
})

/** Statements that delete the row, and record it in the audit log if that enables the endpoint. */
export function removeEndpoint(env: Env, actor: Actor, endpoint: EndpointKey) {
  const isDisabled = and(isEndpoint(endpoint), isNotNull(webhookEndpoints.disabledAt))
  const entry = auditEntry(endpoint, actor, 'webhook_endpoint.enabled')
  return [
    auditInsert(env, entry, sql`exists (select 1 from ${webhookEndpoints} where ${isDisabled})`),
    database(env).delete(webhookEndpoints).where(isEndpoint(endpoint)),
  ] as const
}

/**
 * Statements that disable the endpoint if it has failed for `DISABLED_AFTER_MS`, and record it in the
 * audit log. The last one changes a row if it was disabled.
 */
export function disableEndpoint(env: Env, endpoint: EndpointKey) {
  const now = new Date()
  const toDisable = and(
    isEndpoint(endpoint),
    isNull(webhookEndpoints.disabledAt),
    lte(webhookEndpoints.failingSince, new Date(now.getTime() - DISABLED_AFTER_MS)),
  )
  const entry = auditEntry(endpoint, SYSTEM, 'webhook_endpoint.disabled')
  return [
    auditInsert(env, entry, sql`exists (select 1 from ${webhookEndpoints} where ${toDisable})`),
    database(env).update(webhookEndpoints).set({ disabledAt: now }).where(toDisable),
  ] as const
}

/** The statement that counts a failure in the endpoint's row; creates the row up to the limit. */
export function insertFailure(
  env: Env,
  { organisationId, origin }: EndpointKey,
  { timedOut, busyUntil }: { timedOut: boolean; busyUntil: Date | undefined },
) {
  const db = database(env)
  const rows = db
    .select({ origin: webhookEndpoints.origin })
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.organisationId, organisationId))
  const row = {
    organisationId: organisations.id,
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
        .from(organisations)
        .where(and(eq(organisations.id, organisationId), or(hasRow, isBelowLimit))),
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
