// Lines of points.
import { lerp, type Point } from './raster.ts'

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
