// The outline of a mask.
import type { Point } from '../raster.ts'
import type { Mask } from './mask.ts'

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
