// The embedded engine, packages/compositor. It uses no provider and no network.
import {
  createCodecs,
  createPerceiver,
  dress,
  Refusal,
  thumbnailOf,
  UnusableImage,
} from '@try-on/compositor'
import { perceptionModules, workerModules } from '@try-on/compositor/worker'
import { Semaphore } from '../concurrency/semaphore.ts'
import { JobFailure } from '../domain/failure.ts'
import type { JobErrorCode } from '../domain/job.ts'
import type { Engine, EngineInput, GeneratedImage } from './engine.ts'

/** A slot is free again after this time, even if its invocation was killed. */
const MAX_HOLD_MS = 60_000
/** How long a thumbnail waits for compositions and other thumbnails, ms. */
const MAX_THUMBNAIL_WAIT_MS = 20_000

const tools = {
  codecs: createCodecs(workerModules),
  // The models start at the first composition: the start of a Worker has little CPU time.
  perceiver: () => createPerceiver(() => Promise.resolve(perceptionModules)),
}
/** One composition at a time: it needs most of an isolate's memory and takes seconds. */
const semaphore = new Semaphore(1, MAX_HOLD_MS)

export const compositor: Engine = {
  name: 'compositor',
  async start(input) {
    return { done: true, image: await semaphore.run(() => generate(input)) }
  },
}

/**
 * Creates a small JPEG of a generated picture: 20 to 60 ms of CPU time. It waits for a composition, since
 * both need memory of the isolate for decoding.
 * @param read loads the picture; called when it is this thumbnail's turn, so that none waits in memory
 * @param maxSide of the longer side, pixels
 * @returns null without a picture, and for one that is too large to decode
 * @throws SemaphoreTimeout when the isolate is busy
 */
export const createThumbnail = (
  read: () => Promise<GeneratedImage | null>,
  maxSide: number,
): Promise<Uint8Array<ArrayBuffer> | null> =>
  semaphore.run(async () => {
    const picture = await read()
    try {
      return picture && (await thumbnailOf(tools.codecs, picture, maxSide))
    } catch (error) {
      if (error instanceof UnusableImage) return null
      throw error
    }
  }, MAX_THUMBNAIL_WAIT_MS)

async function generate(input: EngineInput): Promise<GeneratedImage> {
  try {
    return { bytes: await dress(tools, input), format: 'jpeg' }
  } catch (cause) {
    throw compositionError(cause)
  }
}

function compositionError(cause: unknown): JobFailure {
  if (cause instanceof UnusableImage) {
    return explained(`${cause.role}_image_${cause.problem}`, cause)
  }
  if (cause instanceof Refusal) return explained(cause.code, cause)
  return new JobFailure('generation_failed', 'the composition failed', { cause })
}

/** The compositor explains its refusals in its own words, so members may read them. */
const explained = (code: JobErrorCode, cause: Error): JobFailure =>
  new JobFailure(code, cause.message, { audience: 'members', cause })
