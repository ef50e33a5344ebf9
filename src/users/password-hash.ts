// Hashes and verifies passwords with scrypt, one at a time: each takes about 100 ms of CPU time, in which
// the isolate does nothing else.
import { hashPassword, verifyPassword } from 'better-auth/crypto'
import { Semaphore } from '../platform/concurrency/semaphore.ts'

/** The turn of a killed invocation is over then. */
const MAX_HOLD_MS = 5_000
/** How long a sign-in waits for others, ms. */
const MAX_WAIT_MS = 20_000
/** The time for other requests between two turns, ms. A single sign-in does not wait. */
const REST_MS = 50

const turns = new Semaphore({ slots: 1, timeoutMs: MAX_HOLD_MS })
let endedAt = -REST_MS

const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
  turns.run(
    async () => {
      const restMs = endedAt + REST_MS - performance.now()
      if (restMs > 0) await scheduler.wait(restMs)
      try {
        return await work()
      } finally {
        endedAt = performance.now()
      }
    },
    { maxWaitMs: MAX_WAIT_MS },
  )

/** What better-auth uses. @throws SemaphoreTimeout when too many others wait */
export const passwordHash = {
  hash: (password: string) => inTurn(() => hashPassword(password)),
  verify: (check: { hash: string; password: string }) => inTurn(() => verifyPassword(check)),
}
