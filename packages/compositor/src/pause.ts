// Lets the other requests of an isolate run during a composition, which has seconds of work.

/** Short, since a composition has some 200 pauses. */
const PAUSE_MS = 1
/** How often a pause is repeated in which other work used the thread: a request is handled in several steps. */
const MAX_REPEATS = 10
/** How many pixels of a photo a loop works on between two pauses: some 5 ms. */
const PIXELS_BETWEEN_PAUSES = 100_000

/**
 * Gives the thread to what waits for it, until it is idle, for some 20 ms at most: a request that has begun is
 * handled to its end. The places of the pauses depend on the work that was done, not on time: the clock of a
 * Worker stands still while it computes.
 */
export async function pause(): Promise<void> {
  for (let repeats = 0; repeats <= MAX_REPEATS; repeats++) {
    const startedAt = Date.now()
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    const wasIdle = Date.now() - startedAt <= PAUSE_MS + 1
    if (wasIdle) return
  }
}

/** Pauses after some rows of a loop over a photo. */
export async function pauseInRows(y: number, { width }: { width: number }): Promise<void> {
  if (y % Math.ceil(PIXELS_BETWEEN_PAUSES / width) === 0) await pause()
}
