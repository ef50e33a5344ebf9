// What codes and refusals mean, in words for people.
import type { JobErrorCode } from '../domain/job.ts'
import type { Rejection } from '../organisation/rpc.ts'

const picture = (which: string) => ({
  unreachable: `The ${which} could not be fetched. Check that its address is public and answers within 10 seconds.`,
  tooLarge: `The ${which} is larger than 10 MB. Send a smaller one.`,
  format: `The ${which} is no JPEG, PNG or WebP, whatever its name says.`,
  corrupt: `The ${which} is damaged and cannot be read.`,
})
const model = picture('model photo')
const garment = picture('garment photo')

const ERROR_WORDS: Record<JobErrorCode, string> = {
  model_image_unreachable: model.unreachable,
  garment_image_unreachable: garment.unreachable,
  model_image_too_large: model.tooLarge,
  garment_image_too_large: garment.tooLarge,
  model_image_unsupported_format: model.format,
  garment_image_unsupported_format: garment.format,
  model_image_corrupt: model.corrupt,
  garment_image_corrupt: garment.corrupt,
  generation_rejected: 'The engine refused these pictures for reasons of safety.',
  person_not_found:
    'No person was found in the model photo. Use one that shows the whole upper body.',
  garment_not_found: 'No garment was found in the garment photo. Use one with a plain background.',
  generation_failed: 'The picture could not be made from these two photos.',
  generation_timeout: 'Making the picture took too long. Submit the job again.',
  engine_unavailable: 'No engine was available. This was not your fault; submit the job again.',
  internal_error: 'Something went wrong on our side. Submit the job again.',
}

export const errorText = (code: JobErrorCode | null): string =>
  code ? ERROR_WORDS[code] : 'No reason was noted.'

const REFUSAL_WORDS: Partial<Record<Rejection, string>> = {
  account_suspended:
    'No jobs are accepted while the organisation is suspended or scheduled for deletion.',
  rate_limit_exceeded: 'Too many requests in this minute. Wait a moment and try again.',
  storage_allowance_exceeded:
    'The daily storage allowance for jobs is used up. It is renewed at midnight UTC.',
  workspace_not_found: 'There is no such active workspace.',
  insufficient_credits: 'There are no credits left for live jobs. Test jobs are free.',
  idempotency_key_reused: 'This form was sent before with other pictures. Load the page again.',
}

export const rejectionText = (rejection: Rejection): string =>
  REFUSAL_WORDS[rejection] ?? 'The job was not accepted.'
