// Distances to sets of pixels, and the nearest pixel of a set.
import { pixelsWhere, type Size } from './raster.ts'

/** A step to a pixel beside or above, and to one diagonal from it, in the whole numbers of `distanceTo`. */
const STRAIGHT = 1 << 16
const DIAGONAL = Math.round(Math.SQRT2 * STRAIGHT)
/** Farther than any pixel. */
const UNKNOWN = 1 << 30

/** Memory for the distances in whole numbers. It is used and left within one call. */
let memory = new Int32Array(0)

/**
 * The distance of every pixel to the nearest pixel of the set, in pixels; 0 in the set. Chamfer distance,
 * some percent off. 1e6 everywhere when the set is empty.
 */
export function distanceTo({ width, height }: Size, isIn: (at: number) => boolean): Float32Array {
  const size = width * height
  if (memory.length < size) memory = new Int32Array(size)
  const whole = memory.subarray(0, size).fill(UNKNOWN)
  for (let at = 0; at < size; at++) if (isIn(at)) whole[at] = 0
  const far = new Float32Array(size)
  const first = whole.indexOf(0)
  if (first < 0) return far.fill(1e6)
  // From the set's first row to the lower right corner, then back.
  const top = Math.floor(first / width)
  for (let y = top; y < height; y++) sweep(whole, y * width, 1, width, y > top ? -width : 0)
  for (let y = height; y > 0; y--) sweep(whole, y * width - 1, -1, width, y < height ? width : 0)
  for (let at = 0; at < size; at++) far[at] = whole[at]! / STRAIGHT
  return far
}

/**
 * Measures the distances of a row by way of the pixel before, and of the three nearest pixels of the row beside it.
 * @param first the first pixel; `step` leads to the next one, `beside` to the same pixel of the other row (0: none)
 */
function sweep(far: Int32Array, first: number, step: number, width: number, beside: number): void {
  let before = UNKNOWN
  let last = UNKNOWN
  let middle = beside === 0 ? UNKNOWN : far[first + beside]!
  for (let x = 0, at = first; x < width; x++, at += step) {
    const next = beside === 0 || x + 1 === width ? UNKNOWN : far[at + beside + step]!
    const own = far[at]!
    if (own > STRAIGHT) {
      const diagonal = (last < next ? last : next) + DIAGONAL
      const above = middle + STRAIGHT
      let least = diagonal < above ? diagonal : above
      if (own < least) least = own
      if (before + STRAIGHT < least) least = before + STRAIGHT
      before = least
      far[at] = least
    } else {
      before = own
    }
    last = middle
    middle = next
  }
}

/** For every pixel one of the nearest pixels of the set; −1 everywhere when the set is empty. */
export function nearestIn({ width, height }: Size, isIn: (at: number) => boolean): Int32Array {
  const nearest = new Int32Array(width * height).fill(-1)
  /** The squared distance to it. */
  const squares = new Int32Array(width * height).fill(0x7fffffff)
  for (const at of pixelsWhere(nearest.length, isIn)) {
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
