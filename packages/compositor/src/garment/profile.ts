// Reads a silhouette row by row: the runs of set pixels on each row.
import type { Mask } from './regions.ts'

export interface Run {
  left: number
  /** One past the last pixel. */
  right: number
}

/** The runs of one row, from left to right. Skips runs shorter than `shortest`. */
export function runsOf(mask: Mask, y: number, shortest = 1): Run[] {
  const { width, data } = mask
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

export interface Bounds {
  left: number
  top: number
  right: number
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

/** The first row set in column x, looking down from `from`; -1 for none. */
export function topOf({ width, height, data }: Mask, x: number, from = 0): number {
  const column = Math.min(width - 1, Math.max(0, Math.floor(x)))
  for (let y = from; y < height; y++) if (data[y * width + column] === 1) return y
  return -1
}
