// The smoothing of planes, lines and sequences. Every operation is symmetric, so that a symmetric input
// has a symmetric result.
import { createPlane, type Plane } from './plane.ts'
import type { Point } from './raster.ts'

/** Memory for the values between two passes. It is used and left within one call. */
let between = new Float32Array(0)

function memoryFor(length: number): Float32Array {
  if (between.length < length) between = new Float32Array(length)
  return between.subarray(0, length)
}

/** Three box blurs, close to a Gaussian whose deviation is about the radius. */
export const blur = (plane: Plane, radius: number): Plane =>
  blurInPlace({ ...plane, data: plane.data.slice() }, radius)

/** The same of a plane that nothing else needs. @returns the plane */
export function blurInPlace(plane: Plane, radius: number): Plane {
  const reach = Math.round(radius)
  if (reach < 1) return plane
  const { width } = plane
  const part = rowsAround(plane.data, width, 3 * reach)
  const rows = memoryFor(part.length)
  for (let pass = 0; pass < 3; pass++) {
    blurRows(part, rows, width, reach)
    blurColumns(rows, part, width, part.length / width, reach)
  }
  return plane
}

/** The rows that are not all 0, what lies between them, and `reach` rows around: smoothing changes no others. */
function rowsAround(data: Float32Array, width: number, reach: number): Float32Array {
  let first = 0
  while (data[first] === 0) first++
  let last = data.length - 1
  while (last > first && data[last] === 0) last--
  const top = Math.max(0, Math.floor(first / width) - reach)
  return data.subarray(top * width, (Math.floor(last / width) + 1 + reach) * width)
}

/** A running mean along each row; outside the picture the nearest pixel is repeated. */
function blurRows(from: Float32Array, to: Float32Array, width: number, reach: number): void {
  // Two rows at once: each sum has to wait for the one before it.
  for (let start = 0; start < from.length; start += 2 * width) {
    const other = start + width < from.length ? width : 0
    blurPair(from, to, { start, end: start + width - 1, other }, reach)
  }
}

interface Pair {
  start: number
  end: number
  /** From a pixel of the first row to that of the second one, which may be the same. */
  other: number
}

function blurPair(
  from: Float32Array,
  to: Float32Array,
  { start, end, other }: Pair,
  reach: number,
): void {
  const share = 1 / (2 * reach + 1)
  let sum = from[start]! * reach
  let otherSum = from[start + other]! * reach
  for (let at = start; at <= start + reach; at++) {
    const come = at < end ? at : end
    sum += from[come]!
    otherSum += from[come + other]!
  }
  for (let at = start; at <= end; at++) {
    to[at] = sum * share
    to[at + other] = otherSum * share
    const come = at + reach + 1 < end ? at + reach + 1 : end
    const gone = at - reach > start ? at - reach : start
    sum += from[come]! - from[gone]!
    otherSum += from[come + other]! - from[gone + other]!
  }
}

/** The same along each column, for all columns at once: that is how the pixels lie in memory. */
function blurColumns(
  from: Float32Array,
  to: Float32Array,
  width: number,
  height: number,
  reach: number,
): void {
  const share = 1 / (2 * reach + 1)
  const rowAt = (y: number) => Math.min(Math.max(y, 0), height - 1) * width
  const sums = new Float64Array(width)
  for (let x = 0; x < width; x++) sums[x] = from[x]! * reach
  for (let y = 0; y <= reach; y++) {
    for (let x = 0, at = rowAt(y); x < width; x++, at++) sums[x] = sums[x]! + from[at]!
  }
  for (let y = 0; y < height; y++) {
    const row = y * width
    const come = rowAt(y + reach + 1)
    const gone = rowAt(y - reach)
    for (let x = 0; x < width; x++) {
      const sum = sums[x]!
      to[row + x] = sum * share
      sums[x] = sum + (from[come + x]! - from[gone + x]!)
    }
  }
}

/** The local mean of `values`, weighted by `weight`; NaN where there is no weight. */
export function blurWithin(values: Plane, weight: Plane, radius: number): Plane {
  const weighted = createPlane(values.width, values.height)
  for (let i = 0; i < weighted.data.length; i++) {
    weighted.data[i] = values.data[i]! * weight.data[i]!
  }
  const total = blurInPlace(weighted, radius)
  const share = blur(weight, radius)
  for (let i = 0; i < total.data.length; i++) {
    total.data[i] = share.data[i]! > 1e-3 ? total.data[i]! / share.data[i]! : NaN
  }
  return total
}

