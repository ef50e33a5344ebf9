// The deadline of a job: it runs from the first time that somebody took the job up, and through all
// its attempts.
import type { JobRow } from '../db/schema.ts'
import { settingsOf } from '../settings.ts'

/** Milliseconds until a job has to be over; 0 when they are spent. */
export function msLeft(env: Env, job: JobRow): number {
  const begunAtMs = job.startedAt?.getTime() ?? Date.now()
  return Math.max(0, begunAtMs + settingsOf(env).jobDeadlineMs - Date.now())
}
