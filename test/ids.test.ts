import { describe, expect, it } from 'vitest'
import { createdAtOf, eventIdOf, isId, newId, newShardedId, shardOf } from '../src/ids.ts'

describe('newShardedId', () => {
  it.each([0, 1, 7, 255])('carries the shard %i, also in the id of the event', (shard) => {
    const id = newShardedId('job', shard)
    expect(isId('job', id)).toBe(true)
    expect(shardOf(id)).toBe(shard)
    expect(shardOf(eventIdOf(id))).toBe(shard)
    expect(shardOf(`${eventIdOf(id)}_0123abcd`)).toBe(shard)
    expect(Math.abs(createdAtOf(id) - Date.now())).toBeLessThan(5_000)
  })

  it('creates ids that sort by creation time', async () => {
    const ids: string[] = []
    for (let at = 0; at < 20; at++) {
      ids.push(newShardedId('job', 255 - at))
      await scheduler.wait(2)
    }
    expect(ids.toSorted()).toEqual(ids)
  })
})

describe('shardOf', () => {
  it('returns 0 for ids without a shard', () => {
    const ids = Array.from({ length: 2_000 }, () => newId('job'))
    expect(new Set(ids.map(shardOf))).toEqual(new Set([0]))
  })
})
