// Holes in the mask: prints in the ground's colour, or gaps through which the ground shows.
import { boundsOf } from './profile.ts'
import { area, regions, type Mask, type Region } from './regions.ts'
import { distanceTo } from './distance.ts'

/** Fills prints, but not the gaps between sleeve and body, between legs, or behind straps. */
export function fillPrints(mask: Mask, plain: Mask): Mask {
  const { width, height } = mask
  const holes = regions(mask, 0).filter((hole) => !touchesBorder(hole, width, height))
  if (holes.length === 0) return mask
  const filled = mask.data.slice()
  for (const hole of holes) for (const i of hole.pixels) filled[i] = 1
  const isGap = gapTest({ width, height, data: filled }, mask, plain)
  const data = mask.data.slice()
  for (const hole of holes) if (!isGap(hole)) for (const i of hole.pixels) data[i] = 1
  return { width, height, data }
}

/**
 * A test that tells gaps from prints.
 * @param filled the cloth with all its holes filled
 * @param cloth the cloth without the holes
 * @param plain the pixels that look like the ground
 */
export function gapTest(filled: Mask, cloth: Mask, plain: Mask): (hole: Region) => boolean {
  const bounds = boundsOf(filled)
  if (!bounds) return () => true
  const depth = distanceTo(filled, 0)
  const rim = distanceTo(cloth, 1)
  const total = area(filled)
  // Around a gap the cloth is at most as wide as a sleeve's cuff or a strap.
  const thin = (bounds.right - bounds.left) * 0.05
  return ({ pixels, size }) => {
    if (size < total * 0.0012 || size > total * 0.22) return false
    let near = 0
    let inner = 0
    let widest = 0
    let shallow = Infinity
    for (const i of pixels) {
      shallow = Math.min(shallow, depth[i]!)
      widest = Math.max(widest, rim[i]!)
      // The rim carries the cloth's fringe and shadow.
      if (rim[i]! < 3) continue
      inner++
      near += plain.data[i]!
    }
    // Thinner ones are stripes.
    return widest > 3.5 && near >= inner * (inner > size * 0.15 ? 0.6 : 0.4) && shallow < thin
  }
}

/** Whether the region reaches the edge of the picture. */
export function touchesBorder({ pixels }: Region, width: number, height: number): boolean {
  return pixels.some((i) => {
    const x = i % width
    return x === 0 || x === width - 1 || i < width || i >= width * (height - 1)
  })
}
