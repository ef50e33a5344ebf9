// Connected pieces of pixels. Pixels are connected by their sides.
import type { Size } from './raster.ts'

/** The indices of the piece's pixels, and the value they share. */
export interface Piece {
  value: number
  pixels: Int32Array
}

/**
 * Adds all pixels that are connected with the first `count` ones of the queue, those before `first` left out.
 * @param take whether a pixel belongs to them; must be false for pixels that it has taken
 * @returns how many pixels there are then
 */
export function spread(
  queue: Int32Array,
  count: number,
  width: number,
  take: (index: number) => boolean,
  first = 0,
): number {
  let end = count
  for (let next = first; next < end; next++) {
    const i = queue[next]!
    const x = i % width
    if (x > 0 && take(i - 1)) queue[end++] = i - 1
    if (x + 1 < width && take(i + 1)) queue[end++] = i + 1
    if (i >= width && take(i - width)) queue[end++] = i - width
    if (i + width < queue.length && take(i + width)) queue[end++] = i + width
  }
  return end
}

/** The pieces of equal values in reading order; only those of the value `of` if it is given. */
export function piecesOf(values: Uint8Array, width: number, of?: number): Piece[] {
  const seen = new Uint8Array(values.length)
  // All pieces one after the other.
  const queue = new Int32Array(values.length)
  let end = 0
  let value = 0
  const take = (i: number) => {
    if (seen[i] === 1 || values[i] !== value) return false
    seen[i] = 1
    return true
  }
  const pieces: Piece[] = []
  for (let start = 0; start < values.length; start++) {
    value = values[start]!
    if ((of !== undefined && value !== of) || !take(start)) continue
    const first = end
    queue[end++] = start
    end = spread(queue, end, width, take, first)
    pieces.push({ value, pixels: queue.subarray(first, end) })
  }
  return pieces
}

/** Numbers the pieces of pixels from 1; 0 is outside. `areas[number]` counts their pixels; `areas[0]` is 0. */
export function numberPieces(
  { width, height }: Size,
  isIn: (index: number) => boolean,
): { numbers: Int32Array; areas: number[] } {
  const numbers = new Int32Array(width * height)
  const queue = new Int32Array(numbers.length)
  const areas = [0]
  const take = (i: number) => {
    if (numbers[i] !== 0 || !isIn(i)) return false
    numbers[i] = areas.length
    return true
  }
  for (let start = 0; start < numbers.length; start++) {
    if (!take(start)) continue
    queue[0] = start
    areas.push(spread(queue, 1, width, take))
  }
  return { numbers, areas }
}
