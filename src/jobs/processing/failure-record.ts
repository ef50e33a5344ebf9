// What is stored of a job's failure, and who may read it. The reason is a sentence about the job for
// staff and, if it contains no details of a provider, for the members of the organisation.
import type { JobRow } from '../../platform/db/schema.ts'
import { JobFailure } from '../../domain/failure.ts'
import type { JobErrorCode } from '../../domain/job.ts'
import { MAX_FAILURE_REASON_BYTES } from '../../domain/limits.ts'
import { redact } from '../../platform/log.ts'

/** The columns of a job that a failure sets. */
export type FailureRecord = { errorCode: JobErrorCode } & Pick<
  JobRow,
  'failureReason' | 'failureAudience'
>

/** The longest part of a message that is read, characters. */
const MAX_MESSAGE = 2_000

/** The record of a thrown value. Only a JobFailure has a message that is known to be safe to store. */
export function recordOf(error: unknown): FailureRecord {
  const failure = error instanceof JobFailure ? error : unexpected(error)
  return {
    errorCode: failure.code,
    failureReason: reasonOf(failure.message),
    failureAudience: failure.audience,
  }
}

/** The reason of a failed job, for staff; null if there is none or the job has not failed. */
export const reasonForStaff = (job: Pick<JobRow, 'status' | 'failureReason'>): string | null =>
  job.status === 'failed' ? job.failureReason : null

/** The reason for the members of the job's organisation; null also if only staff may read it. */
export const reasonForMembers = (job: JobRow): string | null =>
  job.failureAudience === 'members' ? reasonForStaff(job) : null

/** The message can contain values of the database or of a request, so only the name is stored. */
const unexpected = (error: unknown): JobFailure =>
  new JobFailure(
    'internal_error',
    `unexpected ${error instanceof Error ? error.name : 'exception'}: see the log`,
  )

/** One line of at most 300 bytes without URLs and secrets; null if nothing is left. */
function reasonOf(message: string): string | null {
  const text = redact(message.slice(0, MAX_MESSAGE).replace(URLS, '[url]'))
    .replace(INVISIBLE, ' ')
    .trim()
  return text === '' ? null : shortened(text)
}

const URLS = /\b(?:[a-z][a-z\d+.-]{0,20}:\/\/|data:)\S+/gi
/** Spaces and characters without a glyph. Among them are those that reverse the order of text. */
const INVISIBLE = /[\s\p{C}]+/gu

function shortened(text: string): string {
  const encoder = new TextEncoder()
  const bytes = new Uint8Array(MAX_FAILURE_REASON_BYTES)
  if (encoder.encodeInto(text, bytes).read === text.length) return text
  // Whole characters only. The ellipsis has three bytes.
  return `${text.slice(0, encoder.encodeInto(text, bytes.subarray(3)).read)}…`
}
