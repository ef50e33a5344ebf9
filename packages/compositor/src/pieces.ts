// Connected pieces of pixels. Pixels are connected by their sides.
import { markWhere, type Size } from './raster.ts'

/** The indices of the piece's pixels, and the value they share. */
export interface Piece {
  value: number
  pixels: Int32Array
}

/** Marks the pixels that `spread` has added. */
export const TAKEN = 255

/**
 * Adds all pixels that have the value and are connected with the `count` ones of the queue.
 * @param values 254 at most; of the pixels that are added, or already in the queue, TAKEN
 * @returns how many pixels there are then
 */
export function spread(
  queue: Int32Array,
  count: number,
  width: number,
  values: Uint8Array,
  value: number,
): number {
  let end = count
  for (let next = 0; next < end; next++) {
    const i = queue[next]!
    const x = i % width
    if (x > 0 && values[i - 1] === value) {
      values[i - 1] = TAKEN
      queue[end++] = i - 1
    }
    if (x + 1 < width && values[i + 1] === value) {
      values[i + 1] = TAKEN
      queue[end++] = i + 1
    }
    if (i >= width && values[i - width] === value) {
      values[i - width] = TAKEN
      queue[end++] = i - width
    }
    if (i + width < values.length && values[i + width] === value) {
      values[i + width] = TAKEN
      queue[end++] = i + width
    }
  }
  return end
}

/** The pieces of equal values in reading order; only those of the value `of` if it is given. */
export const piecesOf = (values: Uint8Array, width: number, of?: number): Piece[] =>
  takePieces(values.slice(), width, of)

/** Memory for the pixels of one piece. It is used and left within one call. */
let memory = new Int32Array(0)

/** The same; marks the pixels that it takes. */
function takePieces(left: Uint8Array, width: number, of?: number): Piece[] {
  if (memory.length < left.length) memory = new Int32Array(left.length)
  const pieces: Piece[] = []
  for (let start = 0; start < left.length; start++) {
    const value = left[start]!
    if (value === TAKEN || (of !== undefined && value !== of)) continue
    left[start] = TAKEN
    memory[0] = start
    pieces.push({ value, pixels: memory.slice(0, spread(memory, 1, width, left, value)) })
  }
  return pieces
}

/** Numbers the pieces of pixels from 1; 0 is outside. `areas[number]` counts their pixels; `areas[0]` is 0. */
export function numberPieces(
  { width, height }: Size,
  isIn: (index: number) => boolean,
): { numbers: Int32Array; areas: number[] } {
  const inside = markWhere(width * height, isIn)
  const numbers = new Int32Array(inside.length)
  const areas = [0]
  for (const { pixels } of takePieces(inside, width, 1)) {
    for (const i of pixels) numbers[i] = areas.length
    areas.push(pixels.length)
  }
  return { numbers, areas }
}
