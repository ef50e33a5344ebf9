// Lets the other requests of an isolate run during a composition, which has seconds of work.

/**
 * How long a pause waits, ms: until the events that are ready are handled, or longer, for the next steps of other
 * work that ran lately. A composition has some 200 pauses; in workerd a timer of 0 ms takes 1.1, one of 1 ms twice that.
 */
const WAIT_MS = { idle: 0, busy: 1 }
/** In how many pauses other work was not seen before it is over. */
const IDLE_PAUSES = 40
/** A pause that takes longer than its wait and this has let other work run, ms: the clock shows whole milliseconds. */
const TOLERANCE_MS = 2
/** How often a pause is repeated in which other work used the thread: a request is handled in several steps. */
const MAX_REPEATS = 10
/** How many pixels of a photo a loop works on between two pauses: some 5 ms. */
const PIXELS_BETWEEN_PAUSES = 250_000

/** How many pauses wait longer. */
let busyPauses = 0
/** Whether the last pause was left out. */
let isLeftOut = false

/**
 * Gives the thread to what waits for it, until it is idle, for some 20 ms at most: a request that has begun is
 * handled to its end. While no other work runs, every other pause is left out. The places of the pauses depend on
 * the work that was done, not on time: the clock of a Worker stands still while it computes.
 */
export async function pause(): Promise<void> {
  isLeftOut = busyPauses === 0 && !isLeftOut
  if (isLeftOut) return
  for (let repeats = 0; repeats <= MAX_REPEATS; repeats++) {
    const waitMs = busyPauses > 0 ? WAIT_MS.busy : WAIT_MS.idle
    const startedAt = Date.now()
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    if (Date.now() - startedAt <= waitMs + TOLERANCE_MS) {
      busyPauses = Math.max(0, busyPauses - 1)
      return
    }
    busyPauses = IDLE_PAUSES
  }
}

/** Pauses after some rows of a loop over a photo. */
export async function pauseInRows(y: number, { width }: { width: number }): Promise<void> {
  if ((y + 1) % Math.ceil(PIXELS_BETWEEN_PAUSES / width) === 0) await pause()
}
