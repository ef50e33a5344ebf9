const INTERVAL_MS = 20

/**
 * Waits until a condition holds that another invocation in this isolate makes true. It polls with a
 * timer, because workerd ends an invocation as hung when it waits for a promise that only another
 * invocation resolves.
 * @returns false when the condition did not hold within `timeoutMs`
 */
export async function pollUntil(isTrue: () => boolean, timeoutMs = Infinity): Promise<boolean> {
  const endsAt = performance.now() + timeoutMs
  while (!isTrue()) {
    if (performance.now() >= endsAt) return false
    await scheduler.wait(INTERVAL_MS)
  }
  return true
}
