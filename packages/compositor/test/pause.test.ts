// A pause gives the thread to other work, until the thread is idle.
import { beforeEach, expect, it, vi } from 'vitest'
import { pause } from '../src/pause.ts'

/** Pauses with a clock that shows these times, ms. @returns how long each of its timers was, ms */
async function timersAt(times: readonly number[]): Promise<unknown[]> {
  const clock = vi.spyOn(Date, 'now').mockReset()
  for (const time of times) clock.mockReturnValueOnce(time)
  const timer = vi.spyOn(globalThis, 'setTimeout').mockClear()
  await pause()
  return timer.mock.calls.map(([, ms]) => ms)
}

/** The same of the next pause that is not left out. */
async function nextTimersAt(times: readonly number[]): Promise<unknown[]> {
  const timers = await timersAt(times)
  return timers.length > 0 ? timers : timersAt(times)
}

/** @returns how often the next pause that is not left out gave the thread away */
const waitsAt = async (times: readonly number[]) => (await nextTimersAt(times)).length

// Until the work of tests before is forgotten.
beforeEach(async () => {
  for (let count = 0; count < 41; count++) await nextTimersAt([0, 0])
})

it('ends when no other work used the thread', async () => {
  expect(await waitsAt([0, 1])).toBe(1)
})

it('is left out every other time while there is no other work', async () => {
  const counts = []
  for (let count = 0; count < 4; count++) counts.push((await timersAt([0, 1])).length)
  expect(counts).toEqual([0, 1, 0, 1])
})

it('is repeated while other work uses the thread', async () => {
  expect(await waitsAt([0, 20, 20, 29, 29, 31])).toBe(3)
})

it('is repeated ten times at most', async () => {
  expect(await waitsAt(Array.from({ length: 22 }, (_, i) => Math.ceil(i / 2) * 20))).toBe(11)
})

it('waits longer after other work, for the next 40 pauses in which there is none', async () => {
  expect(await nextTimersAt([0, 20, 20, 21])).toEqual([0, 1])
  for (let count = 1; count < 40; count++) expect(await timersAt([0, 3])).toEqual([1])
  expect(await nextTimersAt([0, 2])).toEqual([0])
  expect(await nextTimersAt([0, 3, 3, 4])).toEqual([0, 1])
})
