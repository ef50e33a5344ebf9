// What follows for a job from the work on it. Nothing here calls out: jobs/processing/process applies the step.
import type { JobRow } from '../../platform/db/schema.ts'
import { errorDocsPath } from '../../domain/docs.ts'
import { JobFailure } from '../../domain/failure.ts'
import { hostOf } from '../../domain/host.ts'
import type { ImageFile } from '../../domain/image.ts'
import { pollAfterSeconds } from '../../engines/engine.ts'
import { log } from '../../platform/log.ts'
import { ClaimLost, type ClaimedJob } from './claimed-job.ts'
import { unexpectedCauseOf } from './engine-failures.ts'
import { recordOf, type FailureRecord } from './failure-record.ts'
import { Postponed } from './postponed.ts'

const MAX_BACKOFF_SECONDS = 60

/**
 * - `requeued`: by a new message. `retried`: by the same message, which counts against its retries.
 * - `left`: to another consumer, which has claimed the job.
 */
export type Step =
  | { to: 'completed'; image: ImageFile }
  | { to: 'failed'; failure: FailureRecord }
  | { to: 'requeued'; afterSeconds: number; failure?: FailureRecord }
  | { to: 'retried'; afterSeconds: number; failure: FailureRecord }
  | { to: 'left' }

/** The step after an error of the work. Logs the error and counts attempts in `job`. */
export function stepAfterError(job: ClaimedJob, error: unknown): Step {
  if (error instanceof ClaimLost) {
    log.warn('claim lost to another consumer', { jobId: job.id })
    return { to: 'left' }
  }
  const isPolling = job.row.engineHandle !== null
  if (error instanceof Postponed) {
    log.info('job postponed', { jobId: job.id, reason: error.message })
    // The claim for a poll was not counted as an attempt.
    if (error.isUntouched && !isPolling) job.uncountAttempt()
    return { to: 'requeued', afterSeconds: error.afterSeconds }
  }
  logAttempt(job, error)
  const failure = recordOf(error)
  const { retriable, retryAfterSeconds, work } = error instanceof JobFailure ? error : UNEXPECTED
  if (!retriable) return { to: 'failed', failure }

  const requestedSeconds = Math.min(retryAfterSeconds ?? 0, MAX_BACKOFF_SECONDS)
  const startedAtMs = job.row.startedAt?.getTime() ?? Date.now()
  const afterSeconds = Math.max(requestedSeconds, pollAfterSeconds(startedAtMs))
  // The work continues at the engine: polls it until the deadline and does not start other work.
  if (isPolling) return { to: 'requeued', afterSeconds }
  if (work === 'refused') {
    // Nothing was started, so this was not an attempt.
    job.uncountAttempt()
    const isTooLate = afterSeconds * 1_000 >= job.msLeft
    return isTooLate ? { to: 'failed', failure } : { to: 'requeued', afterSeconds, failure }
  }
  const backoffSeconds = Math.min(2 ** job.row.attempts, MAX_BACKOFF_SECONDS)
  const retrySeconds = Math.max(requestedSeconds, backoffSeconds)
  const isTooLate = !job.canAttemptAgain || retrySeconds * 1_000 >= job.msLeft
  return isTooLate
    ? { to: 'failed', failure }
    : { to: 'retried', afterSeconds: retrySeconds, failure }
}

/** An error that is not a JobFailure is retried. */
const UNEXPECTED = { retriable: true, retryAfterSeconds: 0, work: undefined }

/** What joins the log lines of a job with those of its request. */
export const idsOf = ({ organisationId, requestId, mode }: JobRow) => ({
  organisationId,
  requestId,
  mode,
})

function logAttempt({ id, row, latestEngine }: ClaimedJob, error: unknown): void {
  const { code, message: reason } =
    error instanceof JobFailure ? error : { code: 'internal_error', message: undefined }
  const docsUrl = errorDocsPath(code)
  const fields = {
    jobId: id,
    ...idsOf(row),
    attempt: row.attempts,
    engine: latestEngine ?? row.engine,
    code,
    host: hostOfPicture(row, code),
    docsUrl,
    reason,
  }
  const cause = unexpectedCauseOf(error)
  if (cause === undefined) log.info('attempt failed', fields)
  else log.error('attempt failed', cause, fields)
}

/** The host of the picture that an error code is about; undefined for other codes. */
function hostOfPicture(row: Readonly<JobRow>, code: string): string | undefined {
  const [, role] = /^(model|garment)_image_/.exec(code) ?? []
  const url = role === 'model' ? row.modelImageUrl : role ? row.garmentImageUrl : null
  const parsed = url === null ? null : URL.parse(url)
  return parsed ? hostOf(parsed) : undefined
}
