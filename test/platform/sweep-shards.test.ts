// How the sweep divides the rows that one run may take between many shards.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { sweepShards } from '../../src/platform/queues/sweep-shards.ts'
import { jobsBindings, type Database } from '../../src/platform/db/database.ts'

const SHARDS = 25

/** An environment whose shards all have the same database. */
const manyShards = (): Env =>
  Object.assign(
    { ...env },
    Object.fromEntries(Array.from({ length: SHARDS }, (_, n) => [`JOBS_DB_${n}`, env.JOBS_DB_0])),
  )

/** Runs the sweep on shards with these numbers of overdue rows. @returns how many it took of each */
async function sweptOf(overdue: number[]): Promise<number[]> {
  vi.spyOn(console, 'warn').mockImplementation(() => {})
  const bindings = manyShards()
  expect(jobsBindings(bindings)).toHaveLength(SHARDS)
  const taken = new Map<Database, number>()
  await sweepShards(bindings, 'jobs', async (db, limit) => {
    const before = taken.get(db) ?? 0
    // The shards are called in their order.
    taken.set(db, before)
    const left = (overdue[[...taken.keys()].indexOf(db)] ?? 0) - before
    const rows = Math.min(limit, left)
    taken.set(db, before + rows)
    await Promise.resolve()
    return { taken: rows, sent: rows }
  })
  return [...taken.values()]
}

describe('a sweep of 25 shards', () => {
  it('takes rows of every shard when all have a backlog', async () => {
    const swept = await sweptOf(Array.from({ length: SHARDS }, () => 100_000))
    expect(swept).toEqual(Array.from({ length: SHARDS }, () => 800))
  })

  it('takes more of a shard when the others have less than their share', async () => {
    const swept = await sweptOf([10, 100_000, ...Array.from({ length: SHARDS - 2 }, () => 0)])
    expect(swept).toEqual([10, 19_990, ...Array.from({ length: SHARDS - 2 }, () => 0)])
  })

  it('takes all rows when they are few', async () => {
    const overdue = Array.from({ length: SHARDS }, (_, shard) => shard)
    expect(await sweptOf(overdue)).toEqual(overdue)
  })
})
