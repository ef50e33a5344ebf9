// The Prefer header, by which a client asks to be answered later rather than to ask again.
import { MAX_WAIT_SECONDS } from '../domain/limits.ts'

/**
 * The seconds of `Prefer: wait=N` (RFC 7240, 4.3), at most 30. A preference that cannot be read is
 * none, as the RFC has it.
 */
export function preferredWaitSeconds(header: string | undefined): number {
  const [, seconds] = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec(header ?? '') ?? []
  return Math.min(Number(seconds ?? 0), MAX_WAIT_SECONDS)
}
