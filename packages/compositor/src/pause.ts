// Lets the other requests of an isolate run during a composition, which has seconds of work.

/**
 * A request is handled in several steps, each of which waits for the thread. In this time, ms, most requests are
 * handled from beginning to end. Some 100 pauses make a composition a quarter of a second longer.
 */
const PAUSE_MS = 3
/** How many pixels of a photo a loop works on between two pauses: some 10 ms. */
const PIXELS_BETWEEN_PAUSES = 200_000

/**
 * Gives the thread to what waits for it. The places of the pauses depend on the work that was done, not on
 * time: the clock of a Worker stands still while it computes.
 */
export const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS))

/** Pauses after some rows of a loop over a photo. */
export async function pauseInRows(y: number, { width }: { width: number }): Promise<void> {
  if (y % Math.ceil(PIXELS_BETWEEN_PAUSES / width) === 0) await pause()
}
