// The jobs of organisations whose retention is due: pages of them, and what is deleted of each. Every
// statement has bounded work and can be repeated.
import { and, asc, eq, gt, inArray, lt, lte, sql } from 'drizzle-orm'
import { database, listed } from '../platform/db/database.ts'
import { jobsDatabase } from '../platform/db/shards.ts'
import { jobs, organisations } from '../platform/db/schema.ts'
import { webhookAttempts, webhookEvents } from '../platform/db/webhook-schema.ts'
import type { JobRow, OrganisationRow } from '../platform/db/schema.ts'
import { eventIdOf } from '../platform/ids.ts'

/** Jobs per page. */
export const PAGE = 100
/** An organisation is due again after this time if its step fails or crashes. */
const RETRY_MS = 10 * 60_000

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
  const db = jobsDatabase(env, organisationId)
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

/**
 * Deletes rows and the URLs of pictures in the jobs database, then records how far it got in the row of the
 * organisation. After a crash in between, the next run repeats the page, which is already deleted.
 * @returns rows deleted
 */
export async function recordPurge(
  env: Env,
  organisation: DueOrganisation,
  { withoutPictures, deleted, picturesPurgedTo, testJobsPurgedTo, dueAt }: PurgedPage,
): Promise<number> {
  const db = jobsDatabase(env, organisation.id)
  const eventIds = eventsOf(deleted)
  const results = await db.batch([
    db.delete(webhookAttempts).where(inArray(webhookAttempts.eventId, eventIds)),
    db.delete(webhookEvents).where(inArray(webhookEvents.id, eventIds)),
    db.delete(jobs).where(inArray(jobs.id, listed(deleted))),
    db
      .update(jobs)
      .set(WITHOUT_PICTURES)
      .where(inArray(jobs.id, listed(withoutPictures))),
  ])
  await database(env)
    .update(organisations)
    .set({
      picturesPurgedTo,
      testJobsPurgedTo,
      // A concurrent change of the retention period makes the organisation due immediately.
      retentionDueAt: sql`case when ${organisations.retentionDueAt} = ${organisation.retentionDueAt.getTime()}
        then ${dueAt.getTime()} else ${organisations.retentionDueAt} end`,
    })
    .where(eq(organisations.id, organisation.id))
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

/** Clears the columns of a job's pictures. @returns false when the job does not exist */
export async function clearPictures(env: Env, jobId: string): Promise<boolean> {
  const { meta } = await jobsDatabase(env, jobId)
    .update(jobs)
    .set(WITHOUT_PICTURES)
    .where(eq(jobs.id, jobId))
  return meta.changes > 0
}

/**
 * The ids of all events of some jobs. Those of added endpoints begin with the id of the job's own event
 * and an underscore, which sorts before the backquote, character 96.
 */
const eventsOf = (jobIds: string[]) =>
  sql`(select event.id from json_each(${JSON.stringify(jobIds.map(eventIdOf))}) own
    join ${webhookEvents} event on event.id >= own.value and event.id < own.value || char(96))`
