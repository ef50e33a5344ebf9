// The states of a job and the only moves between them. Pure: the SQL that makes a move is in
// jobs/store, and nobody else changes a status.

/** Live jobs cost a credit and generate an image; test jobs cost nothing and return a placeholder. */
export const MODES = ['live', 'test'] as const
export type Mode = (typeof MODES)[number]

export const JOB_STATUSES = [
  'pending',
  'processing',
  'completed',
  'failed',
  'cancelled',
  'refunded',
] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

export type FinalStatus = Exclude<JobStatus, 'pending' | 'processing'>

/** status → what may follow it. A final status has no successor. */
export const TRANSITIONS = {
  pending: ['processing', 'refunded', 'cancelled'],
  processing: ['completed', 'failed'],
  completed: [],
  failed: [],
  cancelled: [],
  refunded: [],
} as const satisfies Record<JobStatus, readonly JobStatus[]>

/** Whether a job with this status is over for good. */
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
