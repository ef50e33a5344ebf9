const INTERVAL_MS = 20

/**
 * Waits for what another invocation does in this isolate. With a timer of its own: a promise that
 * another invocation resolves is nothing that workerd waits for, so it would end this invocation as
 * hung.
 * @returns false when the time is over
 */
export async function pollUntil(isTrue: () => boolean, forMs = Infinity): Promise<boolean> {
  const endsAt = performance.now() + forMs
  while (!isTrue()) {
    if (performance.now() >= endsAt) return false
    await scheduler.wait(INTERVAL_MS)
  }
  return true
}
