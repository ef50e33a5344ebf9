// What shows a garment and rises above its shoulders in another colour: a pale tailor's dummy, a hanger.
import { colourDistance, medianColour, type Lab } from '../oklab.ts'
import { pixelsWhere } from '../raster.ts'
import {
  area,
  areaOfRow,
  boundsOf,
  extentOfRow,
  isBorder,
  maskWhere,
  type Bounds,
  type Mask,
} from './mask.ts'
import { keepLarge, LEAST_PIECE, paint, regions } from './regions.ts'

/** A neck is at most this wide, and at least this high, in widths and heights of all that is cut out. By experiment. */
const NECK = { width: 0.32, height: 0.04 }
/** A hanger begins at most this wide and this far from the middle, in widths; a dummy and a collar begin wider. */
const APEX = { width: 0.16, aside: 0.1 }
/** The shares of the height between which all is cloth. */
const CLOTH = { from: 0.5, to: 0.9 }
/**
 * How unlike the cloth they are at least, in Oklab, the most of the cloth that is like them, and above which share of the
 * height they are visible. By experiment.
 */
const DUMMY = { unlike: 0.2, alike: 0.02, lowest: 0.45 }
const HANGER = { unlike: 0.1, alike: 0.06, lowest: 0.25 }
/**
 * With its chest and shoulders, a dummy is so many times as large as its neck, which a collar that stands up is not, and
 * has at most this chroma, unlike a yoke.
 */
const CHEST = 2
const GREY = 0.02

/** The mask without the dummy or the hanger; the mask itself where none is seen. */
export function withoutSupport(lab: Lab, mask: Mask): Mask {
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
  const isSupport = (i: number) =>
    colourDistance(lab, i, colour) < colourDistance(lab, i, clothColour)
  const unlike = Math.hypot(...colour.map((value, c) => value - clothColour[c]!))
  const isHanger = startsWithApex(mask, bounds)
  const limits = isHanger ? HANGER : DUMMY
  if (unlike < limits.unlike) return mask
  if (cloth.filter(isSupport).length > limits.alike * cloth.length) return mask
  const lowest = rowAt(limits.lowest) * width
  const seen = maskWhere(mask, (i) => mask.data[i] === 1 && i < lowest && isSupport(i))
  const isGrey = Math.hypot(colour[1], colour[2]) < GREY
  if (!isHanger && !(isGrey && area(seen) >= CHEST * neck.length)) return mask
  const isOutside = (i: number) =>
    isBorder(i, mask) || [1, -1, width, -width].some((step) => mask.data[i + step] === 0)
  const rest = { ...mask, data: mask.data.slice() }
  for (const pixels of regions(seen, 1)) if (pixels.some(isOutside)) paint(rest, pixels, 0)
  const garment = keepLarge(rest, LEAST_PIECE)
  // What holds the pieces of a garment together is no support.
  return regions(garment, 1).length > regions(mask, 1).length ? mask : garment
}

/** The row in which a neck ends; null where the garment does not begin with one. */
function neckEnd(mask: Mask, { top, bottom, left, right }: Bounds): number | null {
  const widest = (right - left) * NECK.width
  let end = top
  while (end < bottom && areaOfRow(mask, end) < widest) end++
  return end - top > (bottom - top) * NECK.height ? end : null
}

/** Whether the upper end is narrow and in the middle. */
function startsWithApex(mask: Mask, { top, left, right }: Bounds): boolean {
  const apex = extentOfRow(mask, top)!
  const aside = Math.abs(apex.left + apex.right - left - right) / 2
  return apex.right - apex.left < APEX.width * (right - left) && aside < APEX.aside * (right - left)
}
