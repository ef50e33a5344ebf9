// The engine of test mode: fetches no images, and returns a placeholder picture or the outcome of the
// test scenario.
import { JobFailure } from '../domain/failure.ts'
import type { Scenario } from '../domain/scenario.ts'
import type { Progress } from './engine.ts'
import placeholder from './placeholder.png'

/**
 * Returns the progress of a test job.
 * @param startedAt when processing began; the scenario's delay counts from here
 * @throws JobFailure with the error code of the scenario
 */
export function simulate(scenario: Scenario, startedAt: Date): Progress {
  const remainingMs = startedAt.getTime() + scenario.delaySeconds * 1_000 - Date.now()
  if (remainingMs > 0) {
    return { done: false, handle: 'delay', pollAfterSeconds: Math.ceil(remainingMs / 1_000) }
  }
  if (scenario.errorCode) {
    throw new JobFailure(scenario.errorCode, 'requested by a test scenario', {
      audience: 'members',
    })
  }
  return { done: true, image: { bytes: new Uint8Array(placeholder), format: 'png' } }
}
