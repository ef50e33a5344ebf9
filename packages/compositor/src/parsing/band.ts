// The pixels whose labels are decided again in the large picture.
import type { Lab } from '../oklab.ts'
import { pixelsWhere } from '../raster.ts'
import type { Labelling } from './expansion.ts'
import { LABEL } from './labels.ts'
import { colourIndices, type ColourCosts } from './mixture.ts'

/** How far, in pixels, a border may still move. */
const REACH = 4
/** Above this cost a colour is not that of the skin. */
const NOT_SKIN = 9

/** The pixels near borders between labels, and those in skin that have not its colour, like a strap. */
export function openPixels(labelling: Labelling, lab: Lab, skin: ColourCosts | null): Int32Array {
  const { width, height, labels } = labelling
  const doubtful = skin ? doubtfulSkin(labels, lab, skin) : new Uint8Array(labels.length)
  const near = new Uint8Array(width * height)
  const mark = (x: number, y: number, reach: number) => {
    for (let v = Math.max(0, y - reach); v <= Math.min(height - 1, y + reach); v++) {
      near.fill(1, v * width + Math.max(0, x - reach), v * width + Math.min(width, x + reach + 1))
    }
  }
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      const right = x + 1 < width && labels[i] !== labels[i + 1]
      const below = y + 1 < height && labels[i] !== labels[i + width]
      if (right || below) mark(x, y, REACH)
      else if (doubtful[i]) mark(x, y, 1)
    }
  }
  return Int32Array.from(pixelsWhere(near.length, (i) => near[i] === 1))
}

function doubtfulSkin(labels: Uint8Array, lab: Lab, skin: ColourCosts): Uint8Array {
  const pixels = Int32Array.from(pixelsWhere(labels.length, (i) => labels[i] === LABEL.skin))
  const indices = colourIndices(lab, pixels)
  const doubtful = new Uint8Array(labels.length)
  for (let k = 0; k < pixels.length; k++) {
    if (skin[indices[k]!]! > NOT_SKIN) doubtful[pixels[k]!] = 1
  }
  return doubtful
}

/** For each pixel the labels, as bits, that occur at most so far away that a border could reach it. */
export function labelsNear({ width, height, labels }: Labelling): Uint8Array {
  const near = labels.map((label) => 1 << label)
  const row = new Uint8Array(width + 2 * MARGIN)
  for (let start = 0; start < near.length; start += width) {
    row.fill(0)
    row.set(near.subarray(start, start + width), MARGIN)
    joinAround(row, 1)
    near.set(row.subarray(MARGIN, MARGIN + width), start)
  }
  const columns = new Uint8Array((height + 2 * MARGIN) * width)
  columns.set(near, MARGIN * width)
  joinAround(columns, width)
  return columns.subarray(MARGIN * width, (MARGIN + height) * width)
}

/** What `joinAround` needs before and behind the values: empty places that it may write on. */
const MARGIN = 2 * REACH

/** Joins the bits of each place with those of the places up to REACH steps before and behind it. */
function joinAround(bits: Uint8Array, step: number): void {
  // Afterwards each place has the bits of itself and of the 2 × REACH - 1 places behind it.
  for (let reach = 1; reach < 2 * REACH; reach *= 2) {
    const ahead = reach * step
    for (let at = 0; at + ahead < bits.length; at++) bits[at] = bits[at]! | bits[at + ahead]!
  }
  const back = REACH * step
  for (let at = bits.length - 1; at >= back; at--) {
    bits[at] = bits[at - back]! | bits[at - back + step]!
  }
}
