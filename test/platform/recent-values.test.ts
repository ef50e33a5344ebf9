// Values that are remembered for a time.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { RecentValues } from '../../src/platform/recent-values.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const newValues = () => new RecentValues<number>({ ttlMs: 60_000, maxEntries: 2 })

it('reads a value once in its time', async () => {
  const values = newValues()
  const read = vi.fn(async () => 1)
  expect(await values.get(['a'], read)).toBe(1)
  vi.setSystemTime(Date.now() + 59_999)
  expect(await values.get(['a'], async () => 2)).toBe(1)
  vi.setSystemTime(Date.now() + 1)
  expect(await values.get(['a'], async () => 3)).toBe(3)
  expect(read).toHaveBeenCalledOnce()
})

it('forgets the oldest value beyond its size', async () => {
  const values = newValues()
  for (const [n, name] of ['a', 'b', 'c'].entries()) await values.get([name], async () => n)
  expect(await values.get(['c'], async () => 9)).toBe(2)
  expect(await values.get(['b'], async () => 9)).toBe(1)
  expect(await values.get(['a'], async () => 9)).toBe(9)
})

it('does not remember a value that costs little', async () => {
  const values = newValues()
  const isCostly = (value: number) => value > 100
  expect(await values.get(['a'], async () => 1, isCostly)).toBe(1)
  expect(await values.get(['a'], async () => 101, isCostly)).toBe(101)
  expect(await values.get(['a'], async () => 2, isCostly)).toBe(101)
})

it('does not remember an error', async () => {
  const values = newValues()
  await expect(values.get(['a'], () => Promise.reject(new Error('broken')))).rejects.toThrow(
    'broken',
  )
  expect(await values.get(['a'], async () => 1)).toBe(1)
})
