import { describe, expect, it } from 'vitest'
import { straightened, tubeChart } from '../src/garment-chart.ts'

/** A cloth 100 wide and 200 long, whose left side has a bump of a height in pixels from 40 to 80. */
function cloth(bump: number, bow = 0) {
  const heights = Array.from({ length: 41 }, (_, i) => 5 * i)
  const bent = (y: number) => bow * Math.sin((Math.PI * y) / 200)
  return tubeChart({
    outer: heights.map((y) => ({ x: bent(y) - (y > 40 && y < 80 ? bump : 0), y })),
    inner: heights.map((y) => ({ x: 100 + bent(y), y })),
  })
}

const rows = [0.1, 0.25, 0.3, 0.5, 0.8]

describe('straightened', () => {
  it('takes the bumps of a side out of the middle of cloth, and leaves the sides', () => {
    const chart = straightened(cloth(20), 1)
    for (const along of rows) {
      expect(Math.abs(chart(0.5, along).x - 50)).toBeLessThan(3)
      for (const side of [0, 1]) expect(chart(side, along)).toEqual(cloth(20)(side, along))
    }
    expect(cloth(20)(0.5, 0.3).x).toBe(40)
  })

  it('leaves cloth that is bent as a whole, and what is beyond its ends', () => {
    const chart = straightened(cloth(0, 10), 1)
    for (const along of rows) {
      expect(chart(0.5, along).x).toBeCloseTo(cloth(0, 10)(0.5, along).x, 0)
    }
    for (const along of [-0.2, 1.2]) {
      expect(straightened(cloth(20), 1)(0.5, along)).toEqual(cloth(20)(0.5, along))
    }
  })
})
