// When work is due, and when the sweep looks for it. Both are always written together.

/** How long the sweep leaves new work to its first message, ms. */
export const UNQUEUED_AFTER_MS = 60_000
/** How long it leaves work to the messages that it has sent, ms. */
export const SWEEP_AGAIN_AFTER_MS = 15 * 60_000
const SWEEP_AFTER_DUE_MS = 30_000

/** The columns of a row that is due then: at the end of a lease or of a delay. */
export const dueFrom = (dueAt: Date) => ({
  dueAt,
  sweepAt: new Date(dueAt.getTime() + SWEEP_AFTER_DUE_MS),
})
