// One picture of a pair: what the engine saw, understood and drew, side by side on white.
import type { Composition } from '../../src/compose.ts'
import { shrink, type Raster } from '../../src/raster.ts'
import { garmentOverlay, personOverlay } from './overlay.ts'

/** Pixels of the result; the person, the garment and what was understood are in a column beside it. */
const RESULT = { width: 530, height: 704 }
const SMALL = { width: 176, height: 234 }
const GAP = 4

/** What exists of a pair: after a failure only the pictures that were read. */
export interface Stages {
  photo?: Raster
  product?: Raster
  composition?: Composition
}

export function sheetOf({ photo, product, composition }: Stages): Raster {
  const width = SMALL.width + GAP + RESULT.width
  const data = new Uint8ClampedArray(width * RESULT.height * 4).fill(255)
  const sheet = { width, height: RESULT.height, data }
  const steps = composition?.steps
  const column = [photo, steps ? garmentOverlay(steps.garment) : product]
  if (steps) column.push(personOverlay(steps))
  column.forEach((picture, i) => {
    if (picture) paste(sheet, fitInto(picture, SMALL), 0, i * (SMALL.height + 1))
  })
  if (composition) paste(sheet, fitInto(composition.picture, RESULT), SMALL.width + GAP, 0)
  return sheet
}

/** Draws a picture in place; what does not fit is cut off. Transparent pixels show a chequered ground. */
function paste(target: Raster, picture: Raster, left: number, top: number): void {
  for (let y = 0; y < Math.min(picture.height, target.height - top); y++) {
    for (let x = 0; x < Math.min(picture.width, target.width - left); x++) {
      const from = (y * picture.width + x) * 4
      const to = ((top + y) * target.width + left + x) * 4
      const alpha = picture.data[from + 3]! / 255
      const ground = ((x >> 3) + (y >> 3)) % 2 === 0 ? 235 : 205
      for (let c = 0; c < 3; c++) {
        target.data[to + c] = picture.data[from + c]! * alpha + ground * (1 - alpha)
      }
    }
  }
}

/** The largest copy that fits into the box, with the same proportions. Never enlarges. */
function fitInto(picture: Raster, box: { width: number; height: number }): Raster {
  const scale = Math.min(box.width / picture.width, box.height / picture.height)
  return shrink(picture, Math.round(scale * Math.max(picture.width, picture.height)))
}
