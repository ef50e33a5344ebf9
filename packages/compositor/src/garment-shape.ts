// Finds the landmarks of a cut-out garment from its silhouette: neck, shoulders, armpits, sleeves,
// sides and hem. Left and right are as in the picture.
import { distance, nearestIndex, resample, smoothLine, traceOutline } from './outline.ts'
import {
  boundsOf,
  ridgeOf,
  runAt,
  runsOf,
  smoothSeries,
  topOf,
  type Bounds,
  type Run,
} from './profile.ts'
import { clamp, type Point } from './raster.ts'
import type { Mask } from './regions.ts'

/** A limb's two edges from the body outwards, with equally many points. */
export interface Tube {
  outer: Point[]
  inner: Point[]
}

export interface TorsoSide {
  neck: Point
  shoulder: Point
  ridge: Point[]
  armpit: Point
  /** The body's edge on each row from the armpit to the hem, one x per row. */
  edge: Float64Array
  /** Null for a garment without sleeves. */
  sleeve: Tube | null
}

export interface GarmentShape {
  left: TorsoSide
  right: TorsoSide
  /** The row both sides' edges begin with. */
  chestY: number
  hemY: number
  /** How far the front neckline hangs below the neck points; 0 for a closed collar. */
  neckDepth: number
}

const SLEEVE_POINTS = 24

/** @returns null when the silhouette is not a garment for the torso */
export function readGarment(mask: Mask): GarmentShape | null {
  const bounds = boundsOf(mask)
  if (!bounds) return null
  const height = bounds.bottom - bounds.top
  const width = bounds.right - bounds.left
  if (height < 12 || width < 8 || height > width * 6 || width > height * 4) return null
  const axis = axisOf(mask, bounds)
  const rows = rowsOf(mask, axis)
  const armpits = { left: armpitOf(rows, bounds, axis, -1), right: armpitOf(rows, bounds, axis, 1) }
  const chestY = Math.round((armpits.left.y + armpits.right.y) / 2)
  const half = (armpits.right.x - armpits.left.x) / 2
  const hemY = hemOf(mask, axis, half, chestY)
  if (hemY - chestY < height * 0.12) return null
  const necks = neckOf(mask, axis, half, bounds)
  const outline = traceOutline(mask)
  const side = (way: -1 | 1): TorsoSide => {
    const name = way < 0 ? 'left' : 'right'
    const found = armpits[name]
    const shoulder = shoulderOf(mask, found, axis, half, bounds, way)
    const edge = edgeOf(rows, axis, found, chestY, hemY, name)
    const armpit = { x: edge[0]!, y: chestY }
    return {
      neck: necks[name],
      shoulder,
      ridge: ridgeOf(mask, necks[name], shoulder, half * 0.2),
      armpit,
      edge,
      sleeve: found.sleeved ? sleeveOf(outline, shoulder, found, way) : null,
    }
  }
  return { left: side(-1), right: side(1), chestY, hemY, neckDepth: necks.depth }
}

/** The column of symmetry: the median centre of the rows. */
function axisOf(mask: Mask, bounds: Bounds): number {
  const middles: number[] = []
  for (let y = bounds.top; y < bounds.bottom; y++) {
    const runs = runsOf(mask, y, 2)
    if (runs.length > 0) middles.push((runs[0]!.left + runs[runs.length - 1]!.right) / 2)
  }
  middles.sort((one, other) => one - other)
  return middles[Math.floor(middles.length / 2)]!
}

interface Row {
  body: Run | undefined
  runs: Run[]
}

function rowsOf(mask: Mask, axis: number): Row[] {
  return Array.from({ length: mask.height }, (_, y) => {
    const runs = runsOf(mask, y, Math.max(2, Math.round(mask.width * 0.012)))
    return { runs, body: runAt(runs, axis, mask.width * 0.2) }
  })
}

interface Armpit extends Point {
  /** Where sleeve and body come apart, at or below the armpit. */
  gapY: number
  sleeved: boolean
}

