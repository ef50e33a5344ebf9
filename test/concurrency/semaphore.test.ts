// The semaphore: order, failures, and tasks that never end.
import { afterEach, expect, it, vi } from 'vitest'
import { Semaphore, SemaphoreTimeout } from '../../src/concurrency/semaphore.ts'

afterEach(() => void vi.useRealTimers())

const never = () => new Promise<never>(() => {})

it('runs the given number of tasks concurrently and the others in order', async () => {
  const semaphore = new Semaphore(2, 60_000)
  const ends: (() => void)[] = []
  const order: number[] = []
  const all = [0, 1, 2, 3].map((n) =>
    semaphore.run(() => new Promise<void>((end) => void (order.push(n), ends.push(end)))),
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

it('frees the slot of a failed task and rejects with its error', async () => {
  const semaphore = new Semaphore(1, 60_000)
  await expect(semaphore.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await semaphore.run(async () => 'next')).toBe('next')
})

it('frees the slot of a killed task after the timeout', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const semaphore = new Semaphore(1, 60_000)
  void semaphore.run(never)
  const waiting = semaphore.run(async () => 'waiting')
  vi.setSystemTime(Date.now() + 60_000)
  expect(await semaphore.run(async () => 'new')).toBe('new')
  expect(await waiting).toBe('waiting')
})

it('does not give a slot to a killed task that was waiting', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const semaphore = new Semaphore(1, 60_000)
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const running = semaphore.run(() => promise)
  vi.spyOn(scheduler, 'wait').mockImplementationOnce(never)
  const killed = vi.fn(async () => {})
  void semaphore.run(killed)
  vi.setSystemTime(Date.now() + 2_000)
  end()
  await running
  expect(await semaphore.run(async () => 'next')).toBe('next')
  expect(killed).not.toHaveBeenCalled()
})

it('rejects a task that cannot start in time, and does not start it later', async () => {
  const semaphore = new Semaphore(1, 60_000)
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const running = semaphore.run(() => promise)
  const late = vi.fn(async () => {})
  await expect(semaphore.run(late, 0)).rejects.toThrow(SemaphoreTimeout)
  end()
  await running
  expect(await semaphore.run(async () => 'next')).toBe('next')
  expect(late).not.toHaveBeenCalled()
})
