// All SQL about webhook endpoints, which have a row while their deliveries fail. Those functions that
// return statements leave it to the caller to run them in the batch of an attempt.
import { DAY_MS } from '../domain/limits.ts'
import type { Actor } from '../domain/actor.ts'
import { and, desc, eq, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import { auditInsert } from '../access/audit-log.ts'
import type { AuditAction } from '../access/audit-log.ts'
import { database, valueFor } from '../db/client.ts'
import { organisations, webhookEndpoints } from '../db/schema.ts'
import type { WebhookEndpointRow } from '../db/schema.ts'
import { SYSTEM } from '../domain/actor.ts'

/** How long one attempt has an event, and an endpoint that timed out, to itself, ms. */
export const ATTEMPT_LEASE_MS = 60_000
/** Rows of failing endpoints that an organisation may have; a further endpoint gets none. */
const MAX_ENDPOINTS = 100
/** An endpoint that has only failed for so long is disabled. */
const DISABLED_AFTER_MS = 5 * DAY_MS

/** The receiver of an event. */
export interface Endpoint {
  organisationId: string
  /** Scheme, host and port. */
  origin: string
  /** What is stored of it while its deliveries fail. */
  row: WebhookEndpointRow | undefined
}

/**
 * Whether a failure disables the endpoint. Not at the first attempts of an event: between two events
 * nothing may have been sent for days.
 * @param isLate whether the event has failed several times, or for the last time
 */
export const shallBeDisabled = ({ row }: Endpoint, isLate: boolean): boolean =>
  isLate &&
  row !== undefined &&
  row.disabledAt === null &&
  row.failingSince.getTime() <= Date.now() - DISABLED_AFTER_MS

/**
 * Takes an endpoint whose latest attempt timed out for one delivery.
 * @returns until when the delivery has it, or undefined when another one does
 */
export async function occupyEndpoint(env: Env, endpoint: Endpoint): Promise<Date | undefined> {
  const now = new Date()
  const busyUntil = new Date(now.getTime() + ATTEMPT_LEASE_MS)
  const { meta } = await database(env)
    .update(webhookEndpoints)
    .set({ busyUntil })
    .where(and(isEndpoint(endpoint), lte(webhookEndpoints.busyUntil, now)))
  return meta.changes > 0 ? busyUntil : undefined
}

/** An organisation's disabled endpoints, the latest first. */
export const listDisabledEndpoints = (
  env: Env,
  organisationId: string,
): Promise<WebhookEndpointRow[]> =>
  database(env)
    .select()
    .from(webhookEndpoints)
    .where(
      and(
        eq(webhookEndpoints.organisationId, organisationId),
        isNotNull(webhookEndpoints.disabledAt),
      ),
    )
    .orderBy(desc(webhookEndpoints.disabledAt))

type EndpointKey = Pick<Endpoint, 'organisationId' | 'origin'>

/** Forgets that an endpoint has failed, which enables it. */
export async function forgetEndpoint(env: Env, actor: Actor, endpoint: EndpointKey): Promise<void> {
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

/** Statements that delete the row, and record it if that enables the endpoint. */
export function removeEndpoint(env: Env, actor: Actor, endpoint: EndpointKey) {
  const isDisabled = and(isEndpoint(endpoint), isNotNull(webhookEndpoints.disabledAt))
  const entry = auditEntry(endpoint, actor, 'webhook_endpoint.enabled')
  return [
    auditInsert(env, entry, sql`exists (select 1 from ${webhookEndpoints} where ${isDisabled})`),
    database(env).delete(webhookEndpoints).where(isEndpoint(endpoint)),
  ] as const
}

/** Statements that disable the endpoint if it has failed for so long, and record it; the last says so. */
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

/** Adds a failure to the endpoint's row, and creates the row below the limit of rows. */
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
  }
  const hasRow = sql`${origin} in ${rows}`
  const hasRoom = sql`(select count(*) from ${rows}) < ${MAX_ENDPOINTS}`
  const { failures, busyUntil: busy } = webhookEndpoints
  const mine = busyUntil?.getTime() ?? 0
  return db
    .insert(webhookEndpoints)
    .select(
      db
        .select(row)
        .from(organisations)
        .where(and(eq(organisations.id, organisationId), or(hasRow, hasRoom))),
    )
    .onConflictDoUpdate({
      target: [webhookEndpoints.organisationId, webhookEndpoints.origin],
      set: {
        failures: sql`${failures} + 1`,
        timedOut,
        busyUntil: sql`iif(${busy} = ${mine}, 0, ${busy})`,
      },
    })
}
