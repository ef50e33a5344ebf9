// A pause gives the thread to other work, until the thread is idle.
import { expect, it, vi } from 'vitest'
import { pause } from '../src/pause.ts'

/** Pauses with a clock that shows these times, ms. @returns how often it gave the thread away */
async function waitsAt(times: readonly number[]): Promise<number> {
  const clock = vi.spyOn(Date, 'now')
  for (const time of times) clock.mockReturnValueOnce(time)
  const timer = vi.spyOn(globalThis, 'setTimeout')
  await pause()
  return timer.mock.calls.length
}

it('ends when no other work used the thread', async () => {
  expect(await waitsAt([0, 1])).toBe(1)
})

it('is repeated while other work uses the thread', async () => {
  expect(await waitsAt([0, 20, 20, 29, 29, 31])).toBe(3)
})

it('is repeated ten times at most', async () => {
  expect(await waitsAt(Array.from({ length: 22 }, (_, i) => Math.ceil(i / 2) * 20))).toBe(11)
})
