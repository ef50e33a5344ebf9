// Fits the parts of the garment to the person: width, length and sleeve length. The result is a pair of
// charts for each part.
import type { BodyShape, BodySide } from './body-shape.ts'
import { pointOn, type TorsoEdge, type TorsoFrame } from './chart.ts'
import type { GarmentShape, TorsoSide, Tube } from './garment-shape.ts'
import { between, distance, lengthOf, resample } from './outline.ts'
import { clamp, lerp, type Point } from './raster.ts'

export interface Fit {
  torso: TorsoFrame
  leftSleeve: Tube | null
  rightSleeve: Tube | null
}

/** Distance of the cloth from the body, as a share of a head. */
const EASE = 0.045

/** Fits the garment to the body, in the body's coordinates. `oldHemY` is the hem of the old top. */
export function fitGarment(garment: GarmentShape, body: BodyShape, oldHemY: number | null): Fit {
  const chest = body.right.armpit.x - body.left.armpit.x + 2 * EASE * body.head
  const garmentChest = garment.right.armpit.x - garment.left.armpit.x
  // Pixels of the photo for a pixel of the garment's picture.
  const scale = chest / Math.max(1, garmentChest)
  const hemY = hemOf(garment, body, scale, oldHemY)
  const chestY = chestOf(garment, body, hemY)
  const torso = {
    left: edgeFor(garment, garment.left, body, body.left, -1, scale, chestY, hemY),
    right: edgeFor(garment, garment.right, body, body.right, 1, scale, chestY, hemY),
    chestY,
    hemY,
  }
  return {
    torso,
    leftSleeve: sleeveFor(garment, garment.left, body.left, torso, body, -1),
    rightSleeve: sleeveFor(garment, garment.right, body.right, torso, body, 1),
  }
}

/** Between the armpits of the body and those of the cut, so that patterns keep their scale. */
function chestOf(garment: GarmentShape, body: BodyShape, hemY: number): number {
  const garmentTop = (garment.left.shoulder.y + garment.right.shoulder.y) / 2
  const shoulderY = (body.left.shoulder.y + body.right.shoulder.y) / 2
  const share = (garment.chestY - garmentTop) / (garment.hemY - garmentTop)
  const cut = shoulderY + (hemY - shoulderY) * share
  return clamp(
    cut * 0.6 + body.chestY * 0.4,
    body.chestY - body.head * 0.1,
    body.chestY + body.head * 0.15,
  )
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
  const hem = shoulderY + clamp(natural, trunk * 0.86, trunk * 1.02)
  return oldHemY === null
    ? hem
    : Math.max(hem, Math.min(oldHemY + body.head * 0.08, shoulderY + trunk * 1.08))
}

function edgeFor(
  garment: GarmentShape,
  cloth: TorsoSide,
  body: BodyShape,
  side: BodySide,
  way: -1 | 1,
  scale: number,
  chestY: number,
  hemY: number,
): TorsoEdge {
  const ease = EASE * body.head
  const rows = Math.max(2, Math.ceil(hemY - chestY) + 1)
  const middle = (garment.left.armpit.x + garment.right.armpit.x) / 2
  const axis = (body.left.armpit.x + body.right.armpit.x) / 2
  const edge = Float64Array.from({ length: rows }, (_, row) => {
    const share = row / (rows - 1)
    const clothRow = Math.round(share * (cloth.edge.length - 1))
    const flare = (cloth.edge[clothRow]! - middle) * way * scale
    const below = clamp(Math.round(chestY - body.chestY + row), 0, side.edge.length - 1)
    const held = side.edge[below]!
    const figure = (held - axis) * way + ease + (cloth.sleeve ? webAt(row, body.head) : 0)
    // Cloth follows its own cut, increasingly towards the hem, but is never inside the body.
    const hang = 0.35 + 0.55 * clamp((row - body.head * 1.6) / (body.head * 1.2), 0, 1)
    return axis + way * Math.max(figure, figure + (flare - figure) * hang)
  })
  return { ridge: ridgeFor(cloth, side, middle, axis, way, scale, ease), edge }
}

/** Just below the armpit there is no gap between body and sleeve. */
const webAt = (row: number, head: number) => head * 0.07 * clamp(1 - row / (head * 0.45), 0, 1)

/** Wide necklines and straps sit further out along the shoulder than the neck itself. */
function ridgeFor(
  cloth: TorsoSide,
  side: BodySide,
  middle: number,
  axis: number,
  way: -1 | 1,
  scale: number,
  ease: number,
): Point[] {
  const { neck, shoulder, ridge } = side
  const span = (shoulder.x - neck.x) * way || 1
  const shareOf = (clothX: number, least: number, most: number) => {
    const wanted = axis + (clothX - middle) * scale
    return clamp(((wanted - neck.x) * way) / span, least, most)
  }
  const collar = shareOf(cloth.neck.x, 0, 0.7)
  const end = cloth.sleeve ? 1 : shareOf(cloth.shoulder.x, Math.min(0.9, collar + 0.12), 1)
  return ridge.map((_, i) => {
    const share = i / (ridge.length - 1)
    const point = pointOn(ridge, lerp(collar, end, share))
    return { x: point.x + way * ease * 0.25 * share, y: point.y - ease * lerp(0.3, 0.6, share) }
  })
}

function sleeveFor(
  garment: GarmentShape,
  cloth: TorsoSide,
  side: BodySide,
  frame: TorsoFrame,
  body: BodyShape,
  way: -1 | 1,
): Tube | null {
  if (!cloth.sleeve) return null
  const { outer, inner } = side.arm
  const torso = way < 0 ? frame.left : frame.right
  // Sleeves are measured against the garment's own length: 1/3 is short, 3/4 and more is long.
  const share = lengthOf(cloth.sleeve.outer) / (garment.hemY - cloth.shoulder.y)
  const long = share > 0.62
  const reach = long ? side.wrist : clamp(share * 0.95, 0.14, 0.62)
  const armpit = { x: torso.edge[0]!, y: frame.chestY }
  const count = cloth.sleeve.outer.length
  const ease = EASE * body.head * 1.1
  const last = Math.max(2, Math.round(reach * (outer.length - 1)))
  const end = outer[last]!
  const middleAt = (share: number) => {
    const i = Math.round(share * (outer.length - 1))
    return between(outer[i]!, inner[i]!, 0.5)
  }
  const before = middleAt(reach * 0.4)
  const after = middleAt(reach)
  const span = distance(before, after) || 1
  const along = { x: (after.x - before.x) / span, y: (after.y - before.y) / span }
  // The cuff is perpendicular to the arm.
  let stop = 1
  while (
    stop < inner.length - 1 &&
    (inner[stop]!.x - end.x) * along.x + (inner[stop]!.y - end.y) * along.y < body.head * 0.03
  ) {
    stop++
  }
  const wide = ease + (long ? 0 : body.head * 0.02)
  const outside = outer
    .slice(0, last + 1)
    .map((point, i) => push(point, way, wide * clamp(i / 4, 0, 1)))
  const inside = inner
    .slice(0, stop + 1)
    .map((point, i) => push(point, -way as -1 | 1, wide * 0.6 * clamp(i / 4, 0, 1)))
  return {
    outer: resample([torso.ridge[torso.ridge.length - 1]!, ...outside.slice(1)], count),
    inner: resample([armpit, ...inside.slice(1).filter((point) => point.y > armpit.y)], count),
  }
}

const push = (point: Point, way: -1 | 1, by: number): Point => ({
  x: point.x + way * by,
  y: point.y,
})
