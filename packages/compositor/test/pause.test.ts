// A pause gives the thread to other work, until the thread is idle.
import { expect, it, vi } from 'vitest'
import { pause } from '../src/pause.ts'

/** Pauses with a clock that shows these times, ms. @returns how long each of its timers was, ms */
async function timersAt(times: readonly number[]): Promise<unknown[]> {
  const clock = vi.spyOn(Date, 'now')
  for (const time of times) clock.mockReturnValueOnce(time)
  const timer = vi.spyOn(globalThis, 'setTimeout').mockClear()
  await pause()
  return timer.mock.calls.map(([, ms]) => ms)
}

/** @returns how often the pause gave the thread away */
const waitsAt = async (times: readonly number[]) => (await timersAt(times)).length

it('ends when no other work used the thread', async () => {
  expect(await waitsAt([0, 1])).toBe(1)
})

it('is repeated while other work uses the thread', async () => {
  expect(await waitsAt([0, 20, 20, 29, 29, 31])).toBe(3)
})

it('is repeated ten times at most', async () => {
  expect(await waitsAt(Array.from({ length: 22 }, (_, i) => Math.ceil(i / 2) * 20))).toBe(11)
})

it('waits longer after other work, for the next 40 pauses in which there is none', async () => {
  expect(await timersAt([0, 20, 20, 21])).toContain(1)
  for (let count = 1; count < 40; count++) expect(await timersAt([0, 3])).toEqual([1])
  expect(await timersAt([0, 2])).toEqual([0])
  expect(await timersAt([0, 3, 3, 4])).toEqual([0, 1])
})
