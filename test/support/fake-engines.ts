// Scripted engines that replace those of GENERATION_ENGINE.
import { vi } from 'vitest'
import * as choose from '../../src/engines/choose-engine.ts'
import { JobFailure, type ProviderWork } from '../../src/domain/failure.ts'
import type { Engine, Progress } from '../../src/engines/engine.ts'
import { jpeg } from './picture.ts'

/** Replaces the engines for the running test, with new circuit breakers. */
export const useEngines = (...inOrder: Engine[]) =>
  vi.spyOn(choose, 'enginesOf').mockReturnValue(choose.createEngines(inOrder, () => undefined))

type Step = Progress | Error

/** A paid engine whose calls end as scripted. The last step repeats. */
export function scripted(name: string, steps: { start: Step[]; poll?: Step[]; paid?: boolean }) {
  const play = (script: Step[]) => {
    let at = 0
    return async () => {
      const step = script[Math.min(at++, script.length - 1)]
      if (!step || step instanceof Error) throw step ?? new Error(`unexpected call of ${name}`)
      return step
    }
  }
  return {
    name,
    paid: steps.paid ?? true,
    start: vi.fn<Engine['start']>(play(steps.start)),
    poll: vi.fn<NonNullable<Engine['poll']>>(play(steps.poll ?? [])),
    cancel: vi.fn<NonNullable<Engine['cancel']>>(async () => {}),
  }
}

export const picture: Progress = { done: true, image: { bytes: jpeg(), format: 'jpeg' } }

export const running = (handle: string): Progress => ({ done: false, handle, pollAfterSeconds: 0 })

const failure = (work: ProviderWork) => (retryAfterSeconds?: number) =>
  new JobFailure('engine_unavailable', `${work}, scripted by the test`, {
    retriable: true,
    work,
    retryAfterSeconds,
  })

export const refused = failure('refused')
export const ambiguous = failure('ambiguous')
export const alive = failure('alive')
export const over = failure('over')
export const rejected = new JobFailure('generation_rejected', 'unsafe, scripted by the test')
