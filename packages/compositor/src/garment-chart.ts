// Coordinates on cloth: the same pair names the same point of a garment in its product photo and on
// the person, so that two charts define a warp.
import type { Sleeve, UpperSide } from './garment.ts'
import { between, directionOf, distance, pointBeside } from './lines.ts'
import { clamp, lerp, type Point } from './raster.ts'

export type Chart = (across: number, along: number) => Point

/** The landmarks that span a chart: those of a product photo, or where they lie on a person. */
export interface UpperShape {
  left: UpperSide
  right: UpperSide
  /**
   * How much more the middle of a row is enlarged than the row as a whole: cloth turns away from the
   * viewer at the sides of a round body. 0 for none. `along` is as in the chart.
   */
  bulge?: (along: number) => number
  /** How far the middle of the left and the right shoulder is off the line between its ends. */
  arch?: { left: Point; right: Point }
  /** How far the middle of the hem is below its ends: the edge of a round body seen from above. */
  sag?: number
}

/** The point at a share of a line whose points are evenly spaced. Beyond its ends it continues straight. */
export function pointOn(line: readonly Point[], share: number): Point {
  if (line.length === 1) return line[0]!
  const at = share * (line.length - 1)
  const index = clamp(Math.floor(at), 0, line.length - 2)
  return between(line[index]!, line[index + 1]!, at - index)
}

/**
 * `across` runs from the left edge (0) to the right one (1). `along` runs from the neck points (0) over
 * the shoulders (1) and the armpits (2) to the hem (3); a collar is above 0.
 */
export function torsoChart({ left, right, bulge, arch, sag = 0 }: UpperShape): Chart {
  const edge = (side: UpperSide, along: number, rise: Point, bow?: Point): Point => {
    if (along <= 0) return { x: side.neck.x + along * rise.x, y: side.neck.y + along * rise.y }
    if (along <= 1) {
      const point = between(side.neck, side.shoulder, along)
      const height = bow ? 4 * along * (1 - along) : 0
      return bow ? { x: point.x + height * bow.x, y: point.y + height * bow.y } : point
    }
    if (along <= 2) return between(side.shoulder, side.armpit, along - 1)
    return pointOn(side.side, along - 2)
  }
  const middle = (one: Point, other: Point) => between(one, other, 0.5)
  const top = middle(left.neck, right.neck)
  const chest = middle(left.armpit, right.armpit)
  const rise = { x: chest.x - top.x, y: chest.y - top.y }
  return (across, along) => {
    const share = bulge ? curved(across, bulge(along)) : across
    const point = between(
      edge(left, along, rise, arch?.left),
      edge(right, along, rise, arch?.right),
      share,
    )
    if (along > 2) point.y += sag * (along - 2) * (1 - (2 * share - 1) ** 2)
    return point
  }
}

/** A monotone cubic through (0, 0), (0.5, 0.5) and (1, 1), with the slope 1 + `amount` in the middle. */
function curved(across: number, amount: number): number {
  if (across <= 0 || across >= 1) return across
  const aside = 2 * across - 1
  return ((1 + amount) * aside - amount * aside ** 3 + 1) / 2
}

/** `across` runs from the outer edge (0) to the inner one (1), `along` from the armhole (0) to the cuff (1). */
export function tubeChart({ outer, inner }: Sleeve): Chart {
  return (across, along) => between(pointOn(outer, along), pointOn(inner, along), across)
}

/** The rows whose middles are measured: enough for the bumps of a side. */
const ROWS = 96

/**
 * The chart with the middles of its rows, from 0 to `end`, on a parabola through the first and the last: what is
 * between the sides of cloth does not follow their bumps. The sides stay.
 */
export function straightened(chart: Chart, end: number): Chart {
  const [top, hem] = [chart(0.5, 0), chart(0.5, end)]
  const length = Math.max(1, distance(top, hem))
  const down = directionOf(top, hem)
  const aside = { x: -down.y, y: down.x }
  const rows = Array.from({ length: ROWS + 1 }, (_, row) => {
    const point = chart(0.5, (end * row) / ROWS)
    const [x, y] = [point.x - top.x, point.y - top.y]
    const share = (x * down.x + y * down.y) / length
    return { off: x * aside.x + y * aside.y, height: 4 * share * (1 - share) }
  })
  let [products, squares] = [0, 0]
  for (const { off, height } of rows) {
    products += off * height
    squares += height ** 2
  }
  const bow = products / Math.max(1e-6, squares)
  const shifts = rows.map(({ off, height }) => bow * height - off)
  return (across, along) => {
    const point = chart(across, along)
    if (along <= 0 || along >= end || across <= 0 || across >= 1) return point
    const at = (along / end) * ROWS
    const row = Math.floor(at)
    const shift = lerp(shifts[row]!, shifts[row + 1]!, at - row)
    return pointBeside(point, aside, 4 * across * (1 - across) * shift)
  }
}
