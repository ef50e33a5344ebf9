// Connected regions of a mask.
import { piecesOf, spread, TAKEN } from '../pieces.ts'
import { erode } from '../raster.ts'
import { borderOf, emptyMask, maskWhere, type Mask } from './mask.ts'

/** Marks every pixel that is connected to the border through set pixels. */
export function flood(passable: Mask): Mask {
  const data = passable.data.slice()
  const queue = new Int32Array(data.length)
  let count = 0
  for (const i of borderOf(passable)) {
    if (data[i] !== 1) continue
    data[i] = TAKEN
    queue[count++] = i
  }
  spread(queue, count, passable.width, data, 1)
  return maskWhere(passable, (i) => data[i] === TAKEN)
}

/**
 * A flood fill that does not pass narrow gaps, such as places where the subject's outline fades into
 * the background for a few pixels. Passable pixels within `reach` of the flood count as reached.
 */
export function floodThick(passable: Mask, reach: number): Mask {
  const flooded = flood({ ...passable, data: erode(passable, passable.data, reach) })
  const dry = maskWhere(flooded, (i) => flooded.data[i] === 0)
  const far = erode(flooded, dry.data, reach)
  return maskWhere(passable, (i) => far[i] === 0 && passable.data[i] === 1)
}

/** The indices of the pixels of each region with value `of`, largest first. */
export const regions = ({ data, width }: Mask, of: 0 | 1): Int32Array[] =>
  piecesOf(data, width, of)
    .map(({ pixels }) => pixels)
    .sort((one, other) => other.length - one.length)

/** The least size of a piece of cloth, as a share of the largest one. Chosen by experiment. */
export const LEAST_PIECE = 0.04

/** A copy of the mask with the pixels of the pieces set to a value. */
export function painted(mask: Mask, pieces: readonly Iterable<number>[], value: 0 | 1): Mask {
  const copy = { ...mask, data: mask.data.slice() }
  for (const pixels of pieces) paint(copy, pixels, value)
  return copy
}

/** Leaves the largest region and those of at least `share` of its size. */
export function keepLarge(mask: Mask, share: number): Mask {
  const found = regions(mask, 1)
  const least = (found[0]?.length ?? 0) * share
  return painted(
    emptyMask(mask),
    found.filter((region) => region.length >= least),
    1,
  )
}

/** Sets the pixels to a value, in place. */
export function paint({ data }: Mask, pixels: Iterable<number>, value: 0 | 1): void {
  for (const i of pixels) data[i] = value
}
