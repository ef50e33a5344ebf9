// Messages of the console for the error codes of jobs and for rejected submissions.
import type { JobErrorCode } from '../domain/job.ts'
import type { RejectedUpload } from '../jobs/receive-upload.ts'
import { spentLimitMessage } from '../domain/credit-limit.ts'
import type { Rejected, Rejection } from '../credits/rpc.ts'
import type { FormState } from './forms.ts'

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

/** Shows a rejection as the error of the whole form. */
export const rejectedForm = ({ rejection, creditLimit }: Omit<Rejected, 'ok'>): FormState => ({
  errors: {
    '': creditLimit
      ? spentLimitMessage(creditLimit)
      : (REJECTION_MESSAGES[rejection] ?? 'The job was rejected.'),
  },
  ...(rejection === 'insufficient_credits' && {
    link: { to: '/billing', label: 'Go to Billing' },
  }),
})

const UPLOAD_MESSAGES: Record<RejectedUpload['problem'], string> = {
  too_large: 'The file is larger than 10 MB. Choose a smaller one.',
  too_slow: 'The upload took too long. Try again with a smaller file.',
  busy: 'Too many uploads at the moment. Try again in a few seconds.',
  empty: 'The file is empty.',
  unsupported_format: 'Choose a JPEG, PNG or WebP file.',
  corrupt: 'The file is damaged and cannot be read. Export it again.',
}

export const uploadMessage = (problem: keyof typeof UPLOAD_MESSAGES): string =>
  UPLOAD_MESSAGES[problem]
