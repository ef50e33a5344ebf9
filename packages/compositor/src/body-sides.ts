// Reads the two sides of a person below the neck from the silhouette's rows: shoulder, armpit, the
// torso's edge and the arm.
import type { Tube } from './garment-shape.ts'
import { resample, smoothLine } from './outline.ts'
import { runAt, smoothSeries, type Run } from './profile.ts'
import { clamp, type Point } from './raster.ts'

const ARM_POINTS = 32

export interface Search {
  axis: number
  neckY: number
  unit: number
  rows: Run[][]
  bottom: number
}

export interface SideFound {
  neck: Point
  shoulder: Point
  armpitY: number
  /** On each row from the neck down, the silhouette's outer edge on this side. */
  outer: Float64Array
  /** Where a gap shows between arm and torso: the torso's edge and the arm's inner edge. */
  gapTorso: Float64Array
  gapArm: Float64Array
}

/** @returns null when nothing as wide as a shoulder follows the neck */
export function findSide(search: Search, way: -1 | 1): SideFound | null {
  const { axis, neckY, unit, rows, bottom } = search
  const length = bottom - neckY
  const outer = new Float64Array(length).fill(NaN)
  const gapTorso = new Float64Array(length).fill(NaN)
  const gapArm = new Float64Array(length).fill(NaN)
  let last = NaN
  for (let i = 0; i < length; i++) {
    const runs = rows[neckY + i]!
    // Once the legs have parted, each side has its own.
    const own = runs.filter((run) => (way < 0 ? run.left < axis : run.right > axis))
    const body = runAt(own, axis, unit * 0.5)
    if (!body) continue
    const beside = runs.filter((run) => (way < 0 ? run.right <= body.left : run.left >= body.right))
    const arm = beside[way < 0 ? beside.length - 1 : 0]
    // A thumb may stand apart from its hand.
    const outermost = beside[way < 0 ? 0 : beside.length - 1]
    const edge = way < 0 ? body.left : body.right
    // Below the hands the next region beside the body is the other leg, not an arm.
    const isArm =
      arm !== undefined &&
      i < unit * 3.4 &&
      body.left - unit * 0.1 < axis &&
      body.right + unit * 0.1 > axis
    if (isArm) {
      gapTorso[i] = edge
      gapArm[i] = way < 0 ? arm.right : arm.left
      last = way < 0 ? outermost!.left : outermost!.right
    } else last = edge
    outer[i] = last
  }
  const out = (i: number) => (outer[i]! - axis) * way
  const neckHalf = Math.max(out(0), unit * 0.14)
  const neck = neckPoint(out, neckHalf, unit, length)
  const shoulderAt = cornerOf(out, neck, Math.min(length - 1, Math.round(neck + unit * 0.95)))
  const wide = out(shoulderAt)
  if (!(wide > neckHalf * 1.25)) return null
  let gapAt = -1
  for (let i = shoulderAt; i < Math.min(length - 1, shoulderAt + unit * 2.2); i++) {
    if (!Number.isNaN(gapArm[i]!) && !Number.isNaN(gapArm[i + 1]!)) {
      gapAt = i
      break
    }
  }
  const usual = shoulderAt + unit * 0.52
  const armpitY =
    neckY +
    Math.round(gapAt < 0 ? usual : clamp(gapAt - 1, usual - unit * 0.15, usual + unit * 0.12))
  // Long hair hides the neck and looks like a wide neck.
  const half = Math.min(out(neck), unit * 0.31)
  const slope = neckY + shoulderAt - (wide - half) * 0.45
  const neckRow = half < out(neck) ? Math.max(neckY, slope) : neckY + neck
  return {
    neck: { x: axis + way * half, y: neckRow + 0.5 },
    shoulder: { x: axis + way * wide, y: neckY + shoulderAt + 0.5 },
    armpitY,
    outer,
    gapTorso,
    gapArm,
  }
}

/** The row, counted from the neck, at which the neck has widened into the shoulder. */
function neckPoint(
  out: (i: number) => number,
  neckHalf: number,
  unit: number,
  length: number,
): number {
  for (let i = 1; i < Math.min(length, unit * 0.8); i++) {
    if (out(i) > neckHalf * 1.22 + unit * 0.02) return i
  }
  return Math.round(unit * 0.2)
}

