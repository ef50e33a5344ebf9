// The deadline of a job, measured from the first claim. It applies to all attempts together.
import { withTimeout } from '../../platform/concurrency/with-timeout.ts'
import type { JobRow } from '../../platform/db/schema.ts'
import { JobFailure } from '../../domain/failure.ts'
import { settingsOf } from '../../platform/settings.ts'

export class DeadlineExceeded extends JobFailure {
  constructor() {
    super('generation_timeout', 'no picture was ready before the deadline', {
      audience: 'members',
    })
  }
}

/** Milliseconds until the deadline, at least 0. */
export function msLeft(env: Env, { startedAt }: Pick<JobRow, 'startedAt'>): number {
  const startedAtMs = startedAt?.getTime() ?? Date.now()
  return Math.max(0, startedAtMs + settingsOf(env).jobDeadlineMs - Date.now())
}

/** Waits for a promise for at most `ms`. @throws DeadlineExceeded */
export const withDeadline = <T>(promise: Promise<T>, ms: number): Promise<T> =>
  withTimeout(promise, ms, () => new DeadlineExceeded())
