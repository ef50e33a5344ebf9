// A pale tailor's dummy that shows a dress: its neck rises above the shoulders, in another colour than the cloth.
import { colourDistance, medianColour, type Lab } from '../oklab.ts'
import { pixelsWhere } from '../raster.ts'
import { area, areaOfRow, boundsOf, isBorder, maskWhere, type Bounds, type Mask } from './mask.ts'
import { keepLarge, LEAST_PIECE, paint, regions } from './regions.ts'

/** A neck is at most this wide, and at least this high, in widths and heights of all that is cut out. By experiment. */
const NECK = { width: 0.32, height: 0.04 }
/** The shares of the height between which all is cloth, and above which the dummy is visible. */
const CLOTH = { from: 0.5, to: 0.9 }
const LOWEST = 0.45
/** How unlike the dummy and the cloth are at least, in Oklab, and the most of the cloth that is like the dummy. */
const UNLIKE = { distance: 0.2, share: 0.02 }
/** With its chest and shoulders, a dummy is so many times as large as its neck. A collar that stands up is not. */
const CHEST = 2

/** The mask without the dummy; the mask itself where none is seen. */
export function withoutDummy(lab: Lab, mask: Mask): Mask {
  const bounds = boundsOf(mask)
  const end = bounds && neckEnd(mask, bounds)
  if (!end) return mask
  const { width } = mask
  const rows = (from: number, to: number) =>
    pixelsWhere(to * width, (i) => i >= from * width && mask.data[i] === 1)
  const rowAt = (share: number) => Math.round(bounds.top + (bounds.bottom - bounds.top) * share)
  const cloth = rows(rowAt(CLOTH.from), rowAt(CLOTH.to))
  const neck = rows(bounds.top, end)
  const [colour, clothColour] = [medianColour(lab, neck), medianColour(lab, cloth)]
  const isDummy = (i: number) =>
    colourDistance(lab, i, colour) < colourDistance(lab, i, clothColour)
  const unlike = Math.hypot(...colour.map((value, c) => value - clothColour[c]!))
  if (unlike < UNLIKE.distance) return mask
  if (cloth.filter(isDummy).length > UNLIKE.share * cloth.length) return mask
  const lowest = rowAt(LOWEST) * width
  const pale = maskWhere(mask, (i) => mask.data[i] === 1 && i < lowest && isDummy(i))
  if (area(pale) < CHEST * neck.length) return mask
  const isOutside = (i: number) =>
    isBorder(i, mask) || [1, -1, width, -width].some((step) => mask.data[i + step] === 0)
  const rest = { ...mask, data: mask.data.slice() }
  for (const pixels of regions(pale, 1)) if (pixels.some(isOutside)) paint(rest, pixels, 0)
  return keepLarge(rest, LEAST_PIECE)
}

/** The row in which a neck ends; null where the garment does not begin with one. */
function neckEnd(mask: Mask, { top, bottom, left, right }: Bounds): number | null {
  const widest = (right - left) * NECK.width
  let end = top
  while (end < bottom && areaOfRow(mask, end) < widest) end++
  return end - top > (bottom - top) * NECK.height ? end : null
}
