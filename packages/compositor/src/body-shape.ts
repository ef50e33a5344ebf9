// Finds the landmarks of the person from the silhouette: head, neck, shoulders, arms, torso and
// where the legs begin. Coordinates are pixels of the small copy; left and right as in the picture.
import { armTube, evenOut, findSide, torsoEdge, type SideFound } from './body-sides.ts'
import type { Tube } from './garment-shape.ts'
import { lengthOf } from './outline.ts'
import { boundsOf, ridgeOf, runAt, runsOf, type Run } from './profile.ts'
import type { Point } from './raster.ts'
import { colourOf, isSkinLike, type ColourModel, type Silhouette } from './silhouette.ts'

export interface BodySide {
  neck: Point
  shoulder: Point
  /** The top of the shoulder, from the neck outwards. */
  ridge: Point[]
  armpit: Point
  /** The torso's edge on each row from `chestY` to the last row that shows the person. */
  edge: Float64Array
  /** From the shoulder to the finger tips, as far as visible. */
  arm: Tube
  /** Share of the arm's length at which long sleeves end. */
  wrist: number
}

export interface BodyShape {
  axis: number
  top: number
  /** The row of the narrowest neck. */
  neckY: number
  /** Height of the head, the unit bodies are measured in. */
  head: number
  chestY: number
  /** The row where the legs part; null when the photo ends above it or a skirt hides it. */
  crotchY: number | null
  left: BodySide
  right: BodySide
  skin: ColourModel | null
}

/** Share of the arm, from the shoulder to the finger tips, that ends at the wrist. */
const WRIST = 0.8

/** @returns null when the silhouette has no head on shoulders */
export function readBody(silhouette: Silhouette): BodyShape | null {
  const { mask } = silhouette
  const bounds = boundsOf(mask)
  if (!bounds || bounds.bottom - bounds.top < mask.height * 0.25) return null
  const head = findHead(silhouette, bounds.top, bounds.bottom)
  if (!head) return null
  const { axis, neckY, unit, skin } = head
  const rows = Array.from({ length: mask.height }, (_, y) => runsOf(mask, y, 2))
  const search = { axis, neckY, unit, rows, bottom: bounds.bottom }
  const sides = { left: findSide(search, -1), right: findSide(search, 1) }
  if (!sides.left || !sides.right) return null
  const chestY = Math.round((sides.left.armpitY + sides.right.armpitY) / 2)
  if (chestY >= bounds.bottom - 3) return null
  const edges = evenOut(
    torsoEdge(search, -1, sides.left, chestY),
    torsoEdge(search, 1, sides.right, chestY),
    axis,
  )
  const crotchY = findCrotch(rows, axis, chestY, bounds.bottom, unit)
  const side = (way: -1 | 1, found: SideFound): BodySide => {
    const edge = way < 0 ? edges.left : edges.right
    const arm = armTube(search, way, found, edge, chestY)
    return {
      neck: found.neck,
      shoulder: found.shoulder,
      ridge: ridgeOf(mask, found.neck, found.shoulder, unit * 0.12),
      armpit: { x: edge[0]!, y: chestY },
      edge,
      arm,
      // An arm bent across the body is covered as far as it is visible.
      wrist: lengthOf(arm.outer) < unit * 2 ? 1 : WRIST,
    }
  }
  return {
    axis,
    top: bounds.top,
    neckY,
    head: unit,
    chestY,
    crotchY,
    left: side(-1, sides.left),
    right: side(1, sides.right),
    skin,
  }
}

interface Head {
  axis: number
  neckY: number
  unit: number
  skin: ColourModel | null
}

/** A head is narrow, above something about twice as wide, and has a neck or a face. */
function findHead(silhouette: Silhouette, top: number, bottom: number): Head | null {
  const { mask } = silhouette
  const axis = middleOfTop(silhouette, top, Math.round((bottom - top) * 0.1))
  const widths = new Float64Array(bottom)
  for (let y = top; y < bottom; y++) {
    const run = runAt(runsOf(mask, y, 1), axis, mask.width * 0.04)
    widths[y] = run ? run.right - run.left : 0
  }
  const upper = Array.from(widths.subarray(top, top + Math.ceil((bottom - top) * 0.55)))
  const widest = upper.sort((one, other) => one - other)[Math.floor(upper.length * 0.85)]!
  let shoulderY = top
  while (shoulderY < bottom && widths[shoulderY]! < widest * 0.72) shoulderY++
  const rise = shoulderY - top
  if (rise < widest * 0.3 || shoulderY >= bottom - 4) return null
  let headY = top
  for (let y = top; y < top + rise * 0.65; y++) if (widths[y]! > widths[headY]!) headY = y
  let neckY = headY
  for (let y = headY; y < shoulderY; y++) if (widths[y]! <= widths[neckY]!) neckY = y
  const pinched = widths[neckY]! < widths[headY]! * 0.86 && neckY > top + rise * 0.4
  if (!pinched) neckY = Math.round(top + rise * 0.76)
  const unit = (neckY - top) * 0.93
  const half = widths[headY]! / 2
  const face = {
    left: axis - half * 0.7,
    right: axis + half * 0.7,
    top: top + unit * 0.3,
    bottom: neckY,
  }
  const skin = colourOf(silhouette, face, isSkinLike, unit * half * 0.12)
  if (widths[headY]! > widest * 0.8 || unit < 6) return null
  return pinched || skin ? { axis, neckY, unit, skin } : null
}

function middleOfTop({ mask }: Silhouette, top: number, rows: number): number {
  let sum = 0
  let count = 0
  for (let y = top; y < top + Math.max(2, rows); y++) {
    for (let x = 0; x < mask.width; x++) {
      if (mask.data[y * mask.width + x] === 0) continue
      sum += x + 0.5
      count++
    }
  }
  return sum / count
}

function findCrotch(
  rows: Run[][],
  axis: number,
  chestY: number,
  bottom: number,
  unit: number,
): number | null {
  for (let y = chestY + Math.round(unit * 1.3); y < bottom - 3; y++) {
    let parted = true
    for (let k = 0; k < 3; k++) {
      const runs = rows[y + k]!
      if (runs.some((run) => run.left <= axis && run.right > axis)) parted = false
      if (!runs.some((run) => run.right <= axis) || !runs.some((run) => run.left >= axis - 1))
        parted = false
    }
    if (parted) return y
  }
  return null
}
