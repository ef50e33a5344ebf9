// The SQL of retention. Every statement reads and deletes a bounded number of rows by a primary key or
// an index, and can be repeated.
import { and, asc, eq, gt, gte, inArray, lt, lte, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { database } from '../db/client.ts'
import { invitations, members, sessions, users, verifications } from '../db/auth-schema.ts'
import { paymentEvents, payments } from '../db/billing-schema.ts'
import {
  apiKeys,
  auditLog,
  jobs,
  organisations,
  webhookAttempts,
  webhookEndpoints,
  webhookEvents,
} from '../db/schema.ts'
import type { JobRow, OrganisationRow } from '../db/schema.ts'
import { PAYMENT_PROVIDERS } from '../domain/billing.ts'
import { eventIdOf, firstIdSince } from '../ids.ts'
import type { Prefix } from '../ids.ts'
import { DAY_MS, RETENTION_DAYS } from '../domain/limits.ts'

/** Jobs per page. */
export const PAGE = 100
/** The maximum number of rows that one statement deletes. */
const BATCH = 500
/** An organisation is due again after this time if its step fails or crashes. */
const RETRY_MS = 10 * 60_000
/** Added to the retention of undelivered events, so that all retries are made before the deletion. */
const UNDELIVERED_DAYS = 7

export type DueOrganisation = Pick<
  OrganisationRow,
  'id' | 'outputRetentionDays' | 'picturesPurgedTo' | 'testJobsPurgedTo' | 'retentionDueAt'
>
export type PageJob = Pick<JobRow, 'id' | 'mode' | 'status'>

/**
 * Takes due organisations, the longest overdue first, and postpones them, so that a concurrent run takes
 * other organisations and a failing organisation does not block the others.
 */
export function takeDueOrganisations(env: Env, limit: number): Promise<DueOrganisation[]> {
  const db = database(env)
  const now = Date.now()
  const due = db
    .select({ id: organisations.id })
    .from(organisations)
    .where(lte(organisations.retentionDueAt, new Date(now)))
    .orderBy(asc(organisations.retentionDueAt))
    .limit(limit)
  return db
    .update(organisations)
    .set({ retentionDueAt: new Date(now + RETRY_MS) })
    .where(inArray(organisations.id, due))
    .returning({
      id: organisations.id,
      outputRetentionDays: organisations.outputRetentionDays,
      picturesPurgedTo: organisations.picturesPurgedTo,
      testJobsPurgedTo: organisations.testJobsPurgedTo,
      retentionDueAt: organisations.retentionDueAt,
    })
}

/** A page of an organisation's jobs for each range of ids (exclusive), in ascending order. */
export async function pagesOfJobs<const Ranges extends { after: string; before: string }[]>(
  env: Env,
  organisationId: string,
  ranges: Ranges,
): Promise<{ [Index in keyof Ranges]: PageJob[] }> {
  const db = database(env)
  const page = ({ after, before }: { after: string; before: string }) =>
    db
      .select({ id: jobs.id, mode: jobs.mode, status: jobs.status })
      .from(jobs)
      .where(and(eq(jobs.organisationId, organisationId), gt(jobs.id, after), lt(jobs.id, before)))
      .orderBy(asc(jobs.id))
      .limit(PAGE)
  const [first, ...rest] = ranges.map(page)
  if (!first) throw new Error('pagesOfJobs needs at least one range')
  return (await db.batch([first, ...rest])) as { [Index in keyof Ranges]: PageJob[] }
}

export interface PurgedPage {
  /** Jobs whose pictures are deleted. */
  withoutPictures: string[]
  /** Jobs to delete with their webhook events and attempts. */
  deleted: string[]
  picturesPurgedTo: string | null
  testJobsPurgedTo: string | null
  /** When retention processes the organisation next. */
  dueAt: Date
}

/** Records the deletion of pictures and deletes rows, in one transaction. @returns rows deleted */
export async function recordPurge(
  env: Env,
  organisation: DueOrganisation,
  { withoutPictures, deleted, picturesPurgedTo, testJobsPurgedTo, dueAt }: PurgedPage,
): Promise<number> {
  const db = database(env)
  const eventIds = deleted.map(eventIdOf)
  const [, ...results] = await db.batch([
    db
      .update(organisations)
      .set({
        picturesPurgedTo,
        testJobsPurgedTo,
        // A concurrent change of the retention period makes the organisation due immediately.
        retentionDueAt: sql`case when ${organisations.retentionDueAt} = ${organisation.retentionDueAt.getTime()}
          then ${dueAt.getTime()} else ${organisations.retentionDueAt} end`,
      })
      .where(eq(organisations.id, organisation.id)),
    db.delete(webhookAttempts).where(inArray(webhookAttempts.eventId, listed(eventIds))),
    db.delete(webhookEvents).where(inArray(webhookEvents.id, listed(eventIds))),
    db.delete(jobs).where(inArray(jobs.id, listed(deleted))),
    db
      .update(jobs)
      .set(WITHOUT_PICTURES)
      .where(inArray(jobs.id, listed(withoutPictures))),
  ])
  return results.slice(0, 3).reduce((sum, { meta }) => sum + meta.changes, 0)
}

/** The columns that are cleared when a job's pictures are deleted. */
const WITHOUT_PICTURES = {
  modelImageUrl: null,
  garmentImageUrl: null,
  webhookUrl: null,
  outputFormat: null,
  // It describes the pictures.
  failureReason: null,
  failureAudience: null,
} satisfies Partial<JobRow>

/** The statement that clears the columns of a job's pictures. */
export const clearPictures = (env: Env, jobId: string) =>
  database(env).update(jobs).set(WITHOUT_PICTURES).where(eq(jobs.id, jobId))

/** Deletes webhook attempts of old events. Their event ids sort by time. */
export const deleteWebhookAttempts = (env: Env): Promise<number> =>
  deleteRows(
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
  return deleteRows(
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
  deleteRows(env, auditLog, [auditLog.id], lt(auditLog.id, cutoffId('aud', 'auditLog')))

/** Deletes the ids of messages that their provider no longer repeats. */
export const deletePaymentEvents = (env: Env): Promise<number> =>
  deleteRows(
    env,
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
    env,
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
    env,
    invitations,
    [invitations.id],
    and(
      lt(invitations.id, cutoffId('inv', 'expired')),
      lt(invitations.expiresAt, new Date(cutoff('expired'))),
    ),
  )

// The tables below have no index by age. Each run checks one slice of their primary key, so that SLICES
// consecutive runs check all rows.
export const SLICES = 16

export const deleteSessions = (env: Env, slice: number): Promise<number> =>
  deleteRows(
    env,
    sessions,
    [sessions.id],
    and(uuidSlice(sessions.id, slice), lt(sessions.expiresAt, new Date(cutoff('expired')))),
  )

export const deleteVerifications = (env: Env, slice: number): Promise<number> =>
  deleteRows(
    env,
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
    env,
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
    env,
    apiKeys,
    [apiKeys.id],
    and(
      timeSlice(apiKeys.id, 'key', cutoff('revokedKeys'), slice),
      lt(apiKeys.revokedAt, new Date(cutoff('revokedKeys'))),
    ),
  )

/** Deletes failing endpoints without a recent delivery, which enables disabled ones. */
export const deleteWebhookEndpoints = (env: Env, slice: number): Promise<number> =>
  deleteRows(
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

/** A list of any length as one bound value, since D1 binds at most 100 values. */
const listed = (ids: string[]) => sql`(select value from json_each(${JSON.stringify(ids)}))`

/** Deletes up to BATCH rows by their primary key, since some tables have no rowid. */
async function deleteRows(
  env: Env,
  table: SQLiteTable,
  primaryKey: SQLiteColumn[],
  where: SQL | undefined,
): Promise<number> {
  const key = sql.join(primaryKey, sql`, `)
  const { meta } = await database(env)
    .delete(table)
    .where(sql`(${key}) in (select ${key} from ${table} where ${where} limit ${BATCH})`)
  return meta.changes
}