function armpitOf(rows: Row[], bounds: Bounds, axis: number, way: -1 | 1): Armpit {
  const height = bounds.bottom - bounds.top
  const edgeAt = (y: number) => {
    const body = rows[y]?.body
    return body ? (way < 0 ? axis - body.left : body.right - axis) : 0
  }
  // A hanging sleeve leaves a gap beside the body that is open at the bottom.
  let gap = 0
  for (let y = bounds.top + Math.round(height * 0.12); y < bounds.bottom; y++) {
    const { body, runs } = rows[y]!
    // Above the neckline the two straps are side by side, too.
    const extent = runs.length > 0 ? runs[runs.length - 1]!.right - runs[0]!.left : 0
    const whole =
      body && body.left <= axis && body.right > axis && body.right - body.left > extent * 0.3
    const beside =
      whole && runs.some((run) => (way < 0 ? run.right <= body.left : run.left >= body.right))
    gap = beside ? gap + 1 : 0
    if (gap >= Math.max(2, height * 0.015)) {
      const y0 = y - gap + 1
      // When a sleeve is close to the body, its gap begins far below the armpit.
      const highest = bounds.top + height * 0.37
      return {
        x: axis + way * edgeAt(Math.min(bounds.bottom - 1, y0 + 1)),
        y: Math.min(y0, highest),
        gapY: y0,
        sleeved: true,
      }
    }
  }
  // With a sleeve that stands out, the width jumps, seen from below.
  const step = Math.max(2, Math.round(height * 0.025))
  for (let y = bounds.bottom - 1 - step; y > bounds.top + height * 0.2; y--) {
    if (y < bounds.top + height * 0.7 && edgeAt(y - step) - edgeAt(y) > step * 1.6) {
      return { x: axis + way * edgeAt(y), y, gapY: y, sleeved: true }
    }
  }
  // Without sleeves the armhole ends where the body reaches its full width.
  const reachAt = (y: number) => {
    const runs = rows[y]?.runs ?? []
    if (runs.length === 0) return 0
    return way < 0 ? axis - runs[0]!.left : runs[runs.length - 1]!.right - axis
  }
  const lowest = Math.floor(bounds.top + height * 0.38)
  let widest = 0
  for (let y = bounds.top; y < lowest; y++) widest = Math.max(widest, reachAt(y))
  let y = bounds.top
  while (y < lowest && reachAt(y) < widest * 0.97) y++
  y = clamp(y, bounds.top + height * 0.14, lowest)
  return { x: axis + way * reachAt(Math.round(y)), y: Math.round(y), gapY: y, sleeved: false }
}

/** The lowest row that the cloth reaches over its whole middle; ignores the corners. */
function hemOf(mask: Mask, axis: number, half: number, chestY: number): number {
  let hem = mask.height
  for (let x = Math.round(axis - half * 0.6); x <= axis + half * 0.6; x++) {
    let y = mask.height - 1
    while (y > chestY && mask.data[y * mask.width + x] !== 1) y--
    hem = Math.min(hem, y + 1)
  }
  return hem
}

function edgeOf(
  rows: Row[],
  axis: number,
  armpit: Armpit,
  from: number,
  to: number,
  side: keyof Run,
): Float64Array {
  const raw = Float64Array.from({ length: to - from }, (_, i) => {
    const { body, runs } = rows[from + i]!
    if (!body) return NaN
    // Between straps there is no body yet, so the outermost edge is used.
    const whole = body.left <= axis && body.right > axis
    return (whole ? body : side === 'left' ? runs[0]! : runs[runs.length - 1]!)[side]
  })
  // Where the sleeve touches the body there is no edge, and just below it is unreliable.
  const settle = Math.min(
    raw.length - 1,
    Math.max(0, armpit.gapY - from) + Math.round(raw.length * 0.04),
  )
  for (let i = 0; i < settle; i++) {
    const clings = from + i < armpit.gapY
    if (clings || Math.abs((raw[i] ?? NaN) - armpit.x) > raw.length * 0.08) raw[i] = NaN
  }
  return smoothSeries(raw, Math.max(1, Math.round(raw.length * 0.02)))
}

