// Reads one job, with an optional wait for its end, or a page of a list.
import { pageOf } from '../domain/page.ts'
import type { Page } from '../domain/page.ts'
import { listJobs } from './lists.ts'
import type { ListedRow } from './lists.ts'
import type { JobFilter, JobWithEvent } from './store.ts'
import { findJob } from './store.ts'
import { isFinal } from '../domain/job.ts'
import { createdAtOf } from '../ids.ts'
import { atPrimary, isBehind, readsNearby } from '../db/sessions.ts'
import { jobsBinding } from '../db/shards.ts'

/** A job as found by an early read. */
export interface FoundJob {
  job: JobWithEvent
  /** Whether the primary returned it. */
  isCurrent: boolean
}

/** A younger job has probably not ended. */
const PROBABLY_ENDED_AFTER_MS = 60_000

/**
 * Reads a job from a replica. Only a job that has ended is taken from there: an unfinished or missing one
 * is read from the primary, so that its status never goes back to an earlier one. A job that has probably not
 * ended is read from the primary at once.
 */
export async function findJobNearby(env: Env, jobId: string): Promise<FoundJob | undefined> {
  const isNearby = readsNearby()
  const isRecent = Date.now() - createdAtOf(jobId) < PROBABLY_ENDED_AFTER_MS
  const near = isNearby && isRecent ? undefined : await findJob(env, jobId)
  if (!isNearby) return near && { job: near, isCurrent: true }
  if (near && isFinal(near.status)) return { job: near, isCurrent: false }
  const job = await atPrimary(() => findJob(env, jobId))
  return job && { job, isCurrent: true }
}

/** Reads a job again if the replica may have missed a write of its organisation. */
export async function refreshJob({
  env,
  organisationId,
  found: { job, isCurrent },
}: {
  env: Env
  organisationId: string
  found: FoundJob
}): Promise<JobWithEvent | undefined> {
  if (isCurrent || !isBehind(jobsBinding(env, organisationId))) return job
  return findJob(env, job.id)
}

/**
 * Waits until a job has ended, at most for `seconds`.
 * @param job as last read
 * @returns the job after the wait
 */
export async function waitForJob({
  env,
  job,
  seconds,
}: {
  env: Env
  job: JobWithEvent
  seconds: number
}): Promise<JobWithEvent> {
  const startedAt = Date.now()
  const endsAt = startedAt + seconds * 1_000
  let latest = job
  while (!isFinal(latest.status) && Date.now() < endsAt) {
    // The interval is a tenth of the elapsed time: short for fast jobs, long for slow ones.
    const pauseMs = Math.min(Math.max((Date.now() - startedAt) / 10, 50), 1_000)
    await scheduler.wait(Math.min(pauseMs, endsAt - Date.now()))
    latest = (await atPrimary(() => findJob(env, job.id))) ?? latest
  }
  return latest
}

/** Reads a page of an organisation's jobs, newest first. */
export async function listPage({
  limit,
  ...query
}: {
  env: Env
  organisationId: string
  filter: JobFilter
  limit: number
  beforeId: string | undefined
}): Promise<Page<ListedRow>> {
  return pageOf(await listJobs({ ...query, limit: limit + 1 }), limit)
}
