// The one interface every engine implements. An engine turns two checked pictures into one; it
// knows nothing of jobs' states, credits or queues.
import type { ImageFormat } from '../images/format.ts'
import type { JobErrorCode } from '../jobs/status.ts'

/** A customer's picture after our checks: the bytes are at most 10 MB and begin as `format` does. */
export interface CheckedImage {
  bytes: Uint8Array<ArrayBuffer>
  format: ImageFormat
  /** A signed URL of our own copy, for engines that fetch the picture themselves; valid 1 hour. */
  url(): Promise<string>
}

export interface EngineInput {
  jobId: string
  model: CheckedImage
  garment: CheckedImage
}

export interface GeneratedImage {
  bytes: Uint8Array<ArrayBuffer>
  format: ImageFormat
}

/** Either the picture, or a handle to ask again with after so many seconds. */
export type Progress =
  { done: true; image: GeneratedImage } | { done: false; handle: string; pollAfterSeconds: number }

export interface Engine {
  readonly name: string
  /** True when each start costs us money at a provider, so that a start is never repeated lightly. */
  readonly paid?: boolean
  /**
   * Starts the work.
   * @throws EngineError, which says whether trying again can help
   */
  start(input: EngineInput): Promise<Progress>
  /** Asks after work that `start` left running. Engines that always finish at once have none. */
  poll?(handle: string): Promise<Progress>
  /** Tells the provider that nobody waits for this work any more. Best effort. */
  cancel?(handle: string): Promise<void>
}

/**
 * What an error tells of the provider's work, which is what the provider charges for.
 * - `refused`: `start` got a clear no. Nothing runs; starting again, anywhere, is free.
 * - `ambiguous`: `start` got no clear answer. The work may run and be charged; no provider
 *   recognises a repeated start, so start again at most once.
 * - `alive`: the work goes on, or its picture waits. `poll` again with the same handle.
 * - `over`: the work ended without a picture, and the handle is of no more use.
 */
export type Work = 'refused' | 'ambiguous' | 'alive' | 'over'

/** Why an engine gave no picture. `code` is what the client sees; `message` is for the log only. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly code: JobErrorCode
  /** True when the same call may succeed later, or on another engine. */
  readonly retriable: boolean
  /** How long the provider asked us to stay away, if it did. */
  readonly retryAfterSeconds: number | undefined
  /** Set by engines that have a provider; undefined where no work outlives the call. */
  readonly work: Work | undefined

  constructor(
    code: JobErrorCode,
    message: string,
    options: {
      retriable?: boolean
      retryAfterSeconds?: number | undefined
      work?: Work
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: options.cause })
    this.code = code
    this.retriable = options.retriable ?? false
    this.retryAfterSeconds = options.retryAfterSeconds
    this.work = options.work
  }
}
