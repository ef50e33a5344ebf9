// The smoothing of planes, lines and sequences. Every operation is symmetric, so that a symmetric input
// has a symmetric result.
import { createPlane, type Plane } from './plane.ts'
import type { Point } from './raster.ts'

/** Three box blurs, close to a Gaussian whose deviation is about the radius. */
export function blur(plane: Plane, radius: number): Plane {
  const reach = Math.round(radius)
  const { width, height } = plane
  const data = plane.data.slice()
  if (reach < 1) return { width, height, data }
  const between = new Float32Array(data.length)
  for (let pass = 0; pass < 3; pass++) {
    blurRows(data, between, width, reach)
    blurColumns(between, data, width, height, reach)
  }
  return { width, height, data }
}

/** A running mean along each row; outside the picture the nearest pixel is repeated. */
function blurRows(from: Float32Array, to: Float32Array, width: number, reach: number): void {
  const share = 1 / (2 * reach + 1)
  for (let start = 0; start < from.length; start += width) {
    const end = start + width - 1
    let sum = from[start]! * reach
    for (let at = start; at <= start + reach; at++) sum += from[at < end ? at : end]!
    for (let at = start; at <= end; at++) {
      to[at] = sum * share
      const come = at + reach + 1
      const gone = at - reach
      sum += from[come < end ? come : end]! - from[gone > start ? gone : start]!
    }
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
  const total = blur(weighted, radius)
  const share = blur(weight, radius)
  for (let i = 0; i < total.data.length; i++) {
    total.data[i] = share.data[i]! > 1e-3 ? total.data[i]! / share.data[i]! : NaN
  }
  return total
}

/** Two box blurs, in place, of four interleaved values a pixel; outside the picture they are 0. */
export function blurSums(data: Float32Array, width: number, height: number, reach: number): void {
  const between = new Float32Array(data.length)
  const row = width * 4
  for (let pass = 0; pass < 2; pass++) {
    for (let start = 0; start < data.length; start += row) {
      sumLines(data, between, { start, lines: 4, step: 4, length: width, reach })
    }
    sumLines(between, data, { start: 0, lines: row, step: row, length: height, reach })
  }
}

interface Lines {
  start: number
  /** How many lines lie side by side, and the distance from one value of a line to the next. */
  lines: number
  step: number
  length: number
  reach: number
}

/** A running mean along each line; outside the picture there is nothing. */
function sumLines(
  from: Float32Array,
  to: Float32Array,
  { start, lines, step, length, reach }: Lines,
): void {
  const share = 1 / (2 * reach + 1)
  const sums = new Float64Array(lines)
  const add = (i: number, sign: number) => {
    if (i < 0 || i >= length) return
    for (let line = 0, at = start + i * step; line < lines; line++, at++) {
      sums[line] = sums[line]! + sign * from[at]!
    }
  }
  for (let i = 0; i < reach; i++) add(i, 1)
  for (let i = 0; i < length; i++) {
    add(i + reach, 1)
    for (let line = 0, at = start + i * step; line < lines; line++, at++) {
      to[at] = sums[line]! * share
    }
    add(i - reach, -1)
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
