// When a webhook is tried again. Pure.

const JITTER = 0.2

/**
 * Whole seconds until the next attempt: the schedule's delay ± 20 %, or what the receiver asked for
 * up to twice the delay.
 * @param failedAttempts how many attempts have failed, at least 1
 * @param random in [0, 1)
 * @returns null when the schedule is spent
 */
export function nextDelaySeconds(
  delaysSeconds: readonly number[],
  failedAttempts: number,
  random: number,
  retryAfterSeconds = 0,
): number | null {
  const delay = delaysSeconds[failedAttempts - 1]
  if (delay === undefined) return null
  const jittered = delay * (1 - JITTER + 2 * JITTER * random)
  return Math.round(Math.min(Math.max(jittered, retryAfterSeconds), delay * 2))
}

/** Reads a Retry-After header (RFC 9110, 10.2.3). @returns seconds, 0 when there is none to heed */
export function parseRetryAfter(value: string | null, now: number): number {
  if (!value) return 0
  if (/^\d+$/.test(value)) return Number(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? 0 : Math.max(0, Math.ceil((at - now) / 1_000))
}
