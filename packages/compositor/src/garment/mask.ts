// Masks of bytes (0 or 1): rows, columns, bounds, and distances within them.
import { distanceTo as distanceToSet } from '../distance.ts'

export interface Mask {
  width: number
  height: number
  data: Uint8Array
}

/** A mask in the size of another one, set where the test holds. */
export function maskWhere(
  { width, height }: { width: number; height: number },
  test: (index: number) => boolean,
): Mask {
  const data = new Uint8Array(width * height)
  for (let i = 0; i < data.length; i++) if (test(i)) data[i] = 1
  return { width, height, data }
}

/** How many pixels are set. */
export function area({ data }: Mask): number {
  let count = 0
  for (const value of data) count += value
  return count
}

/** How many pixels of a row are set. */
export const areaOfRow = (mask: Mask, y: number): number =>
  runsOf(mask, y).reduce((sum, { left, right }) => sum + right - left, 0)

/** Whether a pixel is at the edge of the picture. */
export function isBorder(index: number, { width, height }: { width: number; height: number }) {
  const x = index % width
  return x === 0 || x === width - 1 || index < width || index >= width * (height - 1)
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
  const far = distanceTo(
    maskWhere(mask, (i) => depth[i]! > radius),
    1,
  )
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

export interface Bounds extends Run {
  top: number
  /** One past the last row. */
  bottom: number
}

/** The bounding box; null for an empty mask. */
export function boundsOf({ width, height, data }: Mask): Bounds | null {
  const bounds = { left: width, top: height, right: 0, bottom: 0 }
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      if (data[at] === 0) continue
      bounds.left = Math.min(bounds.left, x)
      bounds.right = Math.max(bounds.right, x + 1)
      bounds.top = Math.min(bounds.top, y)
      bounds.bottom = y + 1
    }
  }
  return bounds.right > bounds.left ? bounds : null
}
