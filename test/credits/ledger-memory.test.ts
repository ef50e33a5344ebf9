// What the ledger has in memory is what its storage has, after every step and every rollback.
import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { Ledger } from '../../src/credits/ledger.ts'
import { Stores } from '../../src/credits/stores.ts'
import { DAY_MS } from '../../src/domain/limits.ts'
import { createdAtOf, newId } from '../../src/platform/ids.ts'

const KEY = 'key'
const JOBS = Array.from({ length: 4 }, () => newId('job'))
const job = fc.constantFrom(...JOBS)
const reference = fc.constantFrom('one', 'two')
const credits = fc.integer({ min: 1, max: 5 })

type Change = (ledger: Ledger) => unknown
/** What happens to a reservation. */
const settling: fc.Arbitrary<Change> = fc
  .record({
    id: job,
    what: fc.constantFrom('reserve', 'capture', 'release', 'renewReservation'),
  })
  .map(({ id, what }) => (ledger) => {
    // A second reservation of a job is a mistake of the caller, and fails.
    if (what === 'reserve') return ledger.reserve(id, { keyCountId: KEY, workspaceId: 'ws' })
    return ledger[what](id)
  })
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: settling },
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
  fc.integer({ min: 0, max: 500 }).map(
    (days): Change =>
      (ledger) =>
        ledger.cleanUp(Date.now() + days * DAY_MS),
  ),
)

/** A transaction of some changes, which may fail at its end; or the deletion of the organisation. */
const transactionOf = (changes: fc.Arbitrary<Change>) =>
  fc.record({
    changes: fc.array(changes, { minLength: 1, maxLength: 4 }),
    fails: fc.boolean(),
  })
const step = fc.oneof(
  { weight: 9, arbitrary: transactionOf(change) },
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

it('counts the credits of a month as its reservations do, after each step', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(transactionOf(settling), { maxLength: 25 }), async (steps) => {
      const stub = env.ORGANISATION.getByName(newId('org'))
      await runInDurableObject(stub, (_, { storage }) => {
        const stores = new Stores(storage)
        stores.open().ledger.grant({ amount: 3, reference: 'one', reason: 'Test' })
        const used = () => stores.open().creditUse.used(KEY, createdAtOf(JOBS[0]!))
        for (const each of steps) {
          runTransaction(stores, each)
          const counted = used()
          storage.sql.exec('DELETE FROM credit_use')
          expect(counted).toBe(used())
        }
      })
    }),
    { numRuns: 60 },
  )
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
