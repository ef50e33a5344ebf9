// Failures of engines: how they are created, combined and logged.
import { JobFailure } from '../../domain/failure.ts'
import type { Engines } from '../../engines/choose-engine.ts'
import type { Engine } from '../../engines/engine.ts'
import { log } from '../../platform/log.ts'
import type { ClaimedJob } from './claimed-job.ts'

export class DeadlineExceeded extends JobFailure {
  constructor() {
    super('generation_timeout', 'no picture was ready before the deadline', { audience: 'members' })
  }
}

/** No engine completed the job. The failure is retriable while any engine may still be started. */
export function allEnginesFailed(
  { row, mayStartPaid }: ClaimedJob,
  engines: Engines,
  failures: JobFailure[],
): JobFailure {
  const code = failures.at(-1)?.code ?? row.errorCode ?? 'engine_unavailable'
  const retriable = mayStartPaid || engines.inOrder.some(({ paid }) => paid !== true)
  const delays = failures.map(({ retryAfterSeconds }) => retryAfterSeconds ?? 0)
  const summary = retriable ? 'no engine accepted the job' : 'no paid start is left'
  // Without a start in this attempt, the failure of an earlier one is the cause.
  const causes = failures.length > 0 ? failures.map(({ message }) => message) : [row.failureReason]
  return new JobFailure(code, [summary, ...causes].filter(Boolean).join('; '), {
    retriable,
    // Retry as soon as the first engine is available again.
    retryAfterSeconds: delays.length > 0 ? Math.min(...delays) : undefined,
    ...(failures.length > 0 && failures.every((one) => one.work === 'refused' && isOutage(one))
      ? { work: 'refused' }
      : {}),
  })
}

export const isOutage = (error: unknown): error is JobFailure =>
  error instanceof JobFailure && error.code === 'engine_unavailable'

/** The engine threw something other than a JobFailure, so it is unknown whether work runs. */
export const crashed = (engine: Engine, cause: unknown): JobFailure =>
  new JobFailure('internal_error', `${engine.name} crashed`, {
    retriable: true,
    work: 'ambiguous',
    cause,
  })

export function logEngineFailure(job: ClaimedJob, error: JobFailure, engine?: Engine): void {
  const { code, work, message: reason } = error
  const fields = { jobId: job.id, engine: engine?.name ?? job.row.engine, code, work, reason }
  const cause = unexpectedCauseOf(error)
  if (cause === undefined) log.warn('engine failed', fields)
  else log.error('engine failed', cause, fields)
}

/** The unexpected exception behind an error; undefined when a picture or a provider caused it. */
export function unexpectedCauseOf(error: unknown): unknown {
  if (!(error instanceof JobFailure)) return error
  const mayBeOurs = error.code === 'internal_error' || error.code === 'generation_failed'
  return mayBeOurs ? error.cause : undefined
}
