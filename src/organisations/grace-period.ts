// Deletions take effect after a grace period, in which they can be cancelled. `delete_after` of an
// organisation or a user is the end of that period. From then on, queries treat the row as deleted;
// privacy/run-deletions removes the data.
import { DAY_MS } from '../domain/limits.ts'

export const GRACE_PERIOD_DAYS = 7

export const graceEnd = (): Date => new Date(Date.now() + GRACE_PERIOD_DAYS * DAY_MS)
