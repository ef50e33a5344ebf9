// Why a job got no picture: thrown by image downloads and engines, handled in jobs/.
import type { JobErrorCode } from './job.ts'

/**
 * What an error tells of the provider's work, which is what the provider charges for.
 * - `refused`: `start` got a clear no. Nothing runs; starting again, anywhere, is free.
 * - `ambiguous`: `start` got no clear answer. The work may run and be charged; no provider
 *   recognises a repeated start, so start again at most once.
 * - `alive`: the work goes on, or its picture waits. `poll` again with the same handle.
 * - `over`: the work ended without a picture, and the handle is of no more use.
 */
export type ProviderWork = 'refused' | 'ambiguous' | 'alive' | 'over'

/** Why an engine gave no picture. `code` is what the client sees; `message` is for the log only. */
export class JobFailure extends Error {
  override readonly name = 'JobFailure'
  readonly code: JobErrorCode
  /** True when the same call may succeed later, or on another engine. */
  readonly retriable: boolean
  /** How long the provider asked us to stay away, if it did. */
  readonly retryAfterSeconds: number | undefined
  /** Set by engines that have a provider; undefined where no work outlives the call. */
  readonly work: ProviderWork | undefined

  constructor(
    code: JobErrorCode,
    message: string,
    options: {
      retriable?: boolean
      retryAfterSeconds?: number | undefined
      work?: ProviderWork
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
