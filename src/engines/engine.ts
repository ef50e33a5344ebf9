// The interface of every engine. An engine turns two checked images into one picture. It does not
// know about job states, credits or queues.
import type { ImageFile } from '../domain/image.ts'

/** A customer's image after the checks: at most 10 MB, and its first bytes match `format`. */
export interface CheckedImage extends ImageFile {
  /** A signed URL of the input copy, valid for 1 hour, for engines that fetch the image. */
  url(): Promise<string>
}

export interface EngineInput {
  jobId: string
  organisationId: string
  /** Whether the organisation pays, or uses free credits. */
  isPaying: boolean
  model: CheckedImage
  garment: CheckedImage
}

/** The finished picture, or the handle to poll with after `pollAfterSeconds`. */
export type Progress =
  { done: true; image: ImageFile } | { done: false; handle: string; pollAfterSeconds: number }

export interface Engine {
  readonly name: string
  /** True when the provider charges for each start, so that starts must not be repeated carelessly. */
  readonly paid?: boolean
  /**
   * Starts the work.
   * @throws JobFailure; `retriable` is true when another attempt may succeed
   */
  start(input: EngineInput): Promise<Progress>
  /** Polls work that is still running. Missing when `start` always finishes the work. */
  poll?(handle: string): Promise<Progress>
  /** Asks the provider to stop the work. Best effort. */
  cancel?(handle: string): Promise<void>
}
