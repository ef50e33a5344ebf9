import { TypeID } from 'typeid-js'
import { describe, expect, it } from 'vitest'
import {
  createdAtOf,
  eventIdOf,
  isId,
  newId,
  newShardedId,
  shardOf,
} from '../../src/platform/ids.ts'

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

describe('createdAtOf', () => {
  it.each([
    ['00000000000000000000000001', 0],
    ['7zzzzzzzzzzzzzzzzzzzzzzzzz', 2 ** 48 - 1],
    ['01jd3z7v9h00pb0d2q4k3m5n6p', 1_732_078_988_593], // version 0
  ])('reads the time of every well-formed id: %s', (suffix, time) => {
    expect(isId('job', `job_${suffix}`)).toBe(true)
    expect(createdAtOf(`job_${suffix}`)).toBe(time)
  })

  it('is the time of the UUID', () => {
    const id = newId('job')
    const uuid = TypeID.fromString(id).toUUID()
    expect(createdAtOf(id)).toBe(parseInt(uuid.replaceAll('-', '').slice(0, 12), 16))
  })
})
