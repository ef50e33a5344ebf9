// What is made of what the model sees in a product photo.
import { describe, expect, it } from 'vitest'
import { maskWhere, type Mask } from '../src/garment/mask.ts'
import { armpitsIn, sleevesIn } from '../src/garment/product.ts'
import { PRODUCT } from '../src/person-models.ts'

const SIZE = { width: 100, height: 100 }

/** The label at each place, `off` pixels from the middle column. */
const labelsOf = (at: (off: number, y: number) => keyof typeof PRODUCT) =>
  new Uint8Array(10_000).map((_, i) => PRODUCT[at(Math.abs((i % 100) - 49.5), Math.floor(i / 100))])

const clothOf = (labels: Uint8Array): Mask => maskWhere(SIZE, (i) => labels[i] !== PRODUCT.ground)

describe('sleevesIn', () => {
  it.each(['top', 'dress'] as const)('finds the sleeves of a %s', (kind) => {
    const labels = labelsOf((off, y) =>
      off < 20 ? kind : off < 30 && y < 50 ? 'sleeve' : 'ground',
    )
    const sleeves = sleevesIn(clothOf(labels), labels)
    expect(sleeves?.data.filter((value) => value === 1)).toHaveLength(20 * 50)
  })

  it('is null for trousers and skirts', () => {
    const labels = labelsOf((off, y) => (off > 20 ? 'ground' : y < 30 ? 'top' : 'bottom'))
    expect(sleevesIn(clothOf(labels), labels)).toBeNull()
  })
})

describe('armpitsIn', () => {
  const read = (labels: Uint8Array) => {
    const cloth = clothOf(labels)
    return { cloth, ...armpitsIn(cloth, sleevesIn(cloth, labels)!) }
  }

  it('finds where sleeves that stand out leave the body', () => {
    const { cloth, mask, left, right } = read(
      labelsOf((off, y) => {
        if (y < 10) return 'ground'
        if (off < 20) return 'top'
        return off < 40 && y < 25 ? 'sleeve' : 'ground'
      }),
    )
    expect([left, right]).toEqual([
      { x: 30, y: 25 },
      { x: 70, y: 25 },
    ])
    expect(mask).toEqual(cloth)
  })

  it('cuts sleeves that lie against the body from it, below the lowest armpit', () => {
    const { mask, left } = read(
      labelsOf((off, y) => (y < 10 || off > 30 ? 'ground' : off < 20 ? 'top' : 'sleeve')),
    )
    expect(left!.y).toBeCloseTo(10 + 1.05 * 20, -1)
    const at = (x: number, y: number) => mask.data[y * 100 + x]
    expect([at(29, left!.y - 2), at(29, 60), at(29, 99)]).toEqual([1, 0, 0])
    expect([at(25, 60), at(35, 60), at(70, 60)]).toEqual([1, 1, 0])
  })

  it('finds none without sleeves', () => {
    const labels = labelsOf((off) => (off < 20 ? 'top' : 'ground'))
    expect(read(labels)).toMatchObject({ left: null, right: null })
  })
})
