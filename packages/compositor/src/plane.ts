// Planes have one number per pixel: masks, distances, lightness. Every operation is symmetric, so that a
// symmetric input has a symmetric result.
import { clamp } from './raster.ts'

export interface Plane {
  width: number
  height: number
  data: Float32Array
}

export const createPlane = (width: number, height: number): Plane => ({
  width,
  height,
  data: new Float32Array(width * height),
})

/** Three box blurs, close to a Gaussian whose deviation is about the radius. */
export function blur(plane: Plane, radius: number): Plane {
  const reach = Math.round(radius)
  if (reach < 1) return { ...plane, data: plane.data.slice() }
  const { width, height } = plane
  const result = { width, height, data: plane.data.slice() }
  const line = new Float64Array(Math.max(width, height))
  for (let pass = 0; pass < 3; pass++) {
    for (let y = 0; y < height; y++) blurLine(result.data, y * width, 1, width, reach, line)
    for (let x = 0; x < width; x++) blurLine(result.data, x, width, height, reach, line)
  }
  return result
}

/** A running mean; outside the picture the nearest pixel is repeated. */
function blurLine(
  data: Float32Array,
  start: number,
  step: number,
  length: number,
  reach: number,
  line: Float64Array,
): void {
  for (let i = 0; i < length; i++) line[i] = data[start + i * step]!
  const first = line[0]!
  const last = line[length - 1]!
  let sum = first * reach
  for (let i = 0; i <= reach; i++) sum += line[Math.min(i, length - 1)]!
  const share = 1 / (2 * reach + 1)
  for (let i = 0; i < length; i++) {
    data[start + i * step] = sum * share
    const gone = i - reach
    const come = i + reach + 1
    sum += (come < length ? line[come]! : last) - (gone >= 0 ? line[gone]! : first)
  }
}

/** The value between pixel centres; outside the plane, that of the nearest edge. */
export function sample(plane: Plane, x: number, y: number): number {
  const { width, height, data } = plane
  const px = clamp(x - 0.5, 0, width - 1)
  const py = clamp(y - 0.5, 0, height - 1)
  const left = Math.floor(px)
  const top = Math.floor(py)
  const right = Math.min(left + 1, width - 1)
  const bottom = Math.min(top + 1, height - 1)
  const fx = px - left
  const fy = py - top
  const upper = data[top * width + left]! * (1 - fx) + data[top * width + right]! * fx
  const lower = data[bottom * width + left]! * (1 - fx) + data[bottom * width + right]! * fx
  return upper * (1 - fy) + lower * fy
}

/** Stretches or shrinks to another size by interpolation. */
export function resize(plane: Plane, width: number, height: number): Plane {
  const result = createPlane(width, height)
  for (let y = 0, at = 0; y < height; y++) {
    const sourceY = ((y + 0.5) * plane.height) / height
    for (let x = 0; x < width; x++, at++) {
      result.data[at] = sample(plane, ((x + 0.5) * plane.width) / width, sourceY)
    }
  }
  return result
}

/** The local mean of `values`, weighted by `weight`; continues smoothly where the weight is 0. */
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

/** The value below which `share` of the numbers lie; 0 for none. Sorts a copy. */
export function percentile(values: ArrayLike<number>, share: number): number {
  if (values.length === 0) return 0
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
}

export const median = (values: ArrayLike<number>) => percentile(values, 0.5)
