// Holes in the mask: prints in the ground's colour, or gaps through which the ground shows.
import { area, boundsOf, distanceTo, isBorder, type Bounds, type Mask } from './mask.ts'
import { painted, regions } from './regions.ts'

/** Fills prints, but not the gaps between sleeve and body, between legs, or behind straps. */
export function fillPrints(mask: Mask, plain: Mask): Mask {
  const holes = holesOf(mask)
  if (holes.length === 0) return mask
  const filled = painted(mask, holes, 1)
  const isGap = gapTest(filled, mask, plain)
  return painted(
    mask,
    holes.filter((hole) => !isGap(hole)),
    1,
  )
}

/** How many stripes in the ground's colour a column crosses at least, and how high they are at most, in heights of the cloth. */
const STRIPES = { least: 10, high: 0.04 }

/** Fills stripes across the cloth in the ground's colour, which are open at the outline. */
export function fillStripes(mask: Mask): Mask {
  const bounds = boundsOf(mask)
  if (!bounds) return mask
  const { width, data } = mask
  const highest = (bounds.bottom - bounds.top) * STRIPES.high
  const filled = { ...mask, data: data.slice() }
  for (let x = bounds.left; x < bounds.right; x++) {
    const stripes: [from: number, to: number][] = []
    let last = Infinity
    for (let y = bounds.top; y < bounds.bottom; y++) {
      if (data[y * width + x] === 0) continue
      if (y - last > 1 && y - last - 1 <= highest) stripes.push([last + 1, y])
      last = y
    }
    if (stripes.length < STRIPES.least) continue
    for (const [from, to] of stripes) {
      for (let y = from; y < to; y++) filled.data[y * width + x] = 1
    }
  }
  return filled
}

/**
 * Fills the gaps between the fronts and the backs of straps, whose landmarks are those of one strap.
 * @returns the mask itself when there are none
 */
export function fillStraps(mask: Mask): Mask {
  const holes = holesOf(mask)
  if (holes.length === 0) return mask
  const around = surroundingsOf(painted(mask, holes, 1), mask)
  const gaps = holes.filter((hole) => isBehindStrap(hole, around))
  return gaps.length > 0 ? painted(mask, gaps, 1) : mask
}

/** @param pixels in the order of the rows */
function isBesideSleeve(pixels: Int32Array, { top, bottom }: Bounds, width: number): boolean {
  const height = Math.floor(pixels.at(-1)! / width) - Math.floor(pixels[0]! / width) + 1
  return (
    height > (bottom - top) * BESIDE_SLEEVE.tall &&
    height * height > pixels.length * BESIDE_SLEEVE.slim
  )
}

const holesOf = (mask: Mask) =>
  regions(mask, 0).filter((hole) => !hole.some((i) => isBorder(i, mask)))

/** Around a gap the cloth is at most as wide as a sleeve's cuff or a strap: a share of the width. */
const THIN = 0.065
/** The least width of a strap in pixels, and the share of a hole's outline that lies along it. By experiment. */
const STRAP = { width: 2, along: 0.85 }

/** The gap between a wide sleeve and the body: its least height, in heights of the cloth and in its own widths. */
const BESIDE_SLEEVE = { tall: 0.25, slim: 4 }

/** How far each pixel is from the ground outside and from the cloth, and how wide thin cloth is, in pixels. */
interface Surroundings {
  depth: Float32Array
  rim: Float32Array
  thin: number
}

function surroundingsOf(filled: Mask, cloth: Mask): Surroundings {
  const bounds = boundsOf(filled)
  const thin = bounds ? (bounds.right - bounds.left) * THIN : 0
  return { depth: distanceTo(filled, 0), rim: distanceTo(cloth, 1), thin }
}

/** Whether a hole is the gap between the front and the back of a strap: the cloth is thin almost all around it. */
function isBehindStrap(hole: Int32Array, { depth, rim, thin }: Surroundings): boolean {
  const outline = hole.filter((i) => rim[i]! < 2)
  const along = outline.filter((i) => depth[i]! < thin)
  return along.length > outline.length * STRAP.along && hole.every((i) => depth[i]! > STRAP.width)
}

/**
 * A test that tells gaps from prints.
 * @param filled the cloth with all its holes filled
 * @param cloth the cloth without the holes
 * @param plain the pixels that look like the ground
 */
function gapTest(filled: Mask, cloth: Mask, plain: Mask): (hole: Int32Array) => boolean {
  const total = area(filled)
  const bounds = boundsOf(filled)
  let around: Surroundings | undefined
  return (pixels) => {
    const size = pixels.length
    if (size < total * 0.0012 || size > total * 0.22) return false
    const { depth, rim, thin } = (around ??= surroundingsOf(filled, cloth))
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
    const least = inner > size * 0.15 && !isBehindStrap(pixels, around) ? 0.6 : 0.4
    // Thinner ones are stripes.
    if (widest <= 3.5 || near < inner * least) return false
    if (shallow < thin) return true
    return bounds !== null && isBesideSleeve(pixels.toSorted(), bounds, cloth.width)
  }
}
