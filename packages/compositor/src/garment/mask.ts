// Masks of bytes (0 or 1): rows, columns, bounds, and distances within them.
import { distanceTo as distanceToSet } from '../distance.ts'
import { lerp, markWhere, type Size } from '../raster.ts'

export interface Mask extends Size {
  data: Uint8Array
}

/** A mask in the size of another one, set where the test holds. */
export const maskWhere = ({ width, height }: Size, test: (index: number) => boolean): Mask => ({
  width,
  height,
  data: markWhere(width * height, test),
})

/** A mask of which nothing is set. */
export const emptyMask = ({ width, height }: Size): Mask => ({
  width,
  height,
  data: new Uint8Array(width * height),
})

/** How many pixels are set. */
export function area({ data }: Mask): number {
  let count = 0
  for (let i = 0; i < data.length; i++) count += data[i]!
  return count
}

/** How many pixels of a row are set. */
export const areaOfRow = (mask: Mask, y: number): number =>
  runsOf(mask, y).reduce((sum, { left, right }) => sum + right - left, 0)

/** Whether a pixel is at the edge of the picture. */
export function isBorder(index: number, { width, height }: Size) {
  const x = index % width
  return x === 0 || x === width - 1 || index < width || index >= width * (height - 1)
}

/** The pixels less than `depth` from the edge of the picture, in reading order. */
export function borderOf({ width, height }: Size, depth = 1): number[] {
  const border: number[] = []
  for (let y = 0; y < height; y++) {
    const isInner = y >= depth && y < height - depth
    for (let x = 0; x < width; x++) {
      if (isInner && x === depth) x = Math.max(x, width - depth)
      border.push(y * width + x)
    }
  }
  return border
}

/** Whether the pixel around a point is set; outside the mask none is. */
export function isSet({ width, height, data }: Mask, x: number, y: number): boolean {
  const [column, row] = [Math.floor(x), Math.floor(y)]
  if (column < 0 || row < 0 || column >= width || row >= height) return false
  return data[row * width + column] === 1
}

/** The first row above `lowest` that is set in the column of x; null for none. */
export function topOf(mask: Mask, x: number, lowest = mask.height): number | null {
  for (let y = 0; y < lowest && y < mask.height; y++) if (isSet(mask, x, y)) return y
  return null
}

/** The distance of each pixel to the nearest pixel with value `of`, in pixels, nearly Euclidean. */
export const distanceTo = (mask: Mask, of: 0 | 1): Float32Array =>
  distanceToSet(mask, (at) => mask.data[at] === of)

/**
 * Where the mask is at least twice the radius wide.
 * @param depth the distance of its pixels to the nearest one that is not set
 */
export function opened(depth: Float32Array, mask: Mask, radius: number): Mask {
  const far = distanceToSet(mask, (i) => depth[i]! > radius)
  return maskWhere(mask, (i) => mask.data[i] === 1 && far[i]! <= radius + 1.5)
}

export interface Run {
  left: number
  /** One past the last pixel. */
  right: number
}

/** The runs of set pixels on one row, from left to right. Skips runs shorter than `shortest`. */
export function runsOf({ width, data }: Mask, y: number, shortest = 1): Run[] {
  const runs: Run[] = []
  let start = -1
  for (let x = 0; x <= width; x++) {
    const set = x < width && data[y * width + x] === 1
    if (set && start < 0) start = x
    if (!set && start >= 0) {
      if (x - start >= shortest) runs.push({ left: start, right: x })
      start = -1
    }
  }
  return runs
}

/** From the first to the last set pixel of a row; null where none is set. */
export function extentOfRow({ width, data }: Mask, y: number): Run | null {
  const row = data.subarray(y * width, (y + 1) * width)
  const left = row.indexOf(1)
  return left < 0 ? null : { left, right: row.lastIndexOf(1) + 1 }
}

export interface Bounds extends Run {
  top: number
  /** One past the last row. */
  bottom: number
}

/** The row at a share of the way from the top of a box to its bottom. */
export const rowAt = ({ top, bottom }: Bounds, share: number): number =>
  Math.round(lerp(top, bottom, share))

/** The bounding box; null for an empty mask. */
export function boundsOf(mask: Mask): Bounds | null {
  const { width, height } = mask
  const bounds = { left: width, top: height, right: 0, bottom: 0 }
  for (let y = 0; y < height; y++) {
    const extent = extentOfRow(mask, y)
    if (!extent) continue
    bounds.left = Math.min(bounds.left, extent.left)
    bounds.right = Math.max(bounds.right, extent.right)
    bounds.top = Math.min(bounds.top, y)
    bounds.bottom = y + 1
  }
  return bounds.right > bounds.left ? bounds : null
}
