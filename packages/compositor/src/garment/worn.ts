// Reads a garment photographed on a person: the cloth is what the parsing labels as such, and the
// landmarks follow from the joints and the cloth's outline.
import { LABEL, type Parsing } from '../parsing.ts'
import { traceOutline } from './outline.ts'
import { area, keepLarge, regions, type Mask } from './regions.ts'
import { distanceTo } from './distance.ts'
import { bodyRowsOf } from './body-rows.ts'
import { smoothClosed } from './contour.ts'
import { crotchOf, lowerShapeOf } from './lower.ts'
import type { Shape } from './shape.ts'
import type { Wearer } from './wearer.ts'
import { wornUpperOf } from './worn-upper.ts'

/** How much larger than the top the lower garment must appear to be what is for sale. */
const DOMINANCE = 1.6
/** The smallest share of the picture that a garment may cover. */
const LEAST = 0.02

/** @returns null when too little cloth is visible, or its landmarks cannot be placed */
export function wornShapeOf(parsing: Parsing, wearer: Wearer): { mask: Mask; shape: Shape } | null {
  const top = maskOf(parsing, LABEL.top)
  const bottom = maskOf(parsing, LABEL.bottom)
  // What the picture cuts off is not what it shows for sale.
  const factor = reachesEnd(bottom) ? DOMINANCE * 3 : DOMINANCE
  const lower = area(bottom) > area(top) * factor
  const mask = solid(lower ? bottom : top)
  if (area(mask) < mask.data.length * LEAST) return null
  const shape = lower ? wornLowerOf(mask) : wornUpperOf(mask, wearer)
  return shape && { mask, shape }
}

function maskOf({ width, height, labels }: Parsing, label: number): Mask {
  return { width, height, data: Uint8Array.from(labels, (value) => (value === label ? 1 : 0)) }
}

function reachesEnd({ width, height, data }: Mask): boolean {
  return data.subarray((height - 2) * width).some((value) => value === 1)
}

/** Without loose bits, slivers and small holes, which are errors of the parsing. */
function solid(mask: Mask): Mask {
  const { width, height } = mask
  const large = keepLarge(withoutSlivers(mask), 0.04)
  const data = large.data.slice()
  const most = area(large) * 0.004
  for (const hole of regions(large, 0)) {
    if (hole.size < most) for (const i of hole.pixels) data[i] = 1
  }
  return { width, height, data }
}

/** Removes what is only one or two pixels wide. */
function withoutSlivers(mask: Mask): Mask {
  const core = { ...mask, data: Uint8Array.from(distanceTo(mask, 0), (d) => (d > 1.2 ? 1 : 0)) }
  const near = distanceTo(core, 1)
  return { ...mask, data: mask.data.map((value, i) => (near[i]! < 1.6 ? value : 0)) }
}

function wornLowerOf(mask: Mask): Shape | null {
  const rows = bodyRowsOf(mask)
  const outline = smoothClosed(traceOutline(keepLarge(mask, 1)), 1)
  if (!rows || outline.length < 24) return null
  return lowerShapeOf(outline, rows, crotchOf(mask, rows))
}
