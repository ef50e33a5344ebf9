// The time at which a delayed message is due. Its age at the first delivery, without the delay, says how
// long the queue is.

/** The part of a message's body that a delay adds: ms since 1970. */
export const dueAfter = (delaySeconds: number | undefined): { dueAt?: number } =>
  delaySeconds ? { dueAt: Date.now() + delaySeconds * 1_000 } : {}
