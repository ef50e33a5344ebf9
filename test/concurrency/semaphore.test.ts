// The gate that holds work back, and what it does about work that never ends.
import { afterEach, expect, it, vi } from 'vitest'
import { Semaphore } from '../../src/concurrency/semaphore.ts'

afterEach(() => void vi.useRealTimers())

const never = () => new Promise<never>(() => {})

it('lets so many in at once, the others in the order they came', async () => {
  const gate = new Semaphore(2, 60_000)
  const ends: (() => void)[] = []
  const order: number[] = []
  const all = [0, 1, 2, 3].map((n) =>
    gate.run(() => new Promise<void>((end) => void (order.push(n), ends.push(end)))),
  )
  await vi.waitUntil(() => order.length === 2)
  expect(order).toEqual([0, 1])
  ends[1]?.()
  await vi.waitUntil(() => order.length === 3)
  expect(order).toEqual([0, 1, 2])
  ends[0]?.()
  await vi.waitUntil(() => order.length === 4)
  ends.forEach((end) => end())
  await Promise.all(all)
})

it('gives the place on when work fails, and passes the failure on', async () => {
  const gate = new Semaphore(1, 60_000)
  await expect(gate.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await gate.run(async () => 'next')).toBe('next')
})

it('does not wait for ever for work that was killed', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const gate = new Semaphore(1, 60_000)
  void gate.run(never)
  const waiting = gate.run(async () => 'first in line')
  vi.setSystemTime(Date.now() + 60_000)
  expect(await gate.run(async () => 'newcomer')).toBe('newcomer')
  expect(await waiting).toBe('first in line')
})
