// The lining is the inside of a garment's back, visible through the neck opening of a garment laid flat.
// On a person the neck is in front of it, so it is removed.
import { smoothEdge } from './cutout.ts'
import type { GarmentShape } from './garment-shape.ts'
import { labOf, type LabColour } from './oklab.ts'
import { blur } from './plane.ts'
import type { Raster } from './raster.ts'
import { flood } from './regions.ts'

/**
 * Makes the lining transparent, in place.
 * @param scale pixels of `cutout` for one of `shape`
 */
export function cutLining(cutout: Raster, shape: GarmentShape, scale: number): void {
  const { width, height } = cutout
  const neckY = ((shape.left.neck.y + shape.right.neck.y) / 2) * scale
  const axis = Math.round(((shape.left.armpit.x + shape.right.armpit.x) / 2) * scale)
  const half = ((shape.right.armpit.x - shape.left.armpit.x) / 2) * scale
  const tall = (shape.hemY - shape.chestY) * scale
  // An opening that shows the backdrop has been cut out already.
  if (shape.neckDepth * scale > tall * 0.12) return
  const rowAt = (y: number) => meanAcross(cutout, axis, Math.max(1, Math.round(half * 0.06)), y)
  let top = Math.max(0, Math.floor(neckY - tall * 0.05))
  const lowest = Math.min(height - 1, Math.floor(neckY + half * 0.75))
  while (top < lowest && rowAt(top) === null) top++
  const step = Math.max(2, Math.round(tall * 0.014))
  let edge = -1
  let strongest = 0.07
  for (let y = top + step; y < lowest - step; y++) {
    const above = rowAt(y - step)
    const below = rowAt(y + step)
    if (!above || !below) continue
    const change = gap(above, below)
    // A lining is in shadow, unlike most prints on the chest.
    if (change > strongest && below[0] - above[0] > 0.03) {
      strongest = change
      edge = y
    } else if (edge >= 0 && change < strongest * 0.8) break
  }
  if (edge < 0) return
  const seedY = Math.max(top + step, edge - step * 2)
  const colour = rowAt(seedY)
  if (!colour) return
  const lining = growFrom(cutout, axis, edge, Math.round(half * 0.62), colour, strongest)
  const reach = ((shape.right.neck.x - shape.left.neck.x) / 2) * scale * 1.25
  if (!keepsWithin(lining, width, axis, neckY, reach, edge - neckY + step)) return
  erase(cutout, lining)
}

function meanAcross(
  { width, data }: Raster,
  x: number,
  reach: number,
  y: number,
): LabColour | null {
  const sum = [0, 0, 0]
  let count = 0
  for (let column = Math.max(0, x - reach); column <= Math.min(width - 1, x + reach); column++) {
    const at = (y * width + column) * 4
    if (data[at + 3]! < 200) continue
    count++
    for (let c = 0; c < 3; c++) sum[c]! += data[at + c]!
  }
  if (count < reach) return null
  const mean = (c: number) => Math.round(sum[c]! / count)
  return labOf(mean(0), mean(1), mean(2))
}

const gap = (one: LabColour, other: LabColour) =>
  Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2])

/** The connected region in the lining's colour above the lowest point of the collar. */
function growFrom(
  cutout: Raster,
  axis: number,
  edge: number,
  reach: number,
  colour: LabColour,
  contrast: number,
): Uint8Array {
  const { width, height, data } = cutout
  const left = Math.max(0, axis - reach)
  const right = Math.min(width, axis + reach)
  // At most half the distance to the collar's colour.
  const limit = Math.min(0.085, contrast * 0.55)
  const like = (x: number, y: number) => {
    if (y > edge + 1 || x < left || x >= right) return false
    const at = (y * width + x) * 4
    if (data[at + 3]! < 128) return true
    return gap(labOf(data[at]!, data[at + 1]!, data[at + 2]!), colour) < limit
  }
  // From the top of the picture through the background above the collar into the lining.
  const grown = flood(
    width,
    height,
    (index) => like(index % width, Math.floor(index / width)),
    'sides and top',
  )
  const solid = grown.data.map((value, index) =>
    value === 1 && data[index * 4 + 3]! >= 128 ? 1 : 0,
  )
  return smoothEdge({ width, height, data: solid }, 2).data
}

/** Whether the lining is an opening below the neck and not a large part of the chest. */
function keepsWithin(
  lining: Uint8Array,
  width: number,
  axis: number,
  neckY: number,
  reach: number,
  depth: number,
): boolean {
  let inside = 0
  let outside = 0
  for (let i = 0; i < lining.length; i++) {
    if (lining[i] === 0) continue
    const u = ((i % width) - axis) / reach
    const v = Math.max(0, (Math.floor(i / width) - neckY) / depth)
    if (u * u + v * v <= 1.1) inside++
    else outside++
  }
  return inside > reach * depth * 0.2 && outside < inside * 0.12
}

function erase(cutout: Raster, lining: Uint8Array): void {
  const { width, height, data } = cutout
  const soft = blur({ width, height, data: new Float32Array(lining) }, 2)
  for (let i = 0; i < soft.data.length; i++) {
    const gone = Math.min(1, soft.data[i]! * 2.4)
    if (gone > 0) data[i * 4 + 3] = data[i * 4 + 3]! * (1 - gone)
  }
}
