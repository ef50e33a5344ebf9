import { describe, expect, it } from 'vitest'
import type { Raster } from '../src/raster.ts'
import { roundCorner } from '../src/round-shoulders.ts'
import { eachPixel, plain } from './pixels.ts'

/** A layer that is opaque in a rectangle. */
function layerOf(left: number, top: number, right: number, bottom: number): Raster {
  const layer = plain(100, 80, [0, 0, 0, 0])
  eachPixel(100, [left, top, right, bottom], (at) => layer.data.set([0, 0, 0, 255], at * 4))
  return layer
}

const alpha = ({ data }: Raster, x: number, y: number) => data[(y * 100 + x) * 4 + 3]!

describe('roundCorner', () => {
  it('rounds the corner of layers together, and no edge between them', () => {
    const [torso, sleeve] = [layerOf(40, 20, 90, 80), layerOf(20, 20, 40, 80)]
    roundCorner([torso, sleeve], { x: 20, y: 20 }, { x: 70, y: 20 }, 10)
    expect(alpha(sleeve, 20, 20)).toBe(0)
    expect(alpha(sleeve, 21, 22)).toBe(0)
    expect(alpha(sleeve, 24, 24)).toBeGreaterThan(200)
    for (const [x, y] of [
      [39, 21],
      [21, 40],
    ] as const) {
      expect(alpha(sleeve, x, y)).toBe(255)
    }
    expect(torso.data).toEqual(layerOf(40, 20, 90, 80).data)
  })

  it('removes what stands out and is thinner than the disc', () => {
    const layer = layerOf(20, 20, 90, 80)
    for (let y = 10; y < 20; y++) layer.data[(y * 100 + 40) * 4 + 3] = 255
    roundCorner([layer], { x: 40, y: 20 }, { x: 85, y: 20 }, 10)
    expect(alpha(layer, 40, 15)).toBe(0)
    expect(alpha(layer, 40, 21)).toBe(255)
  })

  it('changes nothing far from the corner', () => {
    const layer = layerOf(20, 20, 90, 80)
    for (let y = 0; y < 80; y++) layer.data[(y * 100 + 42) * 4 + 3] = 0
    const before = layer.data.slice()
    roundCorner([layer], { x: 20, y: 20 }, { x: 70, y: 20 }, 10)
    for (const x of [41, 43]) expect(alpha(layer, x, 21)).toBe(before[(21 * 100 + x) * 4 + 3])
    expect(alpha(layer, 20, 20)).toBe(0)
  })

  it('does not round the neck', () => {
    const layer = layerOf(20, 20, 50, 80)
    roundCorner([layer], { x: 20, y: 20 }, { x: 49, y: 20 }, 10)
    expect(alpha(layer, 49, 20)).toBe(255)
    expect(alpha(layer, 36, 20)).toBe(255)
    expect(alpha(layer, 20, 20)).toBe(0)
  })

  it('endures a corner outside of the picture', () => {
    const layer = layerOf(0, 0, 100, 80)
    roundCorner([layer], { x: -50, y: -50 }, { x: 0, y: -50 }, 8)
    expect(layer.data).toEqual(layerOf(0, 0, 100, 80).data)
  })
})
