// What a border between two neighbouring pixels costs: little where the colour changes.
import type { Lab } from '../oklab.ts'
import { DIRECTIONS } from './expansion.ts'

/**
 * For each pixel and each of the DIRECTIONS; 0 where neither pixel is listed.
 * @param strength the cost within a flat area
 */
export function borderCosts(
  { width, height, L, a, b }: Lab,
  strength: number,
  pixels: Int32Array,
): Float32Array {
  const squares = new Float32Array(width * height * 4)
  let sum = 0
  let count = 0
  for (const [d, [dx, dy]] of DIRECTIONS.entries()) {
    const step = dy * width + dx
    for (let y = 0; y + dy < height; y++) {
      for (let x = Math.max(0, -dx); x + dx < width && x < width; x++) {
        const i = y * width + x
        const dL = L[i]! - L[i + step]!
        const da = a[i]! - a[i + step]!
        const db = b[i]! - b[i + step]!
        const square = dL * dL + 3 * (da * da + db * db)
        squares[i * 4 + d] = square
        sum += square < 0.01 ? square : 0.01
        count++
      }
    }
  }
  // Twice the mean, as usual, but never so small that noise makes edges.
  const scale = 1 / Math.max(4e-4, (2 * sum) / Math.max(1, count))
  const costs = new Float32Array(squares.length)
  const fill = (i: number, d: number) => {
    const at = i * 4 + d
    if (i < 0 || costs[at] !== 0) return
    const slanted = d === 1 || d === 3
    costs[at] =
      strength * (slanted ? Math.SQRT1_2 : 1) * (0.08 + 0.92 * Math.exp(-squares[at]! * scale))
  }
  const steps = DIRECTIONS.map(([dx, dy]) => dy * width + dx)
  for (let k = 0; k < pixels.length; k++) {
    for (let d = 0; d < 4; d++) {
      fill(pixels[k]!, d)
      fill(pixels[k]! - steps[d]!, d)
    }
  }
  return costs
}
