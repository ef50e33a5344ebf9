// Decides where on the person each part of the garment goes: how wide, how long, how far down the
// arms. The result is a pair of charts for each part.
import { WRIST, type BodyShape, type BodySide } from './body-shape.ts'
import type { TorsoEdge, TorsoFrame } from './chart.ts'
import type { GarmentShape, TorsoSide, Tube } from './garment-shape.ts'
import { between, distance, lengthOf, resample } from './outline.ts'
import { clamp, type Point } from './raster.ts'

export interface Fit {
  torso: TorsoFrame
  leftSleeve: Tube | null
  rightSleeve: Tube | null
  /** Pixels of the photo for a pixel of the garment's picture. */
  scale: number
}

/** Cloth stands off the body by this share of a head. */
const EASE = 0.045

/** Fits the garment to the body, in the body's coordinates. `oldHemY` is the present top's hem. */
export function fitGarment(garment: GarmentShape, body: BodyShape, oldHemY: number | null): Fit {
  const chest = body.right.armpit.x - body.left.armpit.x + 2 * EASE * body.head
  const garmentChest = garment.right.armpit.x - garment.left.armpit.x
  const scale = chest / Math.max(1, garmentChest)
  const hemY = hemOf(garment, body, chest / Math.max(1, garmentChest), oldHemY)
  const torso = {
    left: edgeFor(garment, garment.left, body, body.left, -1, scale, hemY),
    right: edgeFor(garment, garment.right, body, body.right, 1, scale, hemY),
    chestY: body.chestY,
    hemY,
  }
  return {
    torso,
    leftSleeve: sleeveFor(garment.left, body.left, torso.left, body, scale, -1),
    rightSleeve: sleeveFor(garment.right, body.right, torso.right, body, scale, 1),
    scale,
  }
}

function hemOf(
  garment: GarmentShape,
  body: BodyShape,
  scale: number,
  oldHemY: number | null,
): number {
  const shoulderY = (body.left.shoulder.y + body.right.shoulder.y) / 2
  const garmentTop = (garment.left.shoulder.y + garment.right.shoulder.y) / 2
  const natural = (garment.hemY - garmentTop) * scale
  const ratio =
    (garment.hemY - garmentTop) / Math.max(1, garment.right.armpit.x - garment.left.armpit.x)
  const trunk = (body.crotchY ?? shoulderY + body.head * 2.6) - shoulderY
  if (ratio > 2.1) return shoulderY + Math.max(natural, trunk + body.head * 0.5)
  const hem = shoulderY + clamp(natural, trunk * 0.78, trunk * 1.02)
  return oldHemY === null
    ? hem
    : Math.max(hem, Math.min(oldHemY + body.head * 0.05, shoulderY + trunk * 1.08))
}

function edgeFor(
  garment: GarmentShape,
  cloth: TorsoSide,
  body: BodyShape,
  side: BodySide,
  way: -1 | 1,
  scale: number,
  hemY: number,
): TorsoEdge {
  const ease = EASE * body.head
  const rows = Math.max(2, Math.ceil(hemY - body.chestY) + 1)
  const middle = (garment.left.armpit.x + garment.right.armpit.x) / 2
  const axis = (body.left.armpit.x + body.right.armpit.x) / 2
  const edge = Float64Array.from({ length: rows }, (_, row) => {
    const share = row / (rows - 1)
    const clothRow = Math.round(share * (cloth.edge.length - 1))
    const flare = (cloth.edge[clothRow]! - middle) * way * scale
    const held = side.edge[Math.min(row, side.edge.length - 1)]!
    const figure = (held - axis) * way + ease
    // Cloth hangs by its own cut, more so the lower, but never inside the body.
    const hang = 0.35 + 0.55 * clamp((row - body.head * 1.6) / (body.head * 1.2), 0, 1)
    return axis + way * Math.max(figure, figure + (flare - figure) * hang)
  })
  return { neck: side.neck, shoulder: raise(side.shoulder, way, ease * 0.6), edge }
}

const raise = (point: Point, way: -1 | 1, by: number): Point => ({
  x: point.x + way * by * 0.4,
  y: point.y - by,
})

function sleeveFor(
  cloth: TorsoSide,
  side: BodySide,
  torso: TorsoEdge,
  body: BodyShape,
  scale: number,
  way: -1 | 1,
): Tube | null {
  if (!cloth.sleeve) return null
  const { outer, inner } = side.arm
  const clothLength = (lengthOf(cloth.sleeve.outer) + lengthOf(cloth.sleeve.inner)) / 2
  const share = (clothLength * scale) / lengthOf(outer)
  const reach = share > 0.58 ? WRIST : clamp(share, 0.16, 0.58)
  const armpit = { x: torso.edge[0]!, y: body.chestY }
  const count = cloth.sleeve.outer.length
  const ease = EASE * body.head * 1.1
  const last = Math.max(2, Math.round(reach * (outer.length - 1)))
  const end = outer[last]!
  const before = outer[last - 2]!
  const span = distance(before, end) || 1
  const along = { x: (end.x - before.x) / span, y: (end.y - before.y) / span }
  // The cuff lies square to the arm.
  let stop = 1
  while (
    stop < inner.length - 1 &&
    (inner[stop]!.x - end.x) * along.x + (inner[stop]!.y - end.y) * along.y < body.head * 0.03
  ) {
    stop++
  }
  const wide = ease + (share > 0.58 ? 0 : body.head * 0.02)
  const outside = outer
    .slice(0, last + 1)
    .map((point, i) => push(point, way, wide * clamp(i / 4, 0, 1)))
  const inside = inner
    .slice(0, stop + 1)
    .map((point, i) => push(point, -way as -1 | 1, wide * 0.6 * clamp(i / 4, 0, 1)))
  return {
    outer: resample([torso.shoulder, ...outside.slice(1)], count),
    inner: resample([armpit, ...inside.slice(1).map((point) => keepBelow(point, armpit))], count),
  }
}

const push = (point: Point, way: -1 | 1, by: number): Point => ({
  x: point.x + way * by,
  y: point.y,
})

const keepBelow = (point: Point, armpit: Point): Point =>
  point.y < armpit.y ? between(point, { x: point.x, y: armpit.y }, 1) : point
