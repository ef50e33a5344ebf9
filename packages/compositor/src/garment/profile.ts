// Reads a silhouette row by row: the runs of set pixels on each row.
import { clamp, lerp, type Point } from '../raster.ts'
import type { Mask } from './regions.ts'

export interface Run {
  left: number
  /** One past the last pixel. */
  right: number
}

/** The runs of one row, from left to right. Skips runs shorter than `shortest`. */
export function runsOf(mask: Mask, y: number, shortest = 1): Run[] {
  const { width, data } = mask
  const runs: Run[] = []
  let start = -1
  for (let x = 0; x <= width; x++) {
    const set = x < width && data[y * width + x] === 1
    if (set && start < 0) start = x
    if (!set && start >= 0) {
      if (x - start >= shortest) runs.push({ left: start, right: x })
      start = -1
    }
  }
  return runs
}

/** The run at column x, or the nearest one within `reach`. */
export function runAt(runs: readonly Run[], x: number, reach = 0): Run | undefined {
  let best: Run | undefined
  let bestGap = Infinity
  for (const run of runs) {
    const gap = x < run.left ? run.left - x : x > run.right ? x - run.right : 0
    if (gap < bestGap) {
      best = run
      bestGap = gap
    }
  }
  return bestGap <= reach ? best : undefined
}

export interface Bounds {
  left: number
  top: number
  right: number
  bottom: number
}

/** The bounding box; null for an empty mask. */
export function boundsOf({ width, height, data }: Mask): Bounds | null {
  const bounds = { left: width, top: height, right: 0, bottom: 0 }
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      if (data[at] === 0) continue
      bounds.left = Math.min(bounds.left, x)
      bounds.right = Math.max(bounds.right, x + 1)
      bounds.top = Math.min(bounds.top, y)
      bounds.bottom = y + 1
    }
  }
  return bounds.right > bounds.left ? bounds : null
}

/** The first row set in column x, looking down from `from`; -1 for none. */
export function topOf({ width, height, data }: Mask, x: number, from = 0): number {
  const column = Math.min(width - 1, Math.max(0, Math.floor(x)))
  for (let y = from; y < height; y++) if (data[y * width + column] === 1) return y
  return -1
}

const RIDGE_POINTS = 13

/**
 * The top of the outline between two points, at most `slack` above or below the straight line:
 * anything further away is hair or a hood.
 */
export function ridgeOf(mask: Mask, from: Point, to: Point, slack: number): Point[] {
  const first = Math.max(0, Math.floor(Math.min(from.y, to.y) - slack))
  return Array.from({ length: RIDGE_POINTS }, (_, i) => {
    const share = i / (RIDGE_POINTS - 1)
    const x = lerp(from.x, to.x, share)
    const straight = lerp(from.y, to.y, share)
    if (i === 0 || i === RIDGE_POINTS - 1) return { x, y: straight }
    const top = topOf(mask, x, first)
    const stray = top <= first || Math.abs(top - straight) > slack
    return { x, y: stray ? straight : clamp(top, straight - slack, straight + slack) }
  })
}

/** A running median, then a running mean. Ignores NaN; fills gaps from the nearest value. */
export function smoothSeries(values: Float64Array, reach: number): Float64Array {
  const filled = fillGaps(values)
  const steady = filled.map((_, i) => {
    const near = filled.slice(Math.max(0, i - reach), i + reach + 1).sort()
    return near[Math.floor(near.length / 2)]!
  })
  return steady.map((_, i) => {
    const near = steady.subarray(Math.max(0, i - reach), i + reach + 1)
    return near.reduce((sum, value) => sum + value, 0) / near.length
  })
}

function fillGaps(values: Float64Array): Float64Array {
  const known: number[] = []
  values.forEach((value, i) => {
    if (!Number.isNaN(value)) known.push(i)
  })
  if (known.length === 0) return values.map(() => 0)
  let next = 0
  return values.map((value, i) => {
    if (!Number.isNaN(value)) return value
    while (next < known.length && known[next]! < i) next++
    const after = known[Math.min(next, known.length - 1)]!
    const before = known[Math.max(0, next - 1)]!
    if (i <= before) return values[before]!
    if (i >= after) return values[after]!
    const share = (i - before) / (after - before)
    return values[before]! * (1 - share) + values[after]! * share
  })
}
