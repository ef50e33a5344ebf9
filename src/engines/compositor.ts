// The embedded engine: needs no provider and no network. packages/compositor does the work.
import { createCodecs, dress, NotFound, UnusableImage } from '@try-on/compositor'
import { workerModules } from '@try-on/compositor/worker'
import { Semaphore } from '../concurrency/semaphore.ts'
import { JobFailure } from '../domain/failure.ts'
import type { Engine, EngineInput, GeneratedImage } from './engine.ts'

const MAX_WAIT_MS = 60_000

const codecs = createCodecs(workerModules)
/** One at a time: a composition needs most of the memory of an isolate, and takes seconds. */
const semaphore = new Semaphore(1, MAX_WAIT_MS)

export const compositor: Engine = {
  name: 'compositor',
  async start(input) {
    return { done: true, image: await semaphore.run(() => generate(input)) }
  },
}

async function generate(input: EngineInput): Promise<GeneratedImage> {
  try {
    return { bytes: await dress(codecs, input), format: 'jpeg' }
  } catch (cause) {
    throw failureOf(cause)
  }
}

function failureOf(cause: unknown): JobFailure {
  if (cause instanceof UnusableImage) {
    return new JobFailure(`${cause.role}_image_${cause.problem}`, cause.message, { cause })
  }
  if (cause instanceof NotFound) {
    return new JobFailure(`${cause.what}_not_found`, cause.message, { cause })
  }
  return new JobFailure('generation_failed', 'the composition failed', { cause })
}
