// The semaphore: order, failures, and tasks that never end.
import { afterEach, expect, it, vi } from 'vitest'
import { Semaphore, SemaphoreTimeout, type Turn } from '../../src/platform/concurrency/semaphore.ts'

afterEach(() => void vi.useRealTimers())

const A = { owner: 'a' }
const B = { owner: 'b' }

const never = () => new Promise<never>(() => {})

it('runs the given number of tasks concurrently and the others in order', async () => {
  const semaphore = new Semaphore({ slots: 2, timeoutMs: 60_000 })
  const ends: (() => void)[] = []
  const order: number[] = []
  const all = [0, 1, 2, 3].map((n) =>
    semaphore.run(() => new Promise<void>((end) => void (order.push(n), ends.push(end))), A),
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
  const semaphore = new Semaphore({ slots: 1, timeoutMs: 60_000 })
  await expect(semaphore.run(() => Promise.reject(new Error('broken')), A)).rejects.toThrow(
    'broken',
  )
  expect(await semaphore.run(async () => 'next', A)).toBe('next')
})

it('frees the slot of a killed task after the timeout', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const semaphore = new Semaphore({ slots: 1, timeoutMs: 60_000 })
  void semaphore.run(never, A)
  const waiting = semaphore.run(async () => 'waiting', A)
  vi.setSystemTime(Date.now() + 60_000)
  expect(await semaphore.run(async () => 'new', A)).toBe('new')
  expect(await waiting).toBe('waiting')
})

it('does not give a slot to a killed task that was waiting', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const semaphore = new Semaphore({ slots: 1, timeoutMs: 60_000 })
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const running = semaphore.run(() => promise, A)
  vi.spyOn(scheduler, 'wait').mockImplementationOnce(never)
  const killed = vi.fn(async () => {})
  void semaphore.run(killed, A)
  vi.setSystemTime(Date.now() + 2_000)
  end()
  await running
  expect(await semaphore.run(async () => 'next', A)).toBe('next')
  expect(killed).not.toHaveBeenCalled()
})

it('rejects a task that cannot start in time, and does not start it later', async () => {
  const semaphore = new Semaphore({ slots: 1, timeoutMs: 60_000 })
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const running = semaphore.run(() => promise, A)
  const late = vi.fn(async () => {})
  await expect(semaphore.run(late, { ...A, maxWaitMs: 0 })).rejects.toThrow(SemaphoreTimeout)
  end()
  await running
  expect(await semaphore.run(async () => 'next', A)).toBe('next')
  expect(late).not.toHaveBeenCalled()
})

/** Starts tasks that wait until `end` is called, and writes their names down in the order of their starts. */
function tasks(semaphore: Semaphore) {
  const order: string[] = []
  const ends: (() => void)[] = []
  const all: Promise<void>[] = []
  const add = (name: string, turn: Turn) => {
    const work = () =>
      new Promise<void>((end) => {
        order.push(name)
        ends.push(end)
      })
    all.push(semaphore.run(work, turn))
  }
  const endAll = async () => {
    for (let started = 1; started <= all.length; started++) {
      await vi.waitUntil(() => order.length >= started)
      ends[started - 1]?.()
    }
    await Promise.all(all)
  }
  return { add, order, ends, endAll }
}

it('lets owners take turns', async () => {
  const { add, order, endAll } = tasks(new Semaphore({ slots: 1, timeoutMs: 60_000 }))
  for (const name of ['a1', 'a2', 'a3']) add(name, A)
  for (const name of ['b1', 'b2']) add(name, B)
  await endAll()
  expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
})

it('starts urgent work before the waiting work of every owner', async () => {
  const { add, order, endAll } = tasks(new Semaphore({ slots: 1, timeoutMs: 60_000 }))
  for (const name of ['a1', 'a2', 'a3']) add(name, { ...A, priority: 2 })
  add('b1', { ...B, priority: 1 })
  add('a0', { ...A, priority: 0 })
  await endAll()
  expect(order).toEqual(['a1', 'a0', 'b1', 'a2', 'a3'])
})

it('limits the slots of an owner, whose waiting work takes none', async () => {
  const limits = { slots: 2, slotsPerOwner: 1, timeoutMs: 60_000 }
  const { add, order, endAll } = tasks(new Semaphore(limits))
  for (const name of ['a1', 'a2']) add(name, A)
  add('b1', B)
  await vi.waitUntil(() => order.length === 2)
  expect(order).toEqual(['a1', 'b1'])
  await endAll()
  expect(order).toEqual(['a1', 'b1', 'a2'])
})
