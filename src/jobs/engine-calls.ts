// The metrics of calls of engines, and the state of their circuit breakers.
import { JobFailure } from '../domain/failure.ts'
import type { Engines } from '../engines/choose.ts'
import type { Engine, Progress } from '../engines/engine.ts'
import { log } from '../log.ts'
import { record } from '../metrics.ts'
import type { ClaimedJob } from './claimed-job.ts'
import { isOutage } from './engine-failures.ts'

/**
 * Makes a call and records it. The outcome is `done`, `running` or the error code.
 * @throws the error of the call
 */
export async function measured(
  env: Env,
  { job, engine, call }: { job: ClaimedJob; engine: Engine; call: 'start' | 'poll' },
  work: () => Promise<Progress>,
): Promise<Progress> {
  job.latestEngine = engine.name
  const startedAt = Date.now()
  const finish = (outcome: string) =>
    record(
      env,
      'engine',
      { engine: engine.name, outcome, call },
      Date.now() - startedAt,
      job.row.organisationId,
    )
  try {
    const progress = await work()
    finish(progress.done ? 'done' : 'running')
    return progress
  } catch (error) {
    finish(error instanceof JobFailure ? error.code : 'internal_error')
    throw error
  }
}

/** Tells the circuit breaker of the engine about an outage. Ignores other errors. */
export function recordOutage(env: Env, engines: Engines, engine: Engine, error: unknown): void {
  if (!isOutage(error)) return
  if (!engines.breakerOf(engine).failed(error.retryAfterSeconds)) return
  log.warn('circuit breaker opened', { engine: engine.name, reason: error.message })
  record(env, 'breaker_opened', { engine: engine.name })
}
