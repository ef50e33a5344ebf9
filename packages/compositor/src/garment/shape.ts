// The kind of a garment and its landmarks, from its silhouette.
import { traceOutline } from './outline.ts'
import { areaOfRow, type Mask } from './mask.ts'
import { keepLarge } from './regions.ts'
import { hasSleeves } from './armpit.ts'
import { bodyRowsOf, type BodyRows } from './body-rows.ts'
import { crotchOf, lowerShapeOf, type LowerShape } from './lower.ts'
import { upperShapeOf, type UpperShape } from './upper.ts'
import type { Point } from '../raster.ts'
import { smoothClosed } from '../smoothing.ts'

export type Shape = UpperShape | LowerShape

/** Pixels of the analysed picture below which no landmarks can be placed. */
const LEAST = { height: 12, width: 8, outline: 24 }
/** No garment is so many times as tall as wide, or as wide as tall. */
const TALLEST = 7
const WIDEST = 5

/** @returns null when the silhouette cannot be a garment */
export function shapeOfGarment(mask: Mask): Shape | null {
  const rows = bodyRowsOf(mask)
  if (!rows) return null
  const { bounds } = rows
  const height = bounds.bottom - bounds.top
  const width = bounds.right - bounds.left
  if (
    height < LEAST.height ||
    width < LEAST.width ||
    height > width * TALLEST ||
    width > height * WIDEST
  )
    return null
  const outline = smoothClosed(traceOutline(keepLarge(mask, 1)), 1)
  if (outline.length < LEAST.outline) return null
  if (startsWithWaist(mask)) {
    const crotch = crotchOf(mask, rows)
    return lowerShapeOf(outline, rows, crotch)
  }
  return upperShapeOf(outline, rows)
}

/** The top row is at least this share as wide as the row below; rows in shares of the height. By experiment. */
const WAISTS = [
  { top: 0.01, below: 0.04, share: 0.82 },
  { top: 0.02, below: 0.08, share: 0.7 },
  { top: 0.02, below: 0.2, share: 0.55 },
]

/**
 * The shares of the height at which a skirt becomes wider and wider, where loops for a belt may rise above its waist.
 * Dresses have a neck, or are narrower at the waist than above it.
 */
const WIDENING = [0.02, 0.04, 0.08, 0.12, 0.2, 0.3, 0.4, 0.5]

/** How deep the waist of shorts and trousers may curve between its corners, in their widths. By experiment. */
const CURVE = 0.05
/** How much higher one of its corners may be than the other, in heights. By experiment. */
const TILT = 0.015

/** Legs of trousers: where they part at the highest and the lowest, and the least length of the gap, in heights. */
const LEGS = { from: 0.15, to: 0.6, gap: 0.3 }

/** Whether the garment has two long legs. Hangers and clips hide its waist. */
function hasLegs({ bounds, gapLeft }: BodyRows, crotch: Point): boolean {
  const height = bounds.bottom - bounds.top
  const share = (crotch.y - bounds.top) / height
  const gap = gapLeft.subarray(Math.floor(crotch.y)).filter((x) => !Number.isNaN(x)).length
  return share > LEGS.from && share < LEGS.to && gap > height * LEGS.gap
}

/** The hem between two cuffs: where it begins and how far it curves, in heights, and its least share of a row's width. */
const CUFFS = { from: 0.7, curve: 0.04, gap: 0.4 }

/** Whether sleeves that lie along the body end below its hem, as those of a hooded top whose hood lies flat. */
function endsInCuffs({ bounds, gapLeft, gapRight, farLeft, farRight }: BodyRows): boolean {
  const height = bounds.bottom - bounds.top
  const first = gapLeft.findIndex((x) => !Number.isNaN(x))
  const y = first + Math.round(height * CUFFS.curve)
  const gap = gapRight[y]! - gapLeft[y]!
  return first > bounds.top + height * CUFFS.from && gap > CUFFS.gap * (farRight[y]! - farLeft[y]!)
}

/** Trousers and skirts begin with their full waist; garments with shoulders begin narrow. */
export function startsWithWaist(mask: Mask): boolean {
  const rows = bodyRowsOf(mask)
  if (!rows) return false
  const { bounds, farLeft, farRight } = rows
  const height = bounds.bottom - bounds.top
  const rowAt = (share: number) => Math.round(bounds.top + share * height)
  const covered = (share: number) => areaOfRow(mask, rowAt(share))
  const extent = (share: number) => farRight[rowAt(share)]! - farLeft[rowAt(share)]!
  if (endsInCuffs(rows)) return false
  const crotch = crotchOf(mask, rows)
  if (hasSleeves(rows)) {
    if (!crotch) return false
  } else if (crotch && hasLegs(rows, crotch)) return true
  const curve = (CURVE * (bounds.right - bounds.left)) / height
  const widens = WIDENING.every((share, i) => i === 0 || covered(share) >= extent(WIDENING[i - 1]!))
  const waists = widens && !crotch ? WAISTS.slice(1) : WAISTS
  return waists.every(({ top, below, share }) => {
    const level = top + TILT
    return crotch && covered(level + curve) >= extent(level + curve)
      ? extent(level) > extent(below + TILT) * share
      : covered(top) > extent(below) * share
  })
}
