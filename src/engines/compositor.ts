// The embedded engine, packages/compositor. It uses no provider and no network. The package and its
// models load at the first composition, since the start of a Worker has little CPU time.
import type * as Compositor from '@try-on/compositor'
import { Semaphore } from '../platform/concurrency/semaphore.ts'
import { JobFailure } from '../domain/failure.ts'
import type { JobErrorCode } from '../domain/job.ts'
import type { Engine, EngineInput } from './engine.ts'
import type { ImageFile } from '../domain/image.ts'

/** A slot is free again after this time, even if its invocation was killed. */
const MAX_HOLD_MS = 60_000
/** How long a thumbnail waits for compositions and other thumbnails, ms. */
const MAX_THUMBNAIL_WAIT_MS = 20_000

async function load() {
  const [compositor, { perceptionModules, workerModules }] = await Promise.all([
    import('@try-on/compositor'),
    import('@try-on/compositor/worker'),
  ])
  const tools = {
    codecs: compositor.createCodecs(workerModules),
    perceiver: () => compositor.createPerceiver(() => Promise.resolve(perceptionModules)),
  }
  return { compositor, tools }
}
let loaded: ReturnType<typeof load> | undefined
const loadOnce = () => (loaded ??= load())

/** Who gets the slot first. Within a class, organisations take turns. */
const PRIORITY = { paying: 0, free: 1, thumbnail: 2 }

/** One composition or thumbnail at a time: it needs most of an isolate's memory and takes seconds. */
const semaphore = new Semaphore({ slots: 1, timeoutMs: MAX_HOLD_MS })

export const compositor: Engine = {
  name: 'compositor',
  async start(input) {
    const priority = input.isPaying ? PRIORITY.paying : PRIORITY.free
    const turn = { owner: input.organisationId, priority }
    return { done: true, image: await semaphore.run(() => generate(input), turn) }
  },
}

/**
 * Creates a small JPEG of a generated picture: 20 to 60 ms of CPU time. It waits for all compositions that
 * wait, since both need memory of the isolate for decoding.
 * @param thumbnail.read loads the picture; called when it is this thumbnail's turn, so that none waits in
 *   memory. Null if there is nothing to do
 * @param thumbnail.store is called with the thumbnail before the turn of the next one, which then finds it.
 *   Not called for a picture that is too large to decode
 * @param thumbnail.maxSide of the longer side, pixels
 * @throws SemaphoreTimeout when the isolate is busy
 */
export async function createThumbnail(
  owner: string,
  thumbnail: {
    read: () => Promise<ImageFile | null>
    store: (thumbnail: Uint8Array<ArrayBuffer>) => Promise<void>
    maxSide: number
  },
): Promise<void> {
  const create = async () => {
    const [{ compositor, tools }, picture] = await Promise.all([loadOnce(), thumbnail.read()])
    if (!picture) return
    try {
      await thumbnail.store(await compositor.thumbnailOf(tools.codecs, picture, thumbnail.maxSide))
    } catch (error) {
      if (!(error instanceof compositor.UnusableImage)) throw error
    }
  }
  const turn = { owner, priority: PRIORITY.thumbnail, maxWaitMs: MAX_THUMBNAIL_WAIT_MS }
  await semaphore.run(create, turn)
}

async function generate(input: EngineInput): Promise<ImageFile> {
  const { compositor, tools } = await loadOnce()
  try {
    return { bytes: await compositor.dress(tools, input), format: 'jpeg' }
  } catch (cause) {
    throw failureOf(cause, compositor)
  }
}

function failureOf(cause: unknown, { UnusableImage, CompositionError }: typeof Compositor) {
  if (cause instanceof UnusableImage) {
    return explained(`${cause.role}_image_${cause.problem}`, cause)
  }
  if (cause instanceof CompositionError) return explained(cause.code, cause)
  return new JobFailure('generation_failed', 'the composition failed', { cause })
}

/** The compositor explains its errors in its own words, so members may read them. */
const explained = (code: JobErrorCode, cause: Error): JobFailure =>
  new JobFailure(code, cause.message, { audience: 'members', cause })
