// Product photos without a person, drawn here: what is cut out, and where the landmarks are.
import { describe, expect, it } from 'vitest'
import { minimumCut } from '../src/garment/max-flow.ts'
import { drawGarment } from '../samples/index.ts'
import { readFlat } from '../src/garment/read.ts'
import type { Raster } from '../src/raster.ts'

type Colour = readonly [number, number, number]

function draw(width: number, height: number, at: (x: number, y: number) => Colour): Raster {
  const data = new Uint8ClampedArray(width * height * 4)
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i += 4) data.set([...at(x + 0.5, y + 0.5), 255], i)
  }
  return { width, height, data }
}

const GROUND: Colour = [244, 244, 244]

/** A T-shirt 120 wide at the chest, with short sleeves and a round neck that shows a darker lining. */
function shirt(colour: Colour): Raster {
  return draw(300, 400, (x, y) => {
    const off = Math.abs(x - 150)
    const body = off < 60 && y > 80 && y < 330
    const sleeve = off >= 60 && off < 110 && y > 80 + (off - 60) * 0.9 && y < 140 + (off - 60) * 0.5
    if (!body && !sleeve) return GROUND
    const opening = Math.hypot(off, y - 80) < 28
    return opening ? [colour[0] * 0.45, colour[1] * 0.45, colour[2] * 0.45] : colour
  })
}

const alphaAt = (picture: Raster, x: number, y: number) =>
  picture.data[(y * picture.width + x) * 4 + 3]

describe('readFlat', () => {
  it.each<[string, Colour]>([
    ['dark', [40, 60, 120]],
    ['white', [255, 255, 255]],
  ])('cuts out a %s T-shirt without its lining', (_, colour) => {
    const garment = readFlat(shirt(colour))
    if (garment?.kind !== 'top') throw new Error(`read as ${garment?.kind}`)
    expect(alphaAt(garment.picture, 150, 200)).toBe(255)
    expect(alphaAt(garment.picture, 20, 20)).toBe(0)
    expect(alphaAt(garment.picture, 150, 95)).toBe(0)
    expect(garment.shoulders).toBe('sleeves')
  })

  it('places armpits and hem of a T-shirt', () => {
    const garment = readFlat(shirt([160, 30, 40]))
    if (garment?.kind !== 'top') throw new Error(`read as ${garment?.kind}`)
    const { left, right, hem } = garment
    expect(Math.abs(left.armpit.x - 90)).toBeLessThan(6)
    expect(Math.abs(left.armpit.y - 140)).toBeLessThan(8)
    expect(Math.abs(right.armpit.x - 210)).toBeLessThan(6)
    expect(Math.abs(hem[8]!.y - 330)).toBeLessThan(4)
    expect(left.sleeve?.outer).toHaveLength(9)
  })

  it.each(['stripes', 'checks', 'plain'] as const)(
    'does not take the neckline of a tank top with %s for an armhole',
    (pattern) => {
      const garment = readFlat(
        drawGarment({ width: 800, height: 900, kind: 'tank', pattern, background: 'gradient' }),
      )
      if (garment?.kind !== 'top') throw new Error(`read as ${garment?.kind}`)
      const middle = (garment.left.neck.x + garment.right.neck.x) / 2
      const [left, right] = [middle - garment.left.armpit.x, garment.right.armpit.x - middle]
      expect(left).toBeGreaterThan(180)
      expect(Math.abs(left - right)).toBeLessThan(20)
    },
  )

  it('finds the legs of trousers', () => {
    const picture = draw(240, 400, (x, y) => {
      const off = Math.abs(x - 120)
      const cloth =
        y > 30 && y < 370 && off < 50 + y * 0.02 && !(y > 140 && off < 4 + (y - 140) * 0.03)
      return cloth ? [60, 70, 90] : GROUND
    })
    const garment = readFlat(picture)
    if (garment?.kind !== 'trousers') throw new Error(`read as ${garment?.kind}`)
    expect(Math.abs(garment.legs!.crotch.y - 140)).toBeLessThan(8)
    expect(Math.abs(garment.waist[0]!.x - 70)).toBeLessThan(6)
  })

  it.each<[string, Raster]>([
    ['a black picture', draw(200, 200, () => [0, 0, 0])],
    ['a dot', draw(200, 200, (x, y) => (Math.hypot(x - 100, y - 100) < 8 ? [255, 0, 0] : GROUND))],
    ['stripes', draw(200, 200, (_, y) => (y % 20 < 3 ? [0, 0, 0] : GROUND))],
  ])('refuses %s', (_, picture) => {
    expect(readFlat(picture)).toBeNull()
  })
})

describe('minimumCut', () => {
  it('costs no more than any other cut of a small grid', () => {
    const width = 4
    const height = 3
    let seed = 7
    const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647
    for (let round = 0; round < 20; round++) {
      const terminal = Float32Array.from({ length: 12 }, () => Math.round(random() * 20 - 10))
      const links = Float32Array.from({ length: 48 }, () => Math.round(random() * 6))
      const cost = (side: ArrayLike<number>) => costOf(side, terminal, links, width, height)
      const sides = Array.from({ length: 4096 }, (_, bits) =>
        Uint8Array.from({ length: 12 }, (_, i) => (bits >> i) & 1),
      )
      const least = Math.min(...sides.map(cost))
      const found = minimumCut({ width, height, terminal: terminal.slice(), links: links.slice() })
      expect(cost(found)).toBe(least)
    }
  })
})

/** The cost of the terminals and links that a division of the grid cuts. */
function costOf(
  side: ArrayLike<number>,
  terminal: Float32Array,
  links: Float32Array,
  width: number,
  height: number,
): number {
  let sum = 0
  for (let i = 0; i < width * height; i++) {
    if (side[i] === 1) sum += Math.max(0, -terminal[i]!)
    else sum += Math.max(0, terminal[i]!)
    const x = i % width
    const next = [x > 0 ? i - 1 : -1, x < width - 1 ? i + 1 : -1, i - width, i + width]
    for (const [way, to] of next.entries()) {
      if (to < 0 || to >= width * height) continue
      if (side[i] === 1 && side[to] === 0) sum += links[i * 4 + way]!
    }
  }
  return sum
}
