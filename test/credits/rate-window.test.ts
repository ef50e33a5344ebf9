// The rate limit as a sliding window.
import { describe, expect, it } from 'vitest'
import { RateWindow } from '../../src/credits/rate-window.ts'

describe('RateWindow', () => {
  it('allows the limit in any 60 seconds and returns the time until the next request', () => {
    const window = new RateWindow()
    expect(window.take(2, 0)).toEqual({ passed: true, limit: 2, remaining: 1, resetSeconds: 0 })
    expect(window.take(2, 10_500)).toMatchObject({ passed: true, remaining: 0, resetSeconds: 50 })
    expect(window.take(2, 59_999)).toMatchObject({ passed: false, resetSeconds: 1 })
    expect(window.take(2, 60_000)).toMatchObject({ passed: true, remaining: 0, resetSeconds: 11 })
    expect(window.take(2, 70_499)).toMatchObject({ passed: false, resetSeconds: 1 })
    expect(window.take(2, 70_500)).toMatchObject({ passed: true })
  })

  it('does not count rejected requests', () => {
    const window = new RateWindow()
    window.take(1, 0)
    for (let now = 1; now < 60_000; now += 1_000) expect(window.take(1, now).passed).toBe(false)
    expect(window.take(1, 60_000).passed).toBe(true)
  })

  it('applies a changed limit immediately', () => {
    const window = new RateWindow()
    for (let now = 0; now < 5; now++) window.take(5, now * 1_000)
    expect(window.take(2, 5_000)).toMatchObject({ passed: false, remaining: 0, resetSeconds: 58 })
    expect(window.take(6, 5_000)).toMatchObject({ passed: true, remaining: 0 })
  })

  it('removes requests that left the window', () => {
    const window = new RateWindow()
    for (let now = 0; now < 200_000; now += 10) window.take(10_000, now)
    expect(window.take(10_000, 260_000)).toMatchObject({ passed: true, remaining: 9_999 })
  })
})
