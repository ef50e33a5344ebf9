// The line across the body where one piece of clothing ends above another of the same colour.
import type { Lab } from '../oklab.ts'
import { mean } from '../plane.ts'
import type { Frame } from './frame.ts'

/** Counted as in `Frame`. */
const FROM = 0.55
const TO = 1.15
const HALF_WIDTH = 0.26
const COLUMNS = 24
const ROWS = 48

/**
 * The height, as in `Frame.down`, of the strongest line that runs across the body between ribs and
 * hips, and how much it stands out: the mean lightness difference across it less the usual one.
 */
export function findHemline(lab: Lab, frame: Frame): { down: number; strength: number } {
  const steps = differences(lab, frame)
  // The best path that ends in each cell, from left to right.
  let best = Float32Array.from({ length: ROWS }, (_, row) => steps[row * COLUMNS]!)
  let middle = Float32Array.from({ length: ROWS }, (_, row) => row)
  for (let column = 1; column < COLUMNS; column++) {
    const next = new Float32Array(ROWS)
    const nextMiddle = new Float32Array(ROWS)
    for (let row = 0; row < ROWS; row++) {
      let from = row
      if (row > 0 && best[row - 1]! > best[from]!) from = row - 1
      if (row + 1 < ROWS && best[row + 1]! > best[from]!) from = row + 1
      next[row] = best[from]! + steps[row * COLUMNS + column]!
      nextMiddle[row] = column === COLUMNS / 2 ? row : middle[from]!
    }
    best = next
    middle = nextMiddle
  }
  const most = best.indexOf(Math.max(...best))
  const usual = mean(steps)
  return {
    down: FROM + ((middle[most]! + 0.5) / ROWS) * (TO - FROM),
    strength: best[most]! / COLUMNS - usual,
  }
}

/** The mean lightness differences down the body in a grid of cells. */
function differences({ width, L }: Lab, { down, across }: Frame): Float32Array {
  const sums = new Float32Array((ROWS + 2) * COLUMNS)
  const counts = new Float32Array((ROWS + 2) * COLUMNS)
  const height = (TO - FROM) / ROWS
  for (let i = width; i < L.length; i++) {
    const row = Math.floor((down[i]! - FROM) / height) + 1
    const column = Math.floor(((across[i]! + HALF_WIDTH) / (2 * HALF_WIDTH)) * COLUMNS)
    if (row < 0 || row >= ROWS + 2 || column < 0 || column >= COLUMNS) continue
    sums[row * COLUMNS + column]! += L[i]!
    counts[row * COLUMNS + column]!++
  }
  for (let k = 0; k < sums.length; k++) {
    // Small people have cells without pixels: repeat the cell above.
    sums[k] = counts[k]! > 0 ? sums[k]! / counts[k]! : (sums[k - COLUMNS] ?? 0)
  }
  const steps = new Float32Array(ROWS * COLUMNS)
  for (let k = 0; k < steps.length; k++) steps[k] = Math.abs(sums[k]! - sums[k + 2 * COLUMNS]!)
  return steps
}
