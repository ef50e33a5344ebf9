// The statuses of a job and the transitions between them. jobs/processing/claims and jobs/processing/end contain the
// SQL; no other file changes a status.

/** Live jobs cost a credit and generate an image; test jobs cost nothing and return a placeholder. */
export const MODES = ['live', 'test'] as const
export type Mode = (typeof MODES)[number]

/** What a job that a user submitted in the console stores instead of the id of an API key. */
export const SUBMITTED_IN_CONSOLE = 'console'

export const JOB_STATUSES = [
  'pending',
  'processing',
  'completed',
  'failed',
  'cancelled',
  'refunded',
] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

/** Each status with the statuses that may follow it. A final status has none. */
export const TRANSITIONS = {
  pending: ['processing', 'refunded', 'cancelled'],
  processing: ['completed', 'failed'],
  completed: [],
  failed: [],
  cancelled: [],
  refunded: [],
} as const satisfies Record<JobStatus, readonly JobStatus[]>

/** The statuses that may follow `From`; `never` for a final status. */
export type NextStatus<From extends JobStatus> = (typeof TRANSITIONS)[From][number]

/** One transition of the table. Any other pair of statuses does not compile. */
export type Transition = {
  [From in JobStatus]: { from: From; to: NextStatus<From> }
}[JobStatus]

export type FinalStatus = {
  [Status in JobStatus]: [NextStatus<Status>] extends [never] ? Status : never
}[JobStatus]

/** Whether a job with this status has ended. */
export const isFinal = (status: JobStatus): status is FinalStatus =>
  TRANSITIONS[status].length === 0

/** Every value that `error_code` of a failed job can take. */
export const JOB_ERROR_CODES = [
  'model_image_unreachable',
  'garment_image_unreachable',
  'model_image_too_large',
  'garment_image_too_large',
  'model_image_unsupported_format',
  'garment_image_unsupported_format',
  'model_image_corrupt',
  'garment_image_corrupt',
  'generation_rejected',
  'person_not_found',
  'garment_not_found',
  'generation_failed',
  'generation_timeout',
  'engine_unavailable',
  'internal_error',
] as const
export type JobErrorCode = (typeof JOB_ERROR_CODES)[number]
