// When work is due, and when the sweep requeues it. A claim writes `dueAt` only: its lease delays the
// sweep, and `sweepAt` is indexed.

/** After this time, the sweep requeues new work whose message was lost. */
export const UNQUEUED_AFTER_MS = 60_000
/** The time until the sweep requeues the same work again. */
export const SWEEP_AGAIN_AFTER_MS = 15 * 60_000
/** The time from the end of a lease or of a delay until the sweep requeues the work. */
export const SWEEP_AFTER_DUE_MS = 30_000

/** `sweepAt` of a finished job, which removes it from the index of unfinished jobs. */
export const NO_SWEEP = new Date(0)

/** @param dueAt the end of a lease or of a delay */
export const dueFrom = (dueAt: Date) => ({
  dueAt,
  sweepAt: new Date(dueAt.getTime() + SWEEP_AFTER_DUE_MS),
})
