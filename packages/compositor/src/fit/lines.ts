// Lines of points.
import { clamp, lerp, type Point } from '../raster.ts'

export const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y)

export function lengthOf(line: readonly Point[]): number {
  let length = 0
  for (let i = 1; i < line.length; i++) length += distance(line[i - 1]!, line[i]!)
  return length
}

/** `count` points at equal distances along a line. */
export function resample(line: readonly Point[], count: number): Point[] {
  const total = lengthOf(line)
  const result: Point[] = []
  let index = 0
  let passed = 0
  for (let i = 0; i < count; i++) {
    const wanted = (total * i) / (count - 1)
    while (index < line.length - 2 && passed + distance(line[index]!, line[index + 1]!) < wanted) {
      passed += distance(line[index]!, line[index + 1]!)
      index++
    }
    const from = line[index]!
    const to = line[Math.min(index + 1, line.length - 1)]!
    const step = distance(from, to)
    const share = step === 0 ? 0 : clamp((wanted - passed) / step, 0, 1)
    result.push({ x: lerp(from.x, to.x, share), y: lerp(from.y, to.y, share) })
  }
  return result
}