/** Where the outline turns from along the shoulder to down the arm: farthest from the chord. */
function cornerOf(out: (i: number) => number, from: number, to: number): number {
  const dx = out(to) - out(from)
  const dy = to - from
  let best = from
  let most = -Infinity
  for (let i = from; i <= to; i++) {
    const off = (out(i) - out(from)) * dy - (i - from) * dx
    if (off > most) {
      most = off
      best = i
    }
  }
  return best
}

/** The torso's edge from the chest down, interpolated where an arm hides it. */
export function torsoEdge(
  search: Search,
  way: -1 | 1,
  found: SideFound,
  chestY: number,
): Float64Array {
  const { axis, neckY, unit, bottom } = search
  const shoulderHalf = Math.abs(found.shoulder.x - axis)
  const start = chestY - neckY
  const raw = new Float64Array(bottom - chestY).fill(NaN)
  let armEnds = raw.length
  for (let i = 0; i < raw.length; i++) {
    const torso = found.gapTorso[start + i]!
    if (!Number.isNaN(torso)) raw[i] = torso
    else if (i > unit * 2.1) {
      // Below the hands nothing hides the side.
      const half = Math.abs(found.outer[start + i]! - axis)
      if (half < shoulderHalf * 1.12) raw[i] = found.outer[start + i]!
      armEnds = Math.min(armEnds, i)
    }
  }
  const known = raw.slice(0, armEnds).filter((value) => !Number.isNaN(value)).length
  if (known < unit * 0.25) {
    // The arms are against the body: use a typical share of the shoulder width, within the outline.
    for (let i = 0; i < armEnds; i++) {
      const waist = 1 - 0.12 * Math.sin(Math.min(1, i / (unit * 1.8)) * Math.PI)
      const half = Math.min(shoulderHalf * 0.84 * waist, Math.abs(found.outer[start + i]! - axis))
      raw[i] = axis + way * half
    }
  }
  const edge = smoothSeries(raw, Math.max(1, Math.round(unit * 0.14)))
  return edge.map(
    (x) => axis + way * clamp((x - axis) * way, shoulderHalf * 0.45, shoulderHalf * 1.35),
  )
}

/** An arm across the body distorts one edge, so neither may differ much from the mean of both. */
export function evenOut(left: Float64Array, right: Float64Array, axis: number) {
  const mean = left.map((x, i) => (right[i]! - x) / 2)
  const held = (half: number, i: number) => clamp(half, mean[i]! * 0.88, mean[i]! * 1.12)
  return {
    left: left.map((x, i) => axis - held(axis - x, i)),
    right: right.map((x, i) => axis + held(x - axis, i)),
  }
}

/** Both edges of the arm, row by row. An arm against the body gets a typical thickness. */
export function armTube(
  search: Search,
  way: -1 | 1,
  found: SideFound,
  edge: Float64Array,
  chestY: number,
): Tube {
  const { neckY, unit, axis, bottom } = search
  const shoulderRow = Math.round(found.shoulder.y - 0.5) - neckY
  const start = chestY - neckY
  const thick = unit * 0.34
  const outer: Point[] = [found.shoulder]
  const inner: Point[] = [{ x: edge[0]!, y: chestY + 0.5 }]
  const tip = lastOfGap(found.gapArm, start - Math.round(unit * 0.2), Math.round(unit * 0.12))
  const tipRow =
    tip > start + unit * 0.5
      ? tip
      : Math.min(bottom - neckY - 1, Math.round(shoulderRow + unit * 2.95))
  for (let i = shoulderRow + 1; i <= tipRow; i++) {
    const out = found.outer[i]!
    if (Number.isNaN(out)) continue
    outer.push({ x: out, y: neckY + i + 0.5 })
    if (i <= start) continue
    const gap = found.gapArm[i]!
    const inside = Number.isNaN(gap) ? out - way * thick : gap
    inner.push({ x: axis + way * Math.max(0, (inside - axis) * way), y: neckY + i + 0.5 })
  }
  const smooth = Math.max(1, Math.round(unit * 0.06))
  return {
    outer: resample(smoothLine(outer, smooth), ARM_POINTS),
    inner: resample(smoothLine(inner, smooth), ARM_POINTS),
  }
}

/** The last row of the first gap beside the body. Ignores interruptions of up to `bridge` rows. */
function lastOfGap(gap: Float64Array, from: number, bridge: number): number {
  let last = -1
  for (let i = Math.max(0, from); i < gap.length; i++) {
    if (!Number.isNaN(gap[i]!)) last = i
    else if (last >= 0 && i - last > bridge) break
  }
  return last
}
