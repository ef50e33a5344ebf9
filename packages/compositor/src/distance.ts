// Distances to sets of pixels, and the nearest pixel of a set.
import type { Size } from './raster.ts'

/**
 * The distance of every pixel to the nearest pixel of the set, in pixels; 0 in the set. Chamfer distance,
 * some percent off. 1e6 everywhere when the set is empty.
 */
export function distanceTo({ width, height }: Size, isIn: (at: number) => boolean): Float32Array {
  const far = new Float32Array(width * height)
  for (let at = 0; at < far.length; at++) far[at] = isIn(at) ? 0 : 1e6
  // From the upper left corner to the lower right one, then back.
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      let best = far[at]!
      if (best === 0) continue
      if (x > 0 && far[at - 1]! + 1 < best) best = far[at - 1]! + 1
      far[at] = y > 0 ? beyond(far, at - width, x, width, best) : best
    }
  }
  for (let y = height - 1, at = far.length - 1; y >= 0; y--) {
    for (let x = width - 1; x >= 0; x--, at--) {
      let best = far[at]!
      if (best <= 1) continue
      if (x + 1 < width && far[at + 1]! + 1 < best) best = far[at + 1]! + 1
      far[at] = y + 1 < height ? beyond(far, at + width, x, width, best) : best
    }
  }
  return far
}

/** The distance by way of the three nearest pixels of a neighbouring row, or `best` if that is less. */
function beyond(far: Float32Array, at: number, x: number, width: number, best: number): number {
  let least = far[at]! + 1 < best ? far[at]! + 1 : best
  if (x > 0 && far[at - 1]! + Math.SQRT2 < least) least = far[at - 1]! + Math.SQRT2
  if (x + 1 < width && far[at + 1]! + Math.SQRT2 < least) least = far[at + 1]! + Math.SQRT2
  return least
}

/** For every pixel one of the nearest pixels of the set; −1 everywhere when the set is empty. */
export function nearestIn({ width, height }: Size, isIn: (at: number) => boolean): Int32Array {
  const nearest = new Int32Array(width * height).fill(-1)
  /** The squared distance to it. */
  const squares = new Int32Array(width * height).fill(0x7fffffff)
  for (let at = 0; at < nearest.length; at++) {
    if (!isIn(at)) continue
    nearest[at] = at
    squares[at] = 0
  }
  const offer = (at: number, x: number, y: number, from: number) => {
    const candidate = nearest[from]!
    if (candidate < 0) return
    const row = Math.floor(candidate / width)
    const dx = candidate - row * width - x
    const dy = row - y
    const square = dx * dx + dy * dy
    if (square >= squares[at]!) return
    nearest[at] = candidate
    squares[at] = square
  }
  for (const down of [true, false]) {
    for (let i = 0; i < nearest.length; i++) {
      const at = down ? i : nearest.length - 1 - i
      if (squares[at] === 0) continue
      const y = Math.floor(at / width)
      const x = at - y * width
      if (x > 0 && down) offer(at, x, y, at - 1)
      if (x + 1 < width && !down) offer(at, x, y, at + 1)
      if (down ? y === 0 : y + 1 === height) continue
      const row = down ? at - width : at + width
      for (let dx = -1; dx <= 1; dx++) if (x + dx >= 0 && x + dx < width) offer(at, x, y, row + dx)
    }
  }
  return nearest
}
