// The forward discrete cosine transform of a block (ITU-T T.81, A.3.3), by the method of Arai, Agui and
// Nakajima: 5 multiplications for each row and column.

const HALF_ROOT = Math.SQRT1_2
const SIXTH = Math.sin(Math.PI / 8)
const DIFFERENCE = Math.cos(Math.PI / 8) - SIXTH
const SUM = Math.cos(Math.PI / 8) + SIXTH

/** Transforms 64 samples in place. Coefficients come out scaled by `TRANSFORM_SCALE` in both directions. */
export function forwardTransform(block: Float64Array): void {
  for (let at = 0; at < 64; at += 8) transformLine(block, at, 1)
  for (let at = 0; at < 8; at++) transformLine(block, at, 8)
}

function transformLine(block: Float64Array, at: number, step: number): void {
  const a0 = block[at]!
  const a1 = block[at + step]!
  const a2 = block[at + 2 * step]!
  const a3 = block[at + 3 * step]!
  const a4 = block[at + 4 * step]!
  const a5 = block[at + 5 * step]!
  const a6 = block[at + 6 * step]!
  const a7 = block[at + 7 * step]!

  const outer = a0 + a7 + (a3 + a4)
  const inner = a1 + a6 + (a2 + a5)
  const outerDifference = a0 + a7 - (a3 + a4)
  const innerDifference = a1 + a6 - (a2 + a5)
  const turned = (innerDifference + outerDifference) * HALF_ROOT
  block[at] = outer + inner
  block[at + 4 * step] = outer - inner
  block[at + 2 * step] = outerDifference + turned
  block[at + 6 * step] = outerDifference - turned

  const b0 = a3 - a4 + (a2 - a5)
  const b1 = a2 - a5 + (a1 - a6)
  const b2 = a1 - a6 + (a0 - a7)
  const common = (b0 - b2) * SIXTH
  const low = DIFFERENCE * b0 + common
  const high = SUM * b2 + common
  const middle = b1 * HALF_ROOT
  const plus = a0 - a7 + middle
  const minus = a0 - a7 - middle
  block[at + step] = plus + high
  block[at + 3 * step] = minus - low
  block[at + 5 * step] = minus + low
  block[at + 7 * step] = plus - high
}
