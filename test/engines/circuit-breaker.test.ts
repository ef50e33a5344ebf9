import { describe, expect, it } from 'vitest'
import { CircuitBreaker } from '../../src/engines/circuit-breaker.ts'

const fail = (breaker: CircuitBreaker, times: number, atMs = 0) => {
  for (let count = 0; count < times; count++) breaker.failed(0, atMs)
}

describe('CircuitBreaker', () => {
  it('opens at the fifth consecutive failure', () => {
    const breaker = new CircuitBreaker()
    fail(breaker, 4)
    expect(breaker.allowsStart(0)).toBe(true)
    fail(breaker, 1)
    expect(breaker.allowsStart(0)).toBe(false)
    expect(breaker.allowsStart(29_999)).toBe(false)
  })

  it('resets the count after a success', () => {
    const breaker = new CircuitBreaker()
    fail(breaker, 4)
    breaker.succeeded()
    fail(breaker, 4)
    expect(breaker.allowsStart(0)).toBe(true)
  })

  it('resets the count after a minute', () => {
    const breaker = new CircuitBreaker()
    fail(breaker, 4, 1_000)
    fail(breaker, 4, 61_001)
    expect(breaker.allowsStart(61_001)).toBe(true)
    fail(breaker, 1, 61_002)
    expect(breaker.allowsStart(61_002)).toBe(false)
  })

  it('allows one trial start after the open time, and all starts after its success', () => {
    const breaker = new CircuitBreaker()
    fail(breaker, 5)
    expect(breaker.allowsStart(30_000)).toBe(true)
    expect(breaker.allowsStart(30_000)).toBe(false)
    breaker.succeeded()
    expect(breaker.allowsStart(30_001)).toBe(true)
    expect(breaker.allowsStart(30_001)).toBe(true)
  })

  it('opens again when the trial start fails, regardless of the age of the other failures', () => {
    const breaker = new CircuitBreaker()
    fail(breaker, 5)
    expect(breaker.allowsStart(90_000)).toBe(true)
    fail(breaker, 1, 91_000)
    expect(breaker.allowsStart(120_999)).toBe(false)
    expect(breaker.allowsStart(121_000)).toBe(true)
  })

  it('allows another trial start when the first one never ends', () => {
    const breaker = new CircuitBreaker()
    fail(breaker, 5)
    expect(breaker.allowsStart(30_000)).toBe(true)
    expect(breaker.allowsStart(59_999)).toBe(false)
    expect(breaker.allowsStart(60_000)).toBe(true)
  })

  it('waits for the time that the engine requests, at most a minute', () => {
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
