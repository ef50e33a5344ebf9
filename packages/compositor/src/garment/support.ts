// What shows a garment and rises above its shoulders in another colour: a pale tailor's dummy, a hanger.
import { colourDistance, medianColour, type Lab } from '../oklab.ts'
import { lerp, pixelsWhere } from '../raster.ts'
import {
  area,
  areaOfRow,
  boundsOf,
  emptyMask,
  extentOfRow,
  isBorder,
  maskWhere,
  rowAt,
  type Bounds,
  type Mask,
} from './mask.ts'
import { keepLarge, LEAST_PIECE, painted, regions } from './regions.ts'

/** A neck is at most this wide, and at least this high, in widths and heights of all that is cut out. By experiment. */
const NECK = { width: 0.32, height: 0.04 }
/** A hanger begins at most this wide and this far from the middle, in widths; a dummy and a collar begin wider. */
const APEX = { width: 0.17, aside: 0.1 }
/** The shares of the height between which all is cloth. */
const CLOTH = { from: 0.5, to: 0.9 }
/**
 * How unlike the cloth they are at least, in Oklab, the most of the cloth that is like them, above which share of the height
 * they are visible, and how wide they are there at most, in widths: of seven hangers one has 0.16, yokes in the colour of their
 * hangers have 0.77 and 0.95. By experiment.
 */
const DUMMY = { unlike: 0.2, alike: 0.02, lowest: 0.45, widest: 1 }
const HANGER = { unlike: 0.1, alike: 0.06, lowest: 0.25, widest: 0.7 }
/**
 * A wooden hanger: its least yellow and red in Oklab, and its most red for its yellow; how wide it is near its upper end, in
 * shares of the height and the width; the shares of the neck that surely are wood, and that it has at least; how alike its
 * colours are, by the widest of these limits that does not lead into the cloth, and the most of the cloth that is like it. By
 * experiment.
 */
const WOOD = {
  yellow: 0.03,
  red: 0.005,
  redder: 1.3,
  width: { at: 0.02, least: 0.05, most: 0.17 },
  apex: 0.3,
  shortest: 0.6,
  alike: [0.14, 0.1, 0.07, 0.05, 0.035],
  inCloth: 0.2,
}
/**
 * With its chest and shoulders, a dummy is so many times as large as its neck, which a collar that stands up is not, and
 * has at most this chroma, unlike a yoke.
 */
const CHEST = 2
const GREY = 0.02

/** What may begin with a support. */
interface Shown {
  lab: Lab
  mask: Mask
  bounds: Bounds
  /** The row in which the neck ends. */
  end: number
  /** Pixels that surely are cloth. */
  cloth: readonly number[]
}

/** The mask without the dummy or the hanger; the mask itself where none is seen. */
export function withoutSupport(lab: Lab, mask: Mask): Mask {
  const bounds = boundsOf(mask)
  const end = bounds && neckEnd(mask, bounds)
  if (!end) return mask
  const cloth = within(mask, rowAt(bounds, CLOTH.from), rowAt(bounds, CLOTH.to))
  const shown: Shown = { lab, mask, bounds, end, cloth }
  const isHanger = startsWithApex(mask, bounds)
  const unlike = unlikeCloth(shown, isHanger)
  const support = isHanger && unlike.length === 0 ? woodIn(shown) : unlike
  if (support.length === 0) return mask
  const garment = keepLarge(painted(mask, support, 0), LEAST_PIECE)
  // What holds the pieces of a garment together is no support.
  return regions(garment, 1).length > regions(mask, 1).length ? mask : garment
}

/** The pixels of a mask in the rows from one to another. */
const within = ({ width, data }: Mask, from: number, to: number) =>
  pixelsWhere(to * width, (i) => i >= from * width && data[i] === 1)

/** The pieces at the edge of what is cut out that have the colour of the neck and not that of the cloth. */
function unlikeCloth({ lab, mask, bounds, end, cloth }: Shown, isHanger: boolean): Int32Array[] {
  const { width } = mask
  const neck = within(mask, bounds.top, end)
  const [colour, clothColour] = [medianColour(lab, neck), medianColour(lab, cloth)]
  const isSupport = (i: number) =>
    colourDistance(lab, i, colour) < colourDistance(lab, i, clothColour)
  const limits = isHanger ? HANGER : DUMMY
  if (Math.hypot(...colour.map((value, c) => value - clothColour[c]!)) < limits.unlike) return []
  if (cloth.filter(isSupport).length > limits.alike * cloth.length) return []
  const lowest = rowAt(bounds, limits.lowest) * width
  const seen = maskWhere(mask, (i) => mask.data[i] === 1 && i < lowest && isSupport(i))
  const isGrey = Math.hypot(colour[1], colour[2]) < GREY
  if (!isHanger && !(isGrey && area(seen) >= CHEST * neck.length)) return []
  const isOutside = (i: number) =>
    isBorder(i, mask) || [1, -1, width, -width].some((step) => mask.data[i + step] === 0)
  const row = pixelsWhere(width, (x) => seen.data[lowest - width + x] === 1)
  // A yoke in the colour of its hanger goes on below.
  if (row.length > limits.widest * (bounds.right - bounds.left)) return []
  return regions(seen, 1).filter((pixels) => pixels.some(isOutside))
}

/** The pieces in the colour of wood that begin at the upper end and end above the chest; some of the cloth may be like it. */
function woodIn({ lab, mask, bounds, end, cloth }: Shown): Int32Array[] {
  const { width } = mask
  const apex = Math.ceil(lerp(bounds.top, end, WOOD.apex))
  const colour = medianColour(lab, within(mask, bounds.top, apex))
  const [, a, b] = colour
  const wide = extentOfRow(mask, rowAt(bounds, WOOD.width.at))
  if (b < WOOD.yellow || a < WOOD.red || a > b * WOOD.redder) return []
  const share = wide ? (wide.right - wide.left) / (bounds.right - bounds.left) : 0
  if (share < WOOD.width.least || share > WOOD.width.most) return []
  const lowest = rowAt(bounds, HANGER.lowest)
  const shortest = Math.round(lerp(bounds.top, end, WOOD.shortest))
  for (const alike of WOOD.alike) {
    const isWood = (i: number) => colourDistance(lab, i, colour) < alike
    if (cloth.filter(isWood).length > WOOD.inCloth * cloth.length) continue
    const seen = maskWhere(mask, (i) => mask.data[i] === 1 && isWood(i))
    const pieces = regions(seen, 1).filter((pixels) => pixels[0]! < apex * width)
    const wood = boundsOf(painted(emptyMask(mask), pieces, 1))
    if (!wood) return []
    if (wood.bottom <= lowest) return wood.bottom > shortest ? pieces : []
  }
  return []
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
