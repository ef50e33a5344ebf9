import { expect, it } from 'vitest'
import { castShadow } from '../src/draw.ts'
import { grainOf } from '../src/grain.ts'
import { createPlane } from '../src/plane.ts'
import type { Raster } from '../src/raster.ts'

/** Smooth skin above, and below it a dress of thin stripes. */
function photo(): Raster {
  const data = new Uint8ClampedArray(100 * 100 * 4)
  for (let i = 0; i < 10_000; i++) {
    const level = i < 3_000 ? 180 : i % 2 === 0 ? 80 : 140
    data.set([level, level, level, 255], i * 4)
  }
  return { width: 100, height: 100, data }
}

it('measures no texture of clothes as grain', () => {
  expect(grainOf(photo())).toBeGreaterThan(20)
  expect(grainOf(photo(), ({ y }) => y < 30)).toBeLessThan(1)
})

it('casts a shadow to the last row of a photo that is longer than its analysis', async () => {
  const white = { width: 5, height: 16, data: new Uint8ClampedArray(5 * 16 * 4).fill(255) }
  const cover = createPlane(3, 8)
  cover.data.fill(1)
  await castShadow(white, { cover, strength: 0.5, receives: () => 1 }, 10)
  expect(white.data[15 * 5 * 4]).toBeLessThan(140)
})
