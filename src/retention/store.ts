// Deletes rows by age. Every statement reads and deletes a bounded number of rows by a primary key or an
// index, and can be repeated. The jobs of an organisation are in jobs-store.
import { and, eq, gte, inArray, lt, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { database } from '../db/client.ts'
import type { Database } from '../db/client.ts'
import { forEachShard } from '../db/shards.ts'
import {
  challenges,
  invitations,
  members,
  sessions,
  users,
  verifications,
} from '../db/auth-schema.ts'
import { paymentEvents, payments } from '../db/billing-schema.ts'
import { apiKeys, auditLog } from '../db/schema.ts'
import { jobStatistics, jobStatisticsDays } from '../db/statistics-schema.ts'
import { webhookAttempts, webhookEndpoints, webhookEvents } from '../db/webhook-schema.ts'
import { PAYMENT_PROVIDERS } from '../domain/billing.ts'
import { firstIdSince } from '../ids.ts'
import type { Prefix } from '../ids.ts'
import { DAY_MS, RETENTION_DAYS } from '../domain/limits.ts'

/** The maximum number of rows that one statement deletes. */
const BATCH = 500
/** Added to the retention of undelivered events, so that all retries are made before the deletion. */
const UNDELIVERED_DAYS = 7

/** Deletes webhook attempts of old events. Their event ids sort by time. */
export const deleteWebhookAttempts = (env: Env): Promise<number> =>
  deleteFromShards(
    env,
    webhookAttempts,
    [webhookAttempts.eventId, webhookAttempts.number],
    lt(webhookAttempts.eventId, cutoffId('evt', 'webhooks')),
  )

/** Deletes old webhook events; undelivered ones `UNDELIVERED_DAYS` later. */
export function deleteWebhookEvents(env: Env): Promise<number> {
  const undeliveredCutoff = firstIdSince(
    'evt',
    Date.now() - (RETENTION_DAYS.webhooks + UNDELIVERED_DAYS) * DAY_MS,
  )
  return deleteFromShards(
    env,
    webhookEvents,
    [webhookEvents.id],
    and(
      lt(webhookEvents.id, cutoffId('evt', 'webhooks')),
      sql`(${webhookEvents.status} in ('delivered', 'failed') or ${webhookEvents.id} < ${undeliveredCutoff})`,
    ),
  )
}

export const deleteAuditLog = (env: Env): Promise<number> =>
  deleteRows(database(env), auditLog, [auditLog.id], lt(auditLog.id, cutoffId('aud', 'auditLog')))

/** Deletes the ids of messages that their provider no longer repeats. */
export const deletePaymentEvents = (env: Env): Promise<number> =>
  deleteRows(
    database(env),
    paymentEvents,
    [paymentEvents.id],
    and(
      // The index by age begins with the provider.
      inArray(paymentEvents.provider, [...PAYMENT_PROVIDERS]),
      lt(paymentEvents.createdAt, new Date(cutoff('paymentEvents'))),
    ),
  )

/** Deletes payments that were never paid. */
export const deleteUnpaidPayments = (env: Env): Promise<number> =>
  deleteRows(
    database(env),
    payments,
    [payments.id],
    and(
      inArray(payments.status, ['failed', 'expired']),
      lt(payments.id, cutoffId('pay', 'unpaidPayments')),
    ),
  )

/** Deletes invitations that expired long ago. */
export const deleteInvitations = (env: Env): Promise<number> =>
  deleteRows(
    database(env),
    invitations,
    [invitations.id],
    and(
      lt(invitations.id, cutoffId('inv', 'expired')),
      lt(invitations.expiresAt, new Date(cutoff('expired'))),
    ),
  )

/** Deletes challenges that have expired. */
export const deleteChallenges = (env: Env): Promise<number> =>
  deleteRows(database(env), challenges, [challenges.id], lt(challenges.expiresAt, new Date()))
/** Deletes old counts of jobs. */
export const deleteOldStatistics = (env: Env): Promise<number> =>
  deleteFromShards(
    env,
    jobStatistics,
    [
      jobStatistics.day,
      jobStatistics.organisationId,
      jobStatistics.mode,
      jobStatistics.workspaceId,
    ],
    lt(jobStatistics.day, cutoffDay()),
  )

/** Deletes the records of old days that were counted. */
export const deleteStatisticsDays = (env: Env): Promise<number> =>
  deleteFromShards(
    env,
    jobStatisticsDays,
    [jobStatisticsDays.day],
    lt(jobStatisticsDays.day, cutoffDay()),
  )

const cutoffDay = () => Math.floor(cutoff('statistics') / DAY_MS)

// The tables below have no index by age. Each run checks one slice of their primary key, so that SLICES
// consecutive runs check all rows.
export const SLICES = 16

export const deleteSessions = (env: Env, slice: number): Promise<number> =>
  deleteRows(
    database(env),
    sessions,
    [sessions.id],
    and(uuidSlice(sessions.id, slice), lt(sessions.expiresAt, new Date(cutoff('expired')))),
  )

export const deleteVerifications = (env: Env, slice: number): Promise<number> =>
  deleteRows(
    database(env),
    verifications,
    [verifications.id],
    and(
      uuidSlice(verifications.id, slice),
      lt(verifications.expiresAt, new Date(cutoff('expired'))),
    ),
  )

/** Deletes sign-ups whose address was never verified, with their logins, sessions and onboarding. */
export const deleteUnverifiedUsers = (env: Env, slice: number): Promise<number> =>
  deleteRows(
    database(env),
    users,
    [users.id],
    and(
      timeSlice(users.id, 'usr', cutoff('expired'), slice),
      eq(users.emailVerified, false),
      sql`not exists (select 1 from ${members} where ${members.userId} = ${users.id})`,
    ),
  )

export const deleteRevokedKeys = (env: Env, slice: number): Promise<number> =>
  deleteRows(
    database(env),
    apiKeys,
    [apiKeys.id],
    and(
      timeSlice(apiKeys.id, 'key', cutoff('revokedKeys'), slice),
      lt(apiKeys.revokedAt, new Date(cutoff('revokedKeys'))),
    ),
  )

/** Deletes failing endpoints without a recent delivery, which enables disabled ones. */
export const deleteWebhookEndpoints = (env: Env, slice: number): Promise<number> =>
  deleteFromShards(
    env,
    webhookEndpoints,
    [webhookEndpoints.organisationId, webhookEndpoints.origin],
    and(
      timeSlice(webhookEndpoints.organisationId, 'org', cutoff('webhookEndpoints'), slice),
      sql`max(${webhookEndpoints.failingSince}, ${webhookEndpoints.busyUntil},
        coalesce(${webhookEndpoints.disabledAt}, 0)) < ${cutoff('webhookEndpoints')}`,
    ),
  )

/** Data of a kind that is older than this instant (ms) is deleted. */
export const cutoff = (kind: keyof typeof RETENTION_DAYS): number =>
  Date.now() - RETENTION_DAYS[kind] * DAY_MS

const cutoffId = (prefix: Prefix, kind: keyof typeof RETENTION_DAYS) =>
  firstIdSince(prefix, cutoff(kind))

/** A time before the first id of this service. */
const FIRST_ID_AT = Date.UTC(2025, 0, 1)

/** One slice of the ids that were created before an instant, by their creation time. */
function timeSlice(column: SQLiteColumn, prefix: Prefix, until: number, n: number) {
  const at = (slice: number) =>
    firstIdSince(prefix, Math.floor(FIRST_ID_AT + ((until - FIRST_ID_AT) * slice) / SLICES))
  return and(gte(column, at(n)), lt(column, at(n + 1)))
}

/** One slice of random UUIDs, by the first digit. */
const uuidSlice = (column: SQLiteColumn, slice: number) =>
  sql`${column} >= ${digit(slice)} and ${column} < ${slice + 1 < SLICES ? digit(slice + 1) : 'g'}`

const digit = (slice: number) => slice.toString(SLICES)

/** Deletes up to BATCH rows by their primary key, since some tables have no rowid. */
async function deleteRows(
  db: Database,
  table: SQLiteTable,
  primaryKey: SQLiteColumn[],
  where: SQL | undefined,
): Promise<number> {
  const key = sql.join(primaryKey, sql`, `)
  const { meta } = await db
    .delete(table)
    .where(sql`(${key}) in (select ${key} from ${table} where ${where} limit ${BATCH})`)
  return meta.changes
}

/** `deleteRows` on every shard. @throws the first failure, after all shards */
async function deleteFromShards(
  env: Env,
  table: SQLiteTable,
  primaryKey: SQLiteColumn[],
  where: SQL | undefined,
): Promise<number> {
  const counts = await forEachShard(env, 'retention', (db) =>
    deleteRows(db, table, primaryKey, where),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
