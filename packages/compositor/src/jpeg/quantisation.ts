// How coarsely coefficients are stored, by the tables of ITU-T T.81, K.1.
import { TRANSFORM_SCALE, ZIGZAG } from './zigzag.ts'

/** Steps of quantisation row by row, for quality 50. */
const LUMA = [
  16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56,
  14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113,
  92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
]
const CHROMA = [
  17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99,
  47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
  99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
]

export interface Quantiser {
  /** In the order of the file. */
  steps: number[]
  /** From a transformed coefficient to a number of steps, in the order of the file. */
  factors: Float64Array
  /** The kind of symbol for means; that of other coefficients is the next one. */
  kind: number
}

/** The quantisers of luma and chroma. @param quality 1 to 100 */
export const quantisers = (quality: number): [Quantiser, Quantiser] => [
  quantiser(LUMA, quality, 0),
  quantiser(CHROMA, quality, 2),
]

function quantiser(table: readonly number[], quality: number, kind: number): Quantiser {
  const percent = quality < 50 ? 5_000 / quality : 200 - 2 * quality
  const steps = Array.from(ZIGZAG, (place) =>
    Math.min(255, Math.max(1, Math.floor((table[place]! * percent + 50) / 100))),
  )
  const factors = Float64Array.from(steps, (step, k) => {
    const place = ZIGZAG[k]!
    return 1 / (step * TRANSFORM_SCALE[place >> 3]! * TRANSFORM_SCALE[place & 7]!)
  })
  return { steps, factors, kind }
}
