// What a border between two neighbouring pixels costs: little where the colour changes.
import type { Lab } from '../oklab.ts'
import { DIRECTIONS } from './expansion.ts'

/** For each pixel and each of the DIRECTIONS. `strength` is the cost within a flat area. */
export function borderCosts({ width, height, L, a, b }: Lab, strength: number): Float32Array {
  const squares = new Float32Array(width * height * 4)
  let [sum, count] = [0, 0]
  for (const [d, [dx, dy]] of DIRECTIONS.entries()) {
    for (let y = 0; y + dy < height; y++) {
      for (let x = Math.max(0, -dx); x + dx < width && x < width; x++) {
        const i = y * width + x
        const j = i + dy * width + dx
        const square = (L[i]! - L[j]!) ** 2 + 3 * ((a[i]! - a[j]!) ** 2 + (b[i]! - b[j]!) ** 2)
        squares[i * 4 + d] = square
        sum += Math.min(square, 0.01)
        count++
      }
    }
  }
  // Twice the mean, as usual, but never so small that noise makes edges.
  const scale = 1 / Math.max(4e-4, (2 * sum) / Math.max(1, count))
  for (let k = 0; k < squares.length; k++) {
    const slanted = k % 4 === 1 || k % 4 === 3
    squares[k] =
      strength * (slanted ? Math.SQRT1_2 : 1) * (0.08 + 0.92 * Math.exp(-squares[k]! * scale))
  }
  return squares
}
