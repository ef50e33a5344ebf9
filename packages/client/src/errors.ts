// The errors that the client throws.
import type { ErrorCode, Job, JobErrorCode } from './types.ts'

/** The base class of every error of this package. */
export class TryOnError extends Error {
  /** The name of the class. */
  override readonly name: string = 'TryOnError'
  /**
   * The job that the call was about. Unless the error is a `JobError`, the job continues: wait for it with
   * `jobs.wait` instead of submitting it again. null when the call was not about a job, or when the
   * submission itself failed.
   */
  jobId: string | null = null
}

/** What an `ApiError` consists of. */
export interface ApiErrorDetails {
  /** The HTTP status. */
  status: number
  /** The `error.code` of the response, or `unexpected_response`. */
  code: ErrorCode | 'unexpected_response'
  /** The `error.message` of the response. */
  message: string
  /** The `X-Request-Id` of the response. */
  requestId: string | null
  /** The `Retry-After` of the response, in seconds. */
  retryAfterSeconds: number | null
  /** The page that explains the code. */
  docsUrl: string
}

/** The service rejected a request, or the response does not come from the service. */
export class ApiError extends TryOnError {
  /** The name of the class. */
  override readonly name = 'ApiError'
  /** The HTTP status, such as 402. */
  readonly status: number
  /**
   * The code of the error, such as `insufficient_credits`. `unexpected_response` when the response does
   * not have the form of this API, for example a proxy's error page.
   */
  readonly code: ErrorCode | 'unexpected_response'
  /** The id of the request. Include it when you contact support. */
  readonly requestId: string | null
  /** The seconds to wait before the next attempt, if the service states them. */
  readonly retryAfterSeconds: number | null
  /** The page of the documentation that explains the code. */
  readonly docsUrl: string

  /** The client creates these errors. */
  constructor(details: ApiErrorDetails, options?: ErrorOptions) {
    super(details.message, options)
    this.status = details.status
    this.code = details.code
    this.requestId = details.requestId
    this.retryAfterSeconds = details.retryAfterSeconds
    this.docsUrl = details.docsUrl
  }
}

/** `tryOn.run` ended with a job that has no picture. Unless the picture was deleted, no credit was consumed. */
export class JobError extends TryOnError {
  /** The name of the class. */
  override readonly name = 'JobError'
  /** The job in its final state. */
  readonly job: Job
  /** Why the job failed; null when it was cancelled or its picture was deleted. */
  readonly code: JobErrorCode | null

  /** The client creates these errors. */
  constructor(job: Job) {
    super(`Job ${job.job_id} ${describe(job)}.`)
    this.jobId = job.job_id
    this.job = job
    this.code = job.error_code
  }
}

const describe = ({ status, error_code: code }: Job): string => {
  if (status === 'completed') return 'has no picture any more: it was deleted'
  return status === 'failed' ? `failed: ${code}` : `ended with the status ${status}`
}

/** The service could not be reached. `cause` is the error of `fetch`. */
export class ConnectionError extends TryOnError {
  /** The name of the class. */
  override readonly name = 'ConnectionError'
}

/** A request, or the wait for a job, took too long. */
export class TimeoutError extends TryOnError {
  /** The name of the class. */
  override readonly name = 'TimeoutError'

  /** The client creates these errors. */
  constructor(message: string, jobId: string | null = null, options?: ErrorOptions) {
    super(message, options)
    this.jobId = jobId
  }
}

/** A webhook is not authentic, or is too old. Respond with 400. */
export class WebhookVerificationError extends TryOnError {
  /** The name of the class. */
  override readonly name = 'WebhookVerificationError'
}
