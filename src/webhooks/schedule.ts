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
