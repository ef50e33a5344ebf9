// Cuts away what the neck opening of a garment without a wearer shows: the inside of its back, a hanger, the neck of a dummy.
import { pause } from '../pause.ts'
import type { Perceiver } from '../perception.ts'
import type { Raster } from '../raster.ts'
import { bodyRowsOf, chestHalf } from './body-rows.ts'
import { maskWhere, type Mask } from './mask.ts'
import { keepLarge, LEAST_PIECE } from './regions.ts'

/** The square that the model looks at: its side, and how far it begins above the cloth, in half widths of the chest. */
const SQUARE = { side: 2.4, above: 0.25 }
/** The colour of the ground in what the model looks at. */
const MAGENTA = [255, 0, 255, 255]
/** From this probability on a pixel is not the garment's outside. */
const LIKELY = 0.5
/** Half the width of the narrowest chest that shows enough, in pixels of the analysed picture. */
const NARROWEST = 8

/**
 * The mask without what its neck opening shows.
 * @param picture what the mask was read from
 */
export async function withoutLining(
  picture: Raster,
  mask: Mask,
  perceiver: Perceiver,
): Promise<Mask> {
  const rows = bodyRowsOf(mask)
  const half = rows ? chestHalf(rows) : 0
  if (!rows || half < NARROWEST) return mask
  const side = SQUARE.side * half
  const y = rows.bounds.top - SQUARE.above * half
  const box = { x: rows.axis - side / 2, y, width: side, height: side }
  await pause()
  const opening = await perceiver.opening(onMagenta(picture, mask), box)
  const cut = maskWhere(mask, (i) => mask.data[i] === 1 && opening.data[i]! < LIKELY)
  return keepLarge(cut, LEAST_PIECE)
}

function onMagenta(picture: Raster, mask: Mask): Raster {
  const data = picture.data.slice()
  for (let i = 0; i < mask.data.length; i++) if (mask.data[i] === 0) data.set(MAGENTA, i * 4)
  return { ...picture, data }
}
