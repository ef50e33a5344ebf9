// The jobs of organisations whose retention is due: deletes their pictures and rows page by page. Every statement
// has bounded work and can be repeated.
import { and, asc, eq, gt, inArray, lt, lte, sql } from 'drizzle-orm'
import { isFinal } from '../domain/job.ts'
import { DAY_MS } from '../domain/limits.ts'
import { deletePictures } from '../jobs/pictures.ts'
import { database, hasChanged, listed, jobsDatabase } from '../platform/db/database.ts'
import { jobs, organisations, type JobRow, type OrganisationRow } from '../platform/db/schema.ts'
import { webhookAttempts, webhookEvents } from '../platform/db/webhook-schema.ts'
import { eventIdOf, firstIdSince, shardOf } from '../platform/ids.ts'
import { log } from '../platform/log.ts'
import { defaultEndpointOf } from '../webhooks/endpoints/default-endpoint.ts'
import { cutoff } from './retention-store.ts'

/** The maximum number of pages of jobs per run, with five subrequests each. */
const PAGES_PER_RUN = 50
/** The maximum number of organisations per run, with those of failing shards, which are skipped. */
const MAX_TAKEN_PER_RUN = 1_000
/** Jobs per page. */
const PAGE = 100
/** The time between two runs for an organisation without a backlog. */
const INTERVAL_MS = 6 * 60 * 60_000
/** An organisation is due again after this time if its step fails or crashes. */
const RETRY_MS = 10 * 60_000

type PageJob = Pick<JobRow, 'id' | 'mode' | 'status'>
/** Of pictures, test jobs and live jobs whose retention is over. */
type Pages = [PageJob[], PageJob[], PageJob[]]

/**
 * Purges the jobs of due organisations page by page. A backlog takes several pages. A shard that fails
 * takes no more pages of this run, so that it does not delay the organisations of the others.
 * @returns the number of deleted rows, and of jobs whose pictures were deleted
 */
export async function purgeOrganisations(env: Env): Promise<number> {
  let count = 0
  let left = PAGES_PER_RUN
  const failing = new Set<number>()
  for (let taken = 0; left > 0 && taken < MAX_TAKEN_PER_RUN;) {
    const due = await takeDueOrganisations(env, left)
    if (due.length === 0) break
    taken += due.length
    for (const organisation of due) {
      const shard = shardOf(organisation.id)
      // Taking it has postponed it.
      if (failing.has(shard)) continue
      left--
      try {
        const pages = await readPages(env, organisation).catch((error: unknown) => {
          failing.add(shard)
          throw error
        })
        count += await purgePages(env, organisation, pages)
        // Copies the URL and the secrets of the release before, if nothing has needed them yet.
        await defaultEndpointOf(env, organisation.id)
      } catch (error) {
        log.error('retention failed', error, { organisationId: organisation.id })
      }
    }
  }
  return count
}

/**
 * Takes due organisations, the longest overdue first, and postpones them, so that a concurrent run takes
 * other organisations and a failing organisation does not block the others.
 */
function takeDueOrganisations(env: Env, limit: number): Promise<OrganisationRow[]> {
  const { id, retentionDueAt } = organisations
  const db = database(env)
  const now = Date.now()
  const due = db
    .select({ id })
    .from(organisations)
    .where(lte(retentionDueAt, new Date(now)))
    .orderBy(asc(retentionDueAt))
    .limit(limit)
  return db
    .update(organisations)
    .set({ retentionDueAt: new Date(now + RETRY_MS) })
    .where(inArray(id, due))
    .returning()
}

/** Reads one page each, in ascending order. */
function readPages(
  env: Env,
  { id, outputRetentionDays, picturesPurgedTo, testJobsPurgedTo }: OrganisationRow,
): Promise<Pages> {
  const db = jobsDatabase(env, id)
  const page = (after: string | null, until: number) =>
    db
      .select({ id: jobs.id, mode: jobs.mode, status: jobs.status })
      .from(jobs)
      .where(
        and(
          eq(jobs.organisationId, id),
          gt(jobs.id, after ?? ''),
          lt(jobs.id, firstIdSince('job', until)),
        ),
      )
      .orderBy(asc(jobs.id))
      .limit(PAGE)
  return db.batch([
    page(picturesPurgedTo, Date.now() - outputRetentionDays * DAY_MS),
    page(testJobsPurgedTo, cutoff('testJobs')),
    page(null, cutoff('liveJobs')),
  ])
}

/** Purges pages. Deletes the objects first: after a crash, the rows still identify them. */
async function purgePages(env: Env, organisation: OrganisationRow, pages: Pages): Promise<number> {
  const { id, retentionDueAt, picturesPurgedTo, testJobsPurgedTo } = organisation
  const [pictures, recent, old] = pages.map(finished) as Pages
  const withoutPictures = pictures.map(({ id }) => id)
  const deleted = new Set(
    [...recent.filter(({ mode }) => mode === 'test'), ...old].map(({ id }) => id),
  )
  await deletePictures(env, [...new Set([...withoutPictures, ...deleted])])
  const hasMore = [pictures, recent, old].some(({ length }) => length === PAGE)
  const rows = await deleteRows(env, id, [...deleted], withoutPictures)
  const dueAt = Date.now() + (hasMore ? 0 : INTERVAL_MS)
  // After the rows: after a crash in between, the next run repeats the page, which is already deleted.
  await database(env)
    .update(organisations)
    .set({
      picturesPurgedTo: pictures.at(-1)?.id ?? picturesPurgedTo,
      testJobsPurgedTo: recent.at(-1)?.id ?? testJobsPurgedTo,
      // A concurrent change of the retention period makes the organisation due immediately.
      retentionDueAt: sql`case when ${organisations.retentionDueAt} = ${retentionDueAt.getTime()}
        then ${dueAt} else ${organisations.retentionDueAt} end`,
    })
    .where(eq(organisations.id, id))
  return withoutPictures.length + rows
}

/** The jobs of a page before the first that is pending or processing. */
function finished(page: PageJob[]): PageJob[] {
  const open = page.findIndex(({ status }) => !isFinal(status))
  return open === -1 ? page : page.slice(0, open)
}

/** Deletes jobs with their webhook events and attempts, and the URLs of deleted pictures. @returns rows deleted */
async function deleteRows(
  env: Env,
  organisationId: string,
  deleted: string[],
  withoutPictures: string[],
): Promise<number> {
  const db = jobsDatabase(env, organisationId)
  const eventIds = eventsOf(deleted)
  const [attempts, events, ofJobs] = await db.batch([
    db.delete(webhookAttempts).where(inArray(webhookAttempts.eventId, eventIds)),
    db.delete(webhookEvents).where(inArray(webhookEvents.id, eventIds)),
    db.delete(jobs).where(inArray(jobs.id, listed(deleted))),
    db
      .update(jobs)
      .set(WITHOUT_PICTURES)
      .where(inArray(jobs.id, listed(withoutPictures))),
  ])
  return attempts.meta.changes + events.meta.changes + ofJobs.meta.changes
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
export const clearPictures = (env: Env, jobId: string): Promise<boolean> =>
  hasChanged(jobsDatabase(env, jobId).update(jobs).set(WITHOUT_PICTURES).where(eq(jobs.id, jobId)))

/**
 * The ids of all events of some jobs. Those of added endpoints begin with the id of the job's own event
 * and an underscore, which sorts before the backquote, character 96.
 */
const eventsOf = (jobIds: string[]) =>
  sql`(select event.id from json_each(${JSON.stringify(jobIds.map(eventIdOf))}) own
    join ${webhookEvents} event on event.id >= own.value and event.id < own.value || char(96))`
