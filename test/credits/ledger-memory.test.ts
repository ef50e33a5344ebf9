// What the ledger has in memory is what its storage has, after every step and every rollback.
import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { Ledger } from '../../src/credits/ledger.ts'
import { Stores } from '../../src/credits/stores.ts'
import { DAY_MS } from '../../src/domain/limits.ts'
import { newId } from '../../src/platform/ids.ts'

const JOBS = Array.from({ length: 4 }, () => newId('job'))
const job = fc.constantFrom(...JOBS)
const reference = fc.constantFrom('one', 'two')
const credits = fc.integer({ min: 1, max: 5 })

type Change = (ledger: Ledger) => unknown
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ reference, amount: credits }).map(
    (grant): Change =>
      (ledger) =>
        ledger.grant({ ...grant, reason: 'Test' }),
  ),
  fc.record({ reference, credits }).map(
    (reversal): Change =>
      (ledger) =>
        ledger.reverse({ ...reversal, reason: 'Test' }),
  ),
  job.map(
    (id): Change =>
      // A second reservation of a job is a mistake of the caller, and fails.
      (ledger) =>
        ledger.reserve(id),
  ),
  job.map(
    (id): Change =>
      (ledger) =>
        ledger.capture(id),
  ),
  job.map(
    (id): Change =>
      (ledger) =>
        ledger.release(id),
  ),
  job.map(
    (id): Change =>
      (ledger) =>
        ledger.renewReservation(id),
  ),
  fc.integer({ min: 0, max: 500 }).map(
    (days): Change =>
      (ledger) =>
        ledger.cleanUp(Date.now() + days * DAY_MS),
  ),
)

/** A transaction of some changes, which may fail at its end; or the deletion of the organisation. */
const step = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      changes: fc.array(change, { minLength: 1, maxLength: 4 }),
      fails: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant('destroy' as const) },
)

const stateOf = (ledger: Ledger) => ({
  totals: ledger.totals(),
  open: ledger.openSince(Number.MAX_SAFE_INTEGER, 100),
  oldestCheck: ledger.oldestCheck(),
})

it('has the totals and the open reservations of its tables after each step', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * DAY_MS })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const stub = env.ORGANISATION.getByName(newId('org'))
      await runInDurableObject(stub, async (_, { storage }) => {
        const stores = new Stores(storage)
        for (const each of steps) {
          if (each === 'destroy') {
            await storage.deleteAll()
            stores.close()
          } else runTransaction(stores, each)
          expect(stateOf(stores.open().ledger)).toEqual(stateOf(new Ledger(storage)))
        }
      })
    }),
    { numRuns: 60 },
  )
  vi.useRealTimers()
})

function runTransaction(stores: Stores, { changes, fails }: { changes: Change[]; fails: boolean }) {
  try {
    stores.transaction(() => {
      for (const apply of changes) {
        apply(stores.open().ledger)
        stateOf(stores.open().ledger) // reads what may be rolled back
      }
      if (fails) throw new Error('rollback')
    })
  } catch (error) {
    expect(String(error)).toMatch(/rollback|UNIQUE constraint failed/)
  }
}
