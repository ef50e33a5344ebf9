// The one interface every engine implements. An engine turns two checked pictures into one; it
// knows nothing of jobs' states, credits or queues.
import type { ImageFormat } from '../domain/image.ts'

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
   * @throws JobFailure, which says whether trying again can help
   */
  start(input: EngineInput): Promise<Progress>
  /** Asks after work that `start` left running. Engines that always finish at once have none. */
  poll?(handle: string): Promise<Progress>
  /** Tells the provider that nobody waits for this work any more. Best effort. */
  cancel?(handle: string): Promise<void>
}