/** Two box blurs, in place, of four interleaved values a pixel; outside the picture they are 0. */
export function blurSums(data: Float32Array, width: number, reach: number): void {
  const row = width * 4
  const part = rowsAround(data, row, 2 * reach)
  const rows = memoryFor(part.length)
  const sums = new Float64Array(row)
  for (let pass = 0; pass < 2; pass++) {
    for (let start = 0; start < part.length; start += row) {
      sumRow(part, rows, start, start + row, reach)
    }
    sumColumns(rows, part, row, part.length / row, reach, sums)
  }
}

/** A running mean along a row of four interleaved values; outside the picture there is nothing. */
function sumRow(
  from: Float32Array,
  to: Float32Array,
  start: number,
  end: number,
  reach: number,
): void {
  const share = 1 / (2 * reach + 1)
  const ahead = reach * 4
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  for (let at = start - ahead; at < end; at += 4) {
    const come = at + ahead
    if (come < end) {
      a += from[come]!
      b += from[come + 1]!
      c += from[come + 2]!
      d += from[come + 3]!
    }
    if (at < start) continue
    to[at] = a * share
    to[at + 1] = b * share
    to[at + 2] = c * share
    to[at + 3] = d * share
    const gone = at - ahead
    if (gone < start) continue
    a -= from[gone]!
    b -= from[gone + 1]!
    c -= from[gone + 2]!
    d -= from[gone + 3]!
  }
}

/** The same along all columns of values that lie side by side. */
function sumColumns(
  from: Float32Array,
  to: Float32Array,
  row: number,
  height: number,
  reach: number,
  sums: Float64Array,
): void {
  const share = 1 / (2 * reach + 1)
  sums.fill(0)
  for (let y = -reach; y < height; y++) {
    const come = (y + reach) * row
    if (y + reach < height) {
      for (let x = 0; x < row; x++) sums[x] = sums[x]! + from[come + x]!
    }
    if (y < 0) continue
    for (let x = 0, at = y * row; x < row; x++, at++) to[at] = sums[x]! * share
    const gone = (y - reach) * row
    if (gone >= 0) for (let x = 0; x < row; x++) sums[x] = sums[x]! - from[gone + x]!
  }
}

/** The mean of the values at `span` places before and behind a place, and its own. */
export function meanAround(valueAt: (place: number) => number, at: number, span: number): number {
  let sum = 0
  for (let place = at - span; place <= at + span; place++) sum += valueAt(place)
  return sum / (2 * span + 1)
}

/** A running mean over 2 × reach + 1 values; the first and the last are repeated beyond the ends. */
export const smoothValues = (values: Float64Array, reach: number): Float64Array =>
  values.map((_, i) =>
    meanAround((at) => values[Math.min(Math.max(at, 0), values.length - 1)]!, i, reach),
  )

/** Rounds a line with fixed ends by a running mean. */
export const smoothLine = (line: readonly Point[], reach: number): Point[] =>
  line.map((_, i) => meanPoint(line, i, Math.min(reach, i, line.length - 1 - i)))

/** A closed outline smoothed by a running mean over 2 × reach + 1 points. */
export function smoothClosed(outline: readonly Point[], reach: number): Point[] {
  const span = Math.min(reach, Math.floor((outline.length - 1) / 2))
  return outline.map((_, i) => meanPoint(outline, i, span))
}

/** The mean of the points around one; the line is closed where they pass its ends. */
function meanPoint(line: readonly Point[], at: number, span: number): Point {
  const pointAt = (i: number) => line[(i + line.length) % line.length]!
  return {
    x: meanAround((i) => pointAt(i).x, at, span),
    y: meanAround((i) => pointAt(i).y, at, span),
  }
}

/** Evens values out by eight binomial means over three of them; the fixed ones stay. */
export function smoothBetween(values: readonly number[], fixed: readonly boolean[]): number[] {
  let current = [...values]
  const last = current.length - 1
  for (let pass = 0; pass < 8; pass++) {
    current = current.map((value, i) =>
      fixed[i]
        ? value
        : (current[Math.max(0, i - 1)]! + 2 * value + current[Math.min(last, i + 1)]!) / 4,
    )
  }
  return current
}
