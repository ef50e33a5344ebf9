// The failure of a job: image downloads and engines throw it, jobs/ handles it.
import type { JobErrorCode } from './job.ts'

/**
 * The state of the provider's work, for which the provider charges, after an error.
 * - `refused`: the provider rejected `start`. Nothing runs, so another start is not charged twice.
 * - `ambiguous`: the outcome of `start` is unknown. The work may run and be charged. No provider
 *   recognises a repeated start, so start again at most once.
 * - `alive`: the work continues or its image is ready. `poll` again with the same handle.
 * - `over`: the work ended without an image, and the handle is no longer valid.
 */
export type ProviderWork = 'refused' | 'ambiguous' | 'alive' | 'over'

/**
 * Who may read the message of a failure. `members` are the members of the job's organisation. Staff
 * may read every message.
 */
export const FAILURE_AUDIENCES = ['members', 'staff'] as const
export type FailureAudience = (typeof FAILURE_AUDIENCES)[number]

/**
 * Why a job failed. The client sees `code`. `message` is for the log, the operator API and, with the
 * audience `members`, the console (jobs/processing/failure-record).
 */
export class JobFailure extends Error {
  override readonly name = 'JobFailure'
  readonly code: JobErrorCode
  /** Whether the same call may succeed later or on another engine. */
  readonly retriable: boolean
  /** The provider's Retry-After, if it sent one. */
  readonly retryAfterSeconds: number | undefined
  /** Set by engines with a provider; undefined when no work continues after the call. */
  readonly work: ProviderWork | undefined
  /** `members` only for a message in this service's own words, without details of a provider. */
  readonly audience: FailureAudience

  constructor(
    code: JobErrorCode,
    message: string,
    options: {
      retriable?: boolean
      retryAfterSeconds?: number | undefined
      work?: ProviderWork
      audience?: FailureAudience
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: options.cause })
    this.code = code
    this.retriable = options.retriable ?? false
    this.retryAfterSeconds = options.retryAfterSeconds
    this.work = options.work
    this.audience = options.audience ?? 'staff'
  }
}
