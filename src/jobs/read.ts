// Reading jobs: one of them, waited for if need be, or a page of a list.
import { pageOf } from '../domain/page.ts'
import type { Page } from '../domain/page.ts'
import { listJobs } from './lists.ts'
import type { ListedRow } from './lists.ts'
import type { JobFilter, JobWithEvent } from './store.ts'
import { findJob } from './store.ts'
import { isFinal } from '../domain/job.ts'

/**
 * Waits until a job is over, or for `seconds`, and reads it.
 * @param job what is known of it already
 */
export async function waitForJob(
  env: Env,
  job: JobWithEvent,
  seconds: number,
): Promise<JobWithEvent> {
  const begunAt = Date.now()
  const endsAt = begunAt + seconds * 1_000
  let latest = job
  while (!isFinal(latest.status) && Date.now() < endsAt) {
    // Looks at a tenth of the time waited so far: prompt for quick jobs, few reads for slow ones.
    const pauseMs = Math.min(Math.max((Date.now() - begunAt) / 10, 50), 1_000)
    await scheduler.wait(Math.min(pauseMs, endsAt - Date.now()))
    latest = (await findJob(env, job.id)) ?? latest
  }
  return latest
}

/** A page of an organisation's jobs, newest first. */
export async function listPage(
  env: Env,
  organisationId: string,
  filter: JobFilter,
  page: { limit: number; beforeId: string | undefined },
): Promise<Page<ListedRow>> {
  const rows = await listJobs(env, organisationId, filter, {
    limit: page.limit + 1,
    beforeId: page.beforeId,
  })
  return pageOf(rows, page.limit)
}
