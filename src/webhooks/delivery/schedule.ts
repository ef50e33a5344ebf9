// The schedule of webhook retries.

const JITTER = 0.2

/**
 * Whole seconds until the next attempt: the schedule's delay ± 20 %. A longer Retry-After of the
 * receiver takes precedence, up to twice the delay.
 * @param failedAttempts at least 1
 * @param random in [0, 1)
 * @returns null when there are no retries left
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
