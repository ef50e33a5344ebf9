// Operations on closed outlines, which run clockwise as seen in the picture.
import { distance } from '../lines.ts'
import type { Point } from '../raster.ts'

export type Way = -1 | 1

/** The points from `from` to `to`, both included, in the direction `way` around a closed outline. */
export function stretch(outline: readonly Point[], from: number, to: number, way: Way): Point[] {
  const count = outline.length
  const points: Point[] = []
  for (let i = from; points.length < count; i = (i + way + count) % count) {
    points.push(outline[i]!)
    if (i === to) break
  }
  return points
}

/**
 * How much a line turns at a point, in radians from -π to π: the angle between the directions to and
 * from it, `reach` points away. Positive is clockwise in the picture.
 */
export function turnAt(line: readonly Point[], at: number, reach: number): number {
  const before = line[Math.max(0, at - reach)]!
  const after = line[Math.min(line.length - 1, at + reach)]!
  return turnBetween(before, line[at]!, after)
}

/** The same for a closed outline. */
export function turnOn(outline: readonly Point[], at: number, reach: number): number {
  const count = outline.length
  const before = outline[(at - reach + count) % count]!
  return turnBetween(before, outline[at]!, outline[(at + reach) % count]!)
}

function turnBetween(before: Point, here: Point, after: Point): number {
  const inX = here.x - before.x
  const inY = here.y - before.y
  const outX = after.x - here.x
  const outY = after.y - here.y
  return Math.atan2(inX * outY - inY * outX, inX * outX + inY * outY)
}

/** The lengths along a line from its start to each point. */
export function lengthsAlong(line: readonly Point[]): Float64Array {
  const lengths = new Float64Array(line.length)
  for (let i = 1; i < line.length; i++) {
    lengths[i] = lengths[i - 1]! + distance(line[i - 1]!, line[i]!)
  }
  return lengths
}

/** The weight of width against height in the search of a hem's corner. By experiment. */
export const HEM_WIDTH = 0.8

/** The index with the highest score; -1 for none. */
export function bestIndex<T>(
  items: readonly T[],
  score: (item: T, index: number) => number,
): number {
  let best = -1
  let most = -Infinity
  for (let i = 0; i < items.length; i++) {
    const value = score(items[i]!, i)
    if (value > most) {
      most = value
      best = i
    }
  }
  return best
}
