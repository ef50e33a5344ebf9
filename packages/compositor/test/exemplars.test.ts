import { describe, expect, it } from 'vitest'
import { completeFromExemplars, type Incomplete } from '../src/uncover/exemplars.ts'
import { createChannels } from '../src/uncover/small.ts'
import { eachPixel, type Box } from './pixels.ts'

const WIDTH = 200
const HEIGHT = 120
const HOLE: Box = [80, 40, 115, 75]

/** A picture of this brightness with a grey hole. */
function withHole(brightness: (x: number, y: number) => number): Incomplete {
  const rgb = createChannels(WIDTH * HEIGHT)
  const known = new Uint8Array(WIDTH * HEIGHT).fill(1)
  const hole = new Uint8Array(WIDTH * HEIGHT)
  eachPixel(WIDTH, [0, 0, WIDTH, HEIGHT], (at, x, y) => {
    for (const plane of rgb) plane[at] = brightness(x, y)
  })
  eachPixel(WIDTH, HOLE, (at) => {
    for (const plane of rgb) plane[at] = 128
    known[at] = 0
    hole[at] = 1
  })
  return { width: WIDTH, height: HEIGHT, rgb, known, hole }
}

describe('exemplars', () => {
  it.each([
    ['stripes', (x: number) => (x % 20 < 10 ? 60 : 190)],
    ['a wall above a floor', (_: number, y: number) => (y < 60 ? 220 : 90)],
    ['tiles', (x: number, y: number) => (x % 24 < 4 || y % 24 < 4 ? 230 : 110)],
  ])('continue %s through a hole', async (_, brightness) => {
    const picture = withHole(brightness)
    const found = await completeFromExemplars(picture)
    let wrong = 0
    eachPixel(WIDTH, HOLE, (at, x, y) => {
      expect(picture.known[found[at]!]).toBe(1)
      if (Math.abs(picture.rgb[0][at]! - brightness(x, y)) > 40) wrong++
    })
    expect(wrong).toBeLessThan(35 * 35 * 0.1)
  })

  it('say nothing where less than a patch is known', async () => {
    const picture = withHole(() => 50)
    picture.known.fill(0, 6 * WIDTH)
    const found = await completeFromExemplars(picture)
    expect(found.every((source) => source === -1)).toBe(true)
    expect(picture.rgb[0][50 * WIDTH + 90]).toBe(128)
  })
})
