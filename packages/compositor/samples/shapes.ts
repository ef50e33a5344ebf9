// Signed distance functions that the figure and the garments are built from.
import { clamp } from '../src/raster.ts'
import type { Shape } from './canvas.ts'

export type Point = readonly [x: number, y: number]

/** Reads points written as "x y, x y". */
export const pointsOf = (text: string): Point[] =>
  text.split(', ').map((pair): Point => {
    const [x, y] = pair.split(' ').map(Number)
    return [x!, y!]
  })

/** A limb: a capsule whose radius changes from one end to the other. */
export function limb(from: Point, to: Point, fromRadius: number, toRadius: number): Shape {
  const dx = to[0] - from[0]
  const dy = to[1] - from[1]
  const lengthSquared = dx * dx + dy * dy || 1
  return (x, y) => {
    const along = clamp(((x - from[0]) * dx + (y - from[1]) * dy) / lengthSquared, 0, 1)
    const distance = Math.hypot(x - from[0] - along * dx, y - from[1] - along * dy)
    return distance - (fromRadius + (toRadius - fromRadius) * along)
  }
}

export function ellipse(centre: Point, radiusX: number, radiusY: number): Shape {
  return (x, y) => {
    const u = (x - centre[0]) / radiusX
    const v = (y - centre[1]) / radiusY
    const radius = Math.hypot(u, v)
    const slope = Math.hypot(u / radiusX, v / radiusY)
    return slope === 0 ? -Math.min(radiusX, radiusY) : (radius * (radius - 1)) / slope
  }
}

/** A closed polygon; distances are exact. */
export function polygon(points: readonly Point[]): Shape {
  return (x, y) => {
    let nearest = Infinity
    let inside = false
    for (let i = 0, j = points.length - 1; i < points.length; j = i++) {
      const a = points[i]!
      const b = points[j]!
      const ex = b[0] - a[0]
      const ey = b[1] - a[1]
      const along = clamp(((x - a[0]) * ex + (y - a[1]) * ey) / (ex * ex + ey * ey || 1), 0, 1)
      const px = x - a[0] - along * ex
      const py = y - a[1] - along * ey
      nearest = Math.min(nearest, px * px + py * py)
      if (a[1] > y !== b[1] > y && x < ((b[0] - a[0]) * (y - a[1])) / (b[1] - a[1]) + a[0]) {
        inside = !inside
      }
    }
    return inside ? -Math.sqrt(nearest) : Math.sqrt(nearest)
  }
}

export const union =
  (...shapes: Shape[]): Shape =>
  (x, y) => {
    let nearest = Infinity
    for (const shape of shapes) nearest = Math.min(nearest, shape(x, y))
    return nearest
  }

export const subtract =
  (from: Shape, taken: Shape): Shape =>
  (x, y) =>
    Math.max(from(x, y), -taken(x, y))

export const intersect =
  (one: Shape, other: Shape): Shape =>
  (x, y) =>
    Math.max(one(x, y), other(x, y))

/** A union whose inner corners are rounded with about this radius. */
export const weld =
  (radius: number, one: Shape, other: Shape): Shape =>
  (x, y) => {
    const a = one(x, y)
    const b = other(x, y)
    const h = Math.max(radius - Math.abs(a - b), 0) / radius
    return Math.min(a, b) - (h * h * radius) / 4
  }

/** A smooth closed curve through points (Catmull-Rom), as a polygon of `steps` pieces a span. */
export function curve(points: readonly Point[], steps = 6): Point[] {
  const count = points.length
  const at = (index: number) => points[(index + count) % count]!
  const result: Point[] = []
  for (let i = 0; i < count; i++) {
    for (let step = 0; step < steps; step++) {
      result.push(between(at(i - 1), at(i), at(i + 1), at(i + 2), step / steps))
    }
  }
  return result
}

function between(a: Point, b: Point, c: Point, d: Point, t: number): Point {
  const axis = (p: number, q: number, r: number, s: number) =>
    q + 0.5 * t * (r - p + t * (2 * p - 5 * q + 4 * r - s + t * (3 * (q - r) + s - p)))
  return [axis(a[0], b[0], c[0], d[0]), axis(a[1], b[1], c[1], d[1])]
}

/** Mirrors the right half of an outline (from top to bottom) into a whole one about x = `axis`. */
export const mirrored = (axis: number, half: readonly Point[]): Point[] => [
  ...half.map(([x, y]): Point => [axis + x, y]),
  ...half.map(([x, y]): Point => [axis - x, y]).reverse(),
]
