// The Prefer header (RFC 7240): a client asks the server to wait for the job's end.
import { z } from 'zod'
import { MAX_WAIT_SECONDS } from '../domain/limits.ts'

export const PreferHeader = z
  .string()
  .optional()
  .meta({
    description: `\`wait=N\` delays the response until the job has ended, by at most N seconds. N is at most ${MAX_WAIT_SECONDS}. A malformed value is ignored.`,
    examples: ['wait=10'],
  })

/** The N of `Prefer: wait=N`, at most 30. A malformed preference is ignored (RFC 7240, 2). */
export function preferredWaitSeconds(header: string | undefined): number {
  const [, seconds] = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec(header ?? '') ?? []
  return Math.min(Number(seconds ?? 0), MAX_WAIT_SECONDS)
}
