// The label in the neck of a garment, which is hidden on a wearer.
import { colourDistance, medianColour, type Lab } from '../oklab.ts'
import { clamp, lerp, type Raster } from '../raster.ts'
import { bodyRowsOf, chestHalf } from './body-rows.ts'
import { boundsOf, emptyMask, topOf, type Bounds, type Mask } from './mask.ts'
import { painted, regions, withoutHoles } from './regions.ts'

// By experiment; lengths are in half widths of the chest.
/** Where labels are: aside from the axis, and below the upper edge. */
const PLACE = { aside: 0.3, below: 0.5, centre: 0.13 }
/** The size of labels, and the share of the box around one that it fills, unlike letters and prints. */
const SIZE = { narrowest: 0.06, widest: 0.36, lowest: 0.035, highest: 0.32, filled: 0.6 }
/** In Oklab: how far a label's colour is from the usual colour around it. */
const CONTRAST = 0.13

/** The box around the label; null when there is none. */
export function labelIn(lab: Lab, mask: Mask): Bounds | null {
  const rows = bodyRowsOf(mask)
  if (!rows) return null
  const { axis } = rows
  const half = chestHalf(rows)
  const { width, height } = mask
  const inside: number[] = []
  for (let x = Math.ceil(axis - PLACE.aside * half); x <= axis + PLACE.aside * half; x++) {
    const top = topOf(mask, x)
    if (top === null) continue
    for (let y = top; y < height && y - top < PLACE.below * half; y++) {
      if (mask.data[y * width + x] === 1) inside.push(y * width + x)
    }
  }
  if (inside.length === 0) return null
  const usual = medianColour(lab, inside)
  const maskOf = (pixels: Iterable<number>) => painted(emptyMask(mask), [pixels], 1)
  const differs = maskOf(inside.filter((i) => colourDistance(lab, i, usual) > CONTRAST))
  // Of some labels only the frame has another colour.
  for (const pixels of regions(withoutHoles(differs), 1)) {
    const box = boundsOf(maskOf(pixels))!
    const [across, down] = [(box.right - box.left) / half, (box.bottom - box.top) / half]
    const isLabel =
      across > SIZE.narrowest &&
      across < SIZE.widest &&
      down > SIZE.lowest &&
      down < SIZE.highest &&
      pixels.length > SIZE.filled * (box.right - box.left) * (box.bottom - box.top) &&
      Math.abs((box.left + box.right) / 2 - axis) < PLACE.centre * half
    if (isLabel) return box
  }
  return null
}

/** How far around the label its edge and its shadow reach, in pixels of the analysed picture. */
const MARGIN = 3

/**
 * Draws the cloth on both sides of a box over it, in place.
 * @param scale pixels of the picture for one pixel of the box
 */
export function paintOver(picture: Raster, box: Bounds, scale: number): void {
  const { width, height, data } = picture
  const within = (value: number, most: number) => clamp(Math.round(value * scale), 0, most)
  const left = within(box.left - MARGIN, width - 1)
  const right = within(box.right + MARGIN, width - 1)
  const bottom = within(box.bottom + MARGIN, height)
  for (let y = within(box.top - MARGIN, height); y < bottom; y++) {
    const [from, to] = [(y * width + left) * 4, (y * width + right) * 4]
    for (let at = from + 4; at < to; at++) {
      const c = at & 3
      if (c < 3) data[at] = lerp(data[from + c]!, data[to + c]!, (at - from) / (to - from))
    }
  }
}
