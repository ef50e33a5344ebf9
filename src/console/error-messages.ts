// Messages of the console for the error codes of jobs, rejected submissions and uploads, and requests to the API.
import type { ErrorCode } from '../domain/errors.ts'
import type { JobErrorCode } from '../domain/job.ts'
import type { RejectedUpload } from '../jobs/receive-upload.ts'
import { spentLimitMessage } from '../domain/credit-limit.ts'
import type { Rejected, Rejection } from '../credits/rpc.ts'

const imageMessages = (image: string) => ({
  unreachable: `The ${image} could not be fetched. Check that its URL is public and responds within 10 seconds.`,
  tooLarge: `The ${image} is larger than 10 MB. Use a smaller file.`,
  unsupportedFormat: `The ${image} must be a JPEG, PNG or WebP file.`,
  corrupt: `The ${image} is damaged and cannot be read.`,
})
const model = imageMessages('model image')
const garment = imageMessages('garment image')

const JOB_ERROR_MESSAGES: Record<JobErrorCode, string> = {
  model_image_unreachable: model.unreachable,
  garment_image_unreachable: garment.unreachable,
  model_image_too_large: model.tooLarge,
  garment_image_too_large: garment.tooLarge,
  model_image_unsupported_format: model.unsupportedFormat,
  garment_image_unsupported_format: garment.unsupportedFormat,
  model_image_corrupt: model.corrupt,
  garment_image_corrupt: garment.corrupt,
  generation_rejected: 'The engine rejected these images for safety reasons.',
  person_not_found:
    'No person was found in the model image. Use an image that shows the whole upper body.',
  garment_not_found:
    'No garment was found in the garment image. Use an image with a plain background.',
  generation_failed: 'No result could be generated from these two images.',
  generation_timeout: 'Generating the result took too long. Submit the job again.',
  engine_unavailable: 'No engine was available. Submit the job again.',
  internal_error: 'Something went wrong on our side. Submit the job again.',
}

export const jobErrorMessage = (code: JobErrorCode | null): string =>
  code ? JOB_ERROR_MESSAGES[code] : 'The job failed for an unknown reason.'

const REJECTION_MESSAGES: Partial<Record<Rejection, string>> = {
  account_suspended:
    'The organisation cannot submit jobs while it is suspended or scheduled for deletion.',
  rate_limit_exceeded: 'Too many requests. Wait a moment and try again.',
  storage_allowance_exceeded:
    'The daily storage allowance for jobs is used up. It resets at midnight UTC.',
  upload_allowance_exceeded:
    'The daily allowance for uploads is used up. It resets at midnight UTC. Use URLs instead.',
  failed_jobs_exceeded:
    'Too many live jobs have failed in this hour, which are free. Check the images, and try again in the next hour.',
  workspace_not_found: 'The workspace does not exist or is archived.',
  insufficient_credits:
    'The organisation has no credits left for live jobs. Jobs in test mode are free.',
  internal_error: 'Something went wrong on our side. Try again.',
  idempotency_key_reused:
    'This form was already submitted with other images. Reload the page and try again.',
}

/** What a member reads about a rejected submission or upload. */
export const rejectionMessage = ({ rejection, creditLimit }: Omit<Rejected, 'ok'>): string =>
  creditLimit
    ? spentLimitMessage(creditLimit)
    : (REJECTION_MESSAGES[rejection] ?? 'The job was rejected.')

export const UPLOAD_MESSAGES: Record<RejectedUpload['problem'], string> = {
  too_large: 'The file is larger than 10 MB. Choose a smaller one.',
  too_slow: 'The upload took too long. Try again with a smaller file.',
  busy: 'Too many uploads at the moment. Try again in a few seconds.',
  empty: 'The file is empty.',
  unsupported_format: 'Choose a JPEG, PNG or WebP file.',
  corrupt: 'The file is damaged and cannot be read. Export it again.',
}

/** What a developer can change after each error of the API. */
export const REQUEST_HINTS: Record<string, string | undefined> = {
  invalid_api_key:
    'Send the complete key in the header “Authorization: Bearer <API key>”, and check that it was not deleted.',
  api_key_revoked: 'The key was revoked. Create another key and deploy it.',
  insufficient_credits:
    'Buy credits or turn on auto-reload, or raise the limit that the message names, then submit the job again.',
  account_suspended:
    'The organisation is suspended or scheduled for deletion. An owner can cancel a deletion; otherwise, contact support.',
  forbidden:
    'The job belongs to a different organisation, or the key can only read. Use a key of the organisation that submitted the job, with full access.',
  not_found: 'Check the path. Every endpoint starts with /v1, without a slash at the end.',
  workspace_not_found:
    'Send the id of an active workspace as workspace_id, or no workspace_id at all.',
  job_not_found: 'Check the job ID. Test jobs are deleted after 7 days, live jobs after 400 days.',
  method_not_allowed: 'Use a method that the Allow header of the response lists.',
  job_not_cancellable: 'Only a pending job can be cancelled. Read the job for its current status.',
  job_not_finished: 'Wait until the job has ended, or cancel it first.',
  payload_too_large:
    'Send at most 64 KB of JSON, or an image of at most 10 MB. Send image URLs instead of image data.',
  validation_error: 'Read the message: it names each wrong field and what it expects.',
  idempotency_key_reused: 'Use a new Idempotency-Key for each request with a different body.',
  rate_limit_exceeded:
    'Wait for the number of seconds in the Retry-After header, and send fewer requests at a time.',
  internal_error:
    'Repeat the request, with the same Idempotency-Key for a submission. If it fails again, contact support with the request ID.',
} satisfies Partial<Record<ErrorCode, string>>

/** The error codes that requests to /v1 can have. */
export const LOGGED_CODES = Object.keys(REQUEST_HINTS)
