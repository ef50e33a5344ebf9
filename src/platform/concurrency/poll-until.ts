const INTERVAL_MS = 20

/**
 * Waits for a condition that another invocation in this isolate fulfils. It polls with a timer, because
 * workerd cancels an invocation as hung when it waits for a promise that only another invocation
 * resolves.
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
