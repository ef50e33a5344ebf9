// Lines of points.
import { clamp, lerp, type Point } from './raster.ts'

/** The same line with `count` points at equal distances. */
export function resample(line: readonly Point[], count: number): Point[] {
  const lengths = [0]
  for (let i = 1; i < line.length; i++) {
    lengths.push(lengths[i - 1]! + distance(line[i - 1]!, line[i]!))
  }
  const total = lengths[lengths.length - 1]!
  let at = 0
  return Array.from({ length: count }, (_, i) => {
    const wanted = (total * i) / Math.max(1, count - 1)
    while (at < line.length - 2 && lengths[at + 1]! < wanted) at++
    const from = line[at]!
    const to = line[Math.min(at + 1, line.length - 1)]!
    const span = lengths[Math.min(at + 1, line.length - 1)]! - lengths[at]!
    return between(from, to, span > 0 ? (wanted - lengths[at]!) / span : 0)
  })
}

export const distance = (one: Point, other: Point) => Math.hypot(one.x - other.x, one.y - other.y)

export const middle = (one: Point, other: Point): Point => ({
  x: (one.x + other.x) / 2,
  y: (one.y + other.y) / 2,
})

/** The point at a distance from another, along a direction of length 1. */
export const pointBeside = (point: Point, direction: Point, away: number): Point => ({
  x: point.x + direction.x * away,
  y: point.y + direction.y * away,
})

/** The direction from one point to another, of length 1. */
export function directionOf(from: Point, to: Point): Point {
  const length = Math.max(1e-6, distance(from, to))
  return { x: (to.x - from.x) / length, y: (to.y - from.y) / length }
}

/** The share of a segment, from 0 to 1, that is nearest to a point; 0 for a segment without length. */
export function shareAlong(from: Point, to: Point, point: Point): number {
  const dx = to.x - from.x
  const dy = to.y - from.y
  const squared = dx * dx + dy * dy
  if (squared === 0) return 0
  return clamp(((point.x - from.x) * dx + (point.y - from.y) * dy) / squared, 0, 1)
}

export const between = (from: Point, to: Point, share: number): Point => ({
  x: lerp(from.x, to.x, share),
  y: lerp(from.y, to.y, share),
})

export function lengthOf(line: readonly Point[]): number {
  let sum = 0
  for (let i = 1; i < line.length; i++) sum += distance(line[i - 1]!, line[i]!)
  return sum
}

/** The area of a polygon. */
export function areaWithin(points: readonly Point[]): number {
  let sum = 0
  for (const [i, { x, y }] of points.entries()) {
    const next = points[(i + 1) % points.length]!
    sum += x * next.y - next.x * y
  }
  return Math.abs(sum) / 2
}
