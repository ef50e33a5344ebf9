// The end of a job at its deadline.
import { withTimeout } from '../../platform/concurrency/with-timeout.ts'
import { JobFailure } from '../../domain/failure.ts'

export class DeadlineExceeded extends JobFailure {
  constructor() {
    super('generation_timeout', 'no picture was ready before the deadline', {
      audience: 'members',
    })
  }
}

/** Waits for a promise for at most `ms`. @throws DeadlineExceeded */
export const withDeadline = <T>(promise: Promise<T>, ms: number): Promise<T> =>
  withTimeout(promise, ms, () => new DeadlineExceeded())
