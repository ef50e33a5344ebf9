// Test mode's engine: no picture is fetched and none is made; the client gets a card that says so,
// or whatever its scenario asks for.
import type { Scenario } from '../domain/scenario.ts'
import { JobFailure } from '../domain/failure.ts'
import type { Progress } from './engine.ts'
import card from './placeholder.png'

/**
 * How far a test job is.
 * @param startedAt when processing began; the scenario's delay counts from there
 * @throws JobFailure with the scenario's code
 */
export function simulate(scenario: Scenario, startedAt: Date): Progress {
  const restMs = startedAt.getTime() + scenario.delaySeconds * 1_000 - Date.now()
  if (restMs > 0) {
    return { done: false, handle: 'delay', pollAfterSeconds: Math.ceil(restMs / 1_000) }
  }
  if (scenario.errorCode) throw new JobFailure(scenario.errorCode, 'asked for by a test scenario')
  return { done: true, image: { bytes: new Uint8Array(card), format: 'png' } }
}
