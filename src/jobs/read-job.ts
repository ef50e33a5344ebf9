// Reads one job, with an optional wait for its end.
import { findJob, type JobWithEvent } from './job-store.ts'
import { isFinal } from '../domain/job.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { log } from '../platform/log.ts'
import { atPrimary, readsNearby } from '../platform/db/read-sessions.ts'

/**
 * Reads a job for a page of the console. Only a job that has ended is taken from a replica: an unfinished or
 * missing one is read from the primary, so that its status never goes back to an earlier one.
 */
export async function findJobNearby(env: Env, jobId: string): Promise<JobWithEvent | undefined> {
  const job = await findJob(env, jobId)
  if (!readsNearby() || (job && isFinal(job.status))) return job
  return atPrimary(() => findJob(env, jobId))
}

/** When a wait reads the job, ms after its start, in addition to its end: for signals that are lost. */
const READ_AFTER_MS = [1_000, 5_000, 15_000]

/**
 * Waits until a job has ended, at most for `seconds`. The Organisation wakes it. Reads the job once when it has
 * ended, and four times at most otherwise.
 * @param job as last read
 * @returns the job after the wait
 */
export async function waitForJob(env: Env, job: JobWithEvent, seconds: number) {
  if (seconds === 0 || isFinal(job.status)) return job
  const startedAt = Date.now()
  const endMs = seconds * 1_000
  let signal = endOf(env, job, endMs)
  let latest = job
  for (const ms of [...READ_AFTER_MS.filter((ms) => ms < endMs), endMs]) {
    const timer = new AbortController()
    const due = scheduler.wait(Math.max(0, startedAt + ms - Date.now()), { signal: timer.signal })
    const isEnd = await Promise.race([signal, due.catch(() => false)])
    timer.abort()
    // A second signal never comes.
    if (isEnd === true) signal = never()
    latest = (await findJob(env, job.id)) ?? latest
    if (isFinal(latest.status)) break
  }
  return latest
}

const never = () => new Promise<true>(() => {})

/** Resolves when the Organisation has been told of the end. Never, when it was evicted meanwhile. */
async function endOf(env: Env, job: JobWithEvent, ms: number): Promise<true> {
  try {
    await organisationStub(env, job.organisationId).waitForEnd(job.id, ms)
    return true
  } catch (error) {
    log.warn('end of the job not awaited', { jobId: job.id, reason: String(error) })
    return never()
  }
}
