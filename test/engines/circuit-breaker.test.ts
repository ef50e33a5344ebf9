import { describe, expect, it } from 'vitest'
import { CircuitBreaker } from '../../src/engines/circuit-breaker.ts'

const failing = (breaker: CircuitBreaker, times: number, atMs = 0) => {
  for (let count = 0; count < times; count++) breaker.failed(0, atMs)
}

describe('a circuit breaker', () => {
  it('lets everybody through until the fifth failure in a row', () => {
    const breaker = new CircuitBreaker()
    failing(breaker, 4)
    expect(breaker.letsPass(0)).toBe(true)
    failing(breaker, 1)
    expect(breaker.letsPass(0)).toBe(false)
    expect(breaker.letsPass(29_999)).toBe(false)
  })

  it('begins to count anew after a success', () => {
    const breaker = new CircuitBreaker()
    failing(breaker, 4)
    breaker.succeeded()
    failing(breaker, 4)
    expect(breaker.letsPass(0)).toBe(true)
  })

  it('begins to count anew after a minute', () => {
    const breaker = new CircuitBreaker()
    failing(breaker, 4, 1_000)
    failing(breaker, 4, 61_001)
    expect(breaker.letsPass(61_001)).toBe(true)
    failing(breaker, 1, 61_002)
    expect(breaker.letsPass(61_002)).toBe(false)
  })

  it('lets one through after the pause, and all once that one came through', () => {
    const breaker = new CircuitBreaker()
    failing(breaker, 5)
    expect(breaker.letsPass(30_000)).toBe(true)
    expect(breaker.letsPass(30_000)).toBe(false)
    breaker.succeeded()
    expect(breaker.letsPass(30_001)).toBe(true)
    expect(breaker.letsPass(30_001)).toBe(true)
  })

  it('closes again at once when that one fails, however long ago the others did', () => {
    const breaker = new CircuitBreaker()
    failing(breaker, 5)
    expect(breaker.letsPass(90_000)).toBe(true)
    failing(breaker, 1, 91_000)
    expect(breaker.letsPass(120_999)).toBe(false)
    expect(breaker.letsPass(121_000)).toBe(true)
  })

  it('lets another one try if nothing was heard of the first', () => {
    const breaker = new CircuitBreaker()
    failing(breaker, 5)
    expect(breaker.letsPass(30_000)).toBe(true)
    expect(breaker.letsPass(59_999)).toBe(false)
    expect(breaker.letsPass(60_000)).toBe(true)
  })

  it('remembers how long the engine asked to be left alone, for a minute at most', () => {
    const breaker = new CircuitBreaker()
    expect(breaker.secondsToWait(0)).toBe(0)
    breaker.failed(7, 0)
    breaker.failed(0, 1_000)
    expect(breaker.secondsToWait(1_500)).toBe(6)
    expect(breaker.secondsToWait(7_000)).toBe(0)
    breaker.failed(86_400, 8_000)
    breaker.succeeded()
    expect(breaker.secondsToWait(8_000)).toBe(60)
  })
})