/** The two points where the shoulders meet the neck, and how deep the opening between them is. */
function neckOf(mask: Mask, axis: number, half: number, bounds: Bounds) {
  const height = bounds.bottom - bounds.top
  const highest = (way: -1 | 1): Point => {
    let best = { x: axis + way * half * 0.4, y: Infinity }
    for (let off = half * 0.16; off < half * 0.72; off += 0.5) {
      const y = topOf(mask, axis + way * off)
      // The innermost of the highest points, where the collar begins.
      if (y >= 0 && y < best.y - height * 0.008) best = { x: axis + way * off, y }
    }
    return Number.isFinite(best.y) ? best : { x: best.x, y: bounds.top }
  }
  const left = highest(-1)
  const right = highest(1)
  const middle = topOf(mask, axis)
  const depth = middle < 0 ? 0 : middle - (left.y + right.y) / 2
  if (depth > height * 0.02) return { left, right, depth }
  // A filled neck has no corner. A neck has about this share of the shoulder width.
  const standard = (way: -1 | 1): Point => {
    const x = axis + way * half * 0.36
    return { x, y: Math.max(bounds.top, topOf(mask, x)) }
  }
  return { left: standard(-1), right: standard(1), depth: 0 }
}

function shoulderOf(
  mask: Mask,
  armpit: Armpit,
  axis: number,
  half: number,
  bounds: Bounds,
  way: -1 | 1,
): Point {
  if (armpit.sleeved) {
    const x = armpit.x - way * half * 0.05
    return { x, y: Math.max(bounds.top, topOf(mask, x)) }
  }
  // The outer end of the strap: the last point near the highest row.
  const limit = bounds.top + (armpit.y - bounds.top) * 0.3
  let x = axis + way * half * 0.3
  for (let off = half * 0.2; off <= half * 1.1; off += 0.5) {
    const y = topOf(mask, axis + way * off)
    if (y >= 0 && y <= limit) x = axis + way * off
  }
  return { x, y: Math.max(bounds.top, topOf(mask, x - way)) }
}

/** Follows the outline from the shoulder around the cuff to the armpit. */
function sleeveOf(outline: Point[], shoulder: Point, armpit: Armpit, way: -1 | 1): Tube | null {
  const from = nearestIndex(outline, shoulder)
  const to = nearestIndex(outline, { x: armpit.x, y: armpit.gapY })
  const count = outline.length
  const path: Point[] = []
  // The outline runs clockwise: on the right from shoulder to armpit, on the left backwards.
  for (let i = from; i !== to && path.length < count; i = (i + way + count) % count)
    path.push(outline[i]!)
  path.push(outline[to]!)
  if (path.length < 8) return null
  const root = { x: (shoulder.x + armpit.x) / 2, y: (shoulder.y + armpit.y) / 2 }
  const reach = path.map((point) => distance(point, root))
  const far = Math.max(...reach)
  // Direction of the sleeve's last part, from its middle to its tip.
  const tips = path.filter((_, i) => reach[i]! > far * 0.93)
  const tip = mean(tips)
  const mids = path.filter((_, i) => reach[i]! > far * 0.5 && reach[i]! < far * 0.72)
  const middle = mids.length > 1 ? mean(mids) : root
  const span = distance(tip, middle) || 1
  const along = { x: (tip.x - middle.x) / span, y: (tip.y - middle.y) / span }
  const corner = (turn: 1 | -1) => {
    let best = 0
    let most = -Infinity
    path.forEach((point, i) => {
      const ahead = (point.x - root.x) * along.x + (point.y - root.y) * along.y
      const aside = (point.x - root.x) * -along.y * turn + (point.y - root.y) * along.x * turn
      const score = ahead + aside * 0.8
      if (score > most && reach[i]! > far * 0.6) {
        most = score
        best = i
      }
    })
    return best
  }
  const corners = [corner(1), corner(-1)].sort((one, other) => one - other)
  const first = clamp(corners[0]!, 2, path.length - 4)
  const last = clamp(corners[1]!, first + 1, path.length - 3)
  const outer = [shoulder, ...path.slice(1, first + 1)]
  const soft = Math.max(2, Math.round(far * 0.12))
  const inner = [armpit, ...path.slice(last, -1).reverse()]
  return {
    outer: resample(smoothLine(outer, soft), SLEEVE_POINTS),
    inner: resample(smoothLine(inner, soft), SLEEVE_POINTS),
  }
}

const mean = (points: readonly Point[]): Point => ({
  x: points.reduce((sum, point) => sum + point.x, 0) / points.length,
  y: points.reduce((sum, point) => sum + point.y, 0) / points.length,
})
