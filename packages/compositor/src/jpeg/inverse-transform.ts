// Inverse cosine transforms of a block to 8, 4, 2 or 1 samples a side. A reduced one takes the lowest
// frequencies only (ITU-T T.81, A.3.3, with fewer points), so that the picture never exists in full size.
import { TRANSFORM_SCALE } from './zigzag.ts'

/** Samples a side of a transformed block. */
export type BlockSide = 1 | 2 | 4 | 8

export interface InverseTransform {
  /** By which coefficients of each row and each column have to be multiplied. */
  scale: ArrayLike<number>
  /** Writes the samples to `plane` from `at` on. Changes the block. */
  run(block: Float64Array, plane: Uint8ClampedArray, at: number, stride: number): void
}

const EVEN = Math.sqrt(1 / 8)

export const INVERSE_TRANSFORMS: Record<BlockSide, InverseTransform> = {
  8: { scale: TRANSFORM_SCALE.map((scale) => scale / 8), run: toEight },
  4: { scale: [EVEN, 0.5, EVEN, 0.5], run: toFour },
  2: { scale: [EVEN, EVEN], run: toTwo },
  1: { scale: [EVEN], run: toOne },
}

const ROOT = Math.SQRT2
const [COS, SIN] = [Math.cos(Math.PI / 8), Math.sin(Math.PI / 8)]
const DOUBLE = 2 * COS
const DIFFERENCE = 2 * (COS - SIN)
const SUM = 2 * (COS + SIN)

/** The method of Arai, Agui and Nakajima. */
function toEight(block: Float64Array, plane: Uint8ClampedArray, at: number, stride: number): void {
  for (let x = 0; x < 8; x++) columnOfEight(block, x)
  for (let i = 0, to = at; i < 64; i += 8, to += stride) {
    const s0 = block[i]!
    const s4 = block[i + 4]!
    const s2 = block[i + 2]!
    const s6 = block[i + 6]!
    const plus = s2 + s6
    const minus = (s2 - s6) * ROOT - plus
    const even0 = s0 + s4 + plus
    const even3 = s0 + s4 - plus
    const even1 = s0 - s4 + minus
    const even2 = s0 - s4 - minus

    const a = block[i + 5]! + block[i + 3]!
    const b = block[i + 5]! - block[i + 3]!
    const c = block[i + 1]! + block[i + 7]!
    const d = block[i + 1]! - block[i + 7]!
    const odd0 = c + a
    const turned = (b + d) * DOUBLE
    const odd1 = turned - b * SUM - odd0
    const odd2 = (c - a) * ROOT - odd1
    const odd3 = turned - d * DIFFERENCE - odd2

    plane[to] = even0 + odd0
    plane[to + 7] = even0 - odd0
    plane[to + 1] = even1 + odd1
    plane[to + 6] = even1 - odd1
    plane[to + 2] = even2 + odd2
    plane[to + 5] = even2 - odd2
    plane[to + 3] = even3 + odd3
    plane[to + 4] = even3 - odd3
  }
}

function columnOfEight(block: Float64Array, x: number): void {
  const s0 = block[x]!
  const s1 = block[x + 8]!
  const s2 = block[x + 16]!
  const s3 = block[x + 24]!
  const s4 = block[x + 32]!
  const s5 = block[x + 40]!
  const s6 = block[x + 48]!
  const s7 = block[x + 56]!
  if (s1 === 0 && s2 === 0 && s3 === 0 && s4 === 0 && s5 === 0 && s6 === 0 && s7 === 0) {
    for (let i = x + 8; i < 64; i += 8) block[i] = s0
    return
  }
  const plus = s2 + s6
  const minus = (s2 - s6) * ROOT - plus
  const even0 = s0 + s4 + plus
  const even3 = s0 + s4 - plus
  const even1 = s0 - s4 + minus
  const even2 = s0 - s4 - minus

  const a = s5 + s3
  const b = s5 - s3
  const c = s1 + s7
  const d = s1 - s7
  const odd0 = c + a
  const turned = (b + d) * DOUBLE
  const odd1 = turned - b * SUM - odd0
  const odd2 = (c - a) * ROOT - odd1
  const odd3 = turned - d * DIFFERENCE - odd2

  block[x] = even0 + odd0
  block[x + 56] = even0 - odd0
  block[x + 8] = even1 + odd1
  block[x + 48] = even1 - odd1
  block[x + 16] = even2 + odd2
  block[x + 40] = even2 - odd2
  block[x + 24] = even3 + odd3
  block[x + 32] = even3 - odd3
}

function toFour(block: Float64Array, plane: Uint8ClampedArray, at: number, stride: number): void {
  for (let x = 0; x < 4; x++) {
    const s0 = block[x]!
    const s1 = block[x + 8]!
    const s2 = block[x + 16]!
    const s3 = block[x + 24]!
    const outer = s1 * COS + s3 * SIN
    const inner = s1 * SIN - s3 * COS
    block[x] = s0 + s2 + outer
    block[x + 8] = s0 - s2 + inner
    block[x + 16] = s0 - s2 - inner
    block[x + 24] = s0 + s2 - outer
  }
  for (let i = 0, to = at; i < 32; i += 8, to += stride) {
    const s0 = block[i]!
    const s1 = block[i + 1]!
    const s2 = block[i + 2]!
    const s3 = block[i + 3]!
    const outer = s1 * COS + s3 * SIN
    const inner = s1 * SIN - s3 * COS
    plane[to] = s0 + s2 + outer
    plane[to + 1] = s0 - s2 + inner
    plane[to + 2] = s0 - s2 - inner
    plane[to + 3] = s0 + s2 - outer
  }
}

function toTwo(block: Float64Array, plane: Uint8ClampedArray, at: number, stride: number): void {
  const left = block[0]! + block[8]!
  const right = block[1]! + block[9]!
  const lowLeft = block[0]! - block[8]!
  const lowRight = block[1]! - block[9]!
  plane[at] = left + right
  plane[at + 1] = left - right
  plane[at + stride] = lowLeft + lowRight
  plane[at + stride + 1] = lowLeft - lowRight
}

function toOne(block: Float64Array, plane: Uint8ClampedArray, at: number): void {
  plane[at] = block[0]!
}
