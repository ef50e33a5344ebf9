// Deletes rows by age: a table of what is deleted. Every statement reads and deletes a bounded number of rows by a primary key or an
// index, and can be repeated. The jobs of an organisation are in job-retention.
import { and, eq, gte, inArray, lt, sql, type SQL } from 'drizzle-orm'
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { PAYMENT_PROVIDERS } from '../domain/billing.ts'
import { DAY_MS, RETENTION_DAYS } from '../domain/limits.ts'
import {
  challenges,
  invitations,
  members,
  sessions,
  users,
  verifications,
} from '../platform/db/auth-schema.ts'
import { paymentEvents, payments, sandboxPayments } from '../platform/db/billing-schema.ts'
import { database, type Database, forEachShard } from '../platform/db/database.ts'
import { apiKeys, auditLog } from '../platform/db/schema.ts'
import { jobStatistics, jobStatisticsDays } from '../platform/db/statistics-schema.ts'
import { failingReceivers, webhookAttempts, webhookEvents } from '../platform/db/webhook-schema.ts'
import { firstIdSince, type Prefix } from '../platform/ids.ts'

/** The maximum number of rows that one statement deletes. */
const BATCH = 500
/** Added to the retention of undelivered events, so that all retries are made before the deletion. */
const UNDELIVERED_DAYS = 7

/** @returns the number of deleted rows and objects, and of jobs whose pictures were deleted */
export type Step = (env: Env, slice: number) => Promise<number>

/** Which rows of a table are deleted. */
type Where = (slice: number) => SQL | undefined

/** The step for a table of the accounts. */
const inAccounts =
  (table: SQLiteTable, where: Where): Step =>
  (env, slice) =>
    deleteRows(database(env), table, where(slice))

/** The step for a table of the jobs databases. It throws the first failure, after all shards. */
const inShards =
  (table: SQLiteTable, where: Where): Step =>
  async (env, slice) => {
    const counts = await forEachShard(env, 'retention', (db) => deleteRows(db, table, where(slice)))
    return counts.reduce((sum, count) => sum + count, 0)
  }

/** Deletes the old rows of each table. */
export const ROW_STEPS: Record<string, Step> = {
  // Tables with an index by age.
  webhookAttempts: inShards(webhookAttempts, () =>
    lt(webhookAttempts.eventId, cutoffId('evt', 'webhooks')),
  ),
  webhookEvents: inShards(webhookEvents, () => {
    const undeliveredAt = cutoff('webhooks') - UNDELIVERED_DAYS * DAY_MS
    return sql`${webhookEvents.id} < ${cutoffId('evt', 'webhooks')}
      and (${webhookEvents.status} in ('delivered', 'failed')
        or ${webhookEvents.id} < ${firstIdSince('evt', undeliveredAt)})`
  }),
  auditLog: inAccounts(auditLog, () => lt(auditLog.id, cutoffId('aud', 'auditLog'))),
  statistics: inShards(jobStatistics, () => lt(jobStatistics.day, cutoffDay())),
  statisticsDays: inShards(jobStatisticsDays, () => lt(jobStatisticsDays.day, cutoffDay())),
  // The ids of messages that their provider no longer repeats. The index by age begins with the provider.
  paymentEvents: inAccounts(paymentEvents, () =>
    and(
      inArray(paymentEvents.provider, [...PAYMENT_PROVIDERS]),
      isBefore(paymentEvents.createdAt, 'paymentEvents'),
    ),
  ),
  unpaidPayments: inAccounts(payments, () =>
    and(
      inArray(payments.status, ['failed', 'expired']),
      lt(payments.id, cutoffId('pay', 'unpaidPayments')),
    ),
  ),
  sandboxPayments: inAccounts(sandboxPayments, () =>
    and(
      // Repeats the condition of the partial index. A renewal, which has no payment id, can still be paid.
      sql`status <> 'paid' and payment_id is not null`,
      isBefore(sandboxPayments.createdAt, 'sandboxPayments'),
    ),
  ),
  invitations: inAccounts(invitations, () =>
    and(lt(invitations.id, cutoffId('inv', 'expired')), isBefore(invitations.expiresAt, 'expired')),
  ),
  challenges: inAccounts(challenges, () => lt(challenges.expiresAt, new Date())),

  // Tables without an index by age. Each run checks one slice of their primary key, so that SLICES
  // consecutive runs check all rows.
  sessions: inAccounts(sessions, (slice) =>
    and(uuidSlice(sessions.id, slice), isBefore(sessions.expiresAt, 'expired')),
  ),
  verifications: inAccounts(verifications, (slice) =>
    and(uuidSlice(verifications.id, slice), isBefore(verifications.expiresAt, 'expired')),
  ),
  // Sign-ups whose address was never verified, with their logins, sessions and onboarding.
  users: inAccounts(users, (slice) =>
    and(
      timeSlice(users.id, 'usr', 'expired', slice),
      eq(users.emailVerified, false),
      sql`not exists (select 1 from ${members} where ${members.userId} = ${users.id})`,
    ),
  ),
  apiKeys: inAccounts(apiKeys, (slice) =>
    and(
      timeSlice(apiKeys.id, 'key', 'revokedKeys', slice),
      isBefore(apiKeys.revokedAt, 'revokedKeys'),
    ),
  ),
  // Failing endpoints without a recent delivery. The deletion enables disabled ones.
  failingReceivers: inShards(failingReceivers, (slice) =>
    and(
      timeSlice(failingReceivers.organisationId, 'org', 'failingReceivers', slice),
      sql`max(${failingReceivers.failingSince}, ${failingReceivers.busyUntil},
        coalesce(${failingReceivers.disabledAt}, 0)) < ${cutoff('failingReceivers')}`,
    ),
  ),
}
export const SLICES = 16

/** A kind of data with its own retention. */
type Kind = keyof typeof RETENTION_DAYS

const cutoffDay = () => Math.floor(cutoff('statistics') / DAY_MS)

/** Data of a kind that is older than this instant (ms) is deleted. */
export const cutoff = (kind: Kind): number => Date.now() - RETENTION_DAYS[kind] * DAY_MS

const cutoffId = (prefix: Prefix, kind: Kind) => firstIdSince(prefix, cutoff(kind))

const isBefore = (column: SQLiteColumn, kind: Kind) => lt(column, new Date(cutoff(kind)))

/** A time before the first id of this service. */
const FIRST_ID_AT = Date.UTC(2025, 0, 1)

/** One slice of the ids of old data of a kind, by their creation time. */
function timeSlice(column: SQLiteColumn, prefix: Prefix, kind: Kind, n: number) {
  const until = cutoff(kind)
  const at = (slice: number) =>
    firstIdSince(prefix, Math.floor(FIRST_ID_AT + ((until - FIRST_ID_AT) * slice) / SLICES))
  return and(gte(column, at(n)), lt(column, at(n + 1)))
}

/** One slice of random UUIDs, by the first digit. */
const uuidSlice = (column: SQLiteColumn, slice: number) =>
  sql`${column} >= ${digit(slice)} and ${column} < ${slice + 1 < SLICES ? digit(slice + 1) : 'g'}`

const digit = (slice: number) => slice.toString(SLICES)

/** Deletes up to BATCH rows by their primary key, since some tables have no rowid. */
async function deleteRows(db: Database, table: SQLiteTable, where: SQL | undefined) {
  const { columns, primaryKeys } = getTableConfig(table)
  const key = sql.join(primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary), sql`, `)
  const old = sql`(select ${key} from ${table} where ${where} limit ${BATCH})`
  return (await db.delete(table).where(sql`(${key}) in ${old}`)).meta.changes
}
