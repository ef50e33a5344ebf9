// Outlines as lists of points.
import { lerp, type Point } from '../raster.ts'
import type { Mask } from './regions.ts'

/** Steps around a pixel, clockwise from the left. */
const AROUND = [
  [-1, 0],
  [-1, -1],
  [0, -1],
  [1, -1],
  [1, 0],
  [1, 1],
  [0, 1],
  [-1, 1],
] as const

/** Traces clockwise the region with the first set pixel in reading order. */
export function traceOutline({ width, height, data }: Mask): Point[] {
  const first = data.indexOf(1)
  if (first < 0) return []
  const start = { x: first % width, y: Math.floor(first / width) }
  const points: Point[] = []
  let { x, y } = start
  let from = 0
  for (let steps = 0; steps < 4 * (width + height) + data.length; steps++) {
    points.push({ x: x + 0.5, y: y + 0.5 })
    let turned = -1
    for (let turn = 1; turn <= 8; turn++) {
      const way = (from + turn) % 8
      const nextX = x + AROUND[way]![0]
      const nextY = y + AROUND[way]![1]
      if (nextX < 0 || nextY < 0 || nextX >= width || nextY >= height) continue
      if (data[nextY * width + nextX] === 1) {
        turned = way
        break
      }
    }
    if (turned < 0) break
    x += AROUND[turned]![0]
    y += AROUND[turned]![1]
    // Continue with the neighbour just before the previous pixel.
    from = (turned + 5) % 8
    if (x === start.x && y === start.y) break
  }
  return points
}

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

/** Rounds a line with fixed ends by a running mean. */
export function smoothLine(line: readonly Point[], reach: number): Point[] {
  return line.map((point, i) => {
    const span = Math.min(reach, i, line.length - 1 - i)
    if (span === 0) return point
    let x = 0
    let y = 0
    for (let k = i - span; k <= i + span; k++) {
      x += line[k]!.x
      y += line[k]!.y
    }
    return { x: x / (2 * span + 1), y: y / (2 * span + 1) }
  })
}

export const distance = (one: Point, other: Point) => Math.hypot(one.x - other.x, one.y - other.y)

export const between = (from: Point, to: Point, share: number): Point => ({
  x: lerp(from.x, to.x, share),
  y: lerp(from.y, to.y, share),
})

export function lengthOf(line: readonly Point[]): number {
  let sum = 0
  for (let i = 1; i < line.length; i++) sum += distance(line[i - 1]!, line[i]!)
  return sum
}

/** The index of the point of `line` nearest to `point`. */
export function nearestIndex(line: readonly Point[], point: Point): number {
  let best = 0
  for (let i = 1; i < line.length; i++) {
    if (distance(line[i]!, point) < distance(line[best]!, point)) best = i
  }
  return best
}
