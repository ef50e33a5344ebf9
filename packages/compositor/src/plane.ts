// Planes have one number per pixel: masks, distances, lightness.
import { clamp, type Size } from './raster.ts'

export interface Plane extends Size {
  data: Float32Array
}

export const createPlane = (width: number, height: number): Plane => ({
  width,
  height,
  data: new Float32Array(width * height),
})

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

/** The value below which `share` of the numbers lie; 0 for none. NaN is larger than all. */
export function percentile(values: ArrayLike<number>, share: number): number {
  if (values.length === 0) return 0
  const sorted = new Float64Array(values)
  let high = sorted.length
  for (let i = 0; i < high;) {
    if (Number.isNaN(sorted[i]!)) sorted[i] = sorted[--high]!
    else i++
  }
  const place = Math.min(sorted.length - 1, Math.floor(share * sorted.length))
  return place < high ? nthOf(sorted, place, high) : NaN
}

/** The number at a place of the first `end` ones if they were sorted (Hoare's selection). Changes their order. */
function nthOf(values: Float64Array, place: number, end: number): number {
  let first = 0
  let last = end - 1
  while (first < last) {
    const pivot = values[(first + last) >> 1]!
    let low = first
    let high = last
    while (low <= high) {
      while (values[low]! < pivot) low++
      while (values[high]! > pivot) high--
      if (low > high) break
      const value = values[low]!
      values[low++] = values[high]!
      values[high--] = value
    }
    if (place <= high) last = high
    else if (place >= low) first = low
    else break
  }
  return values[place]!
}

export const median = (values: ArrayLike<number>) => percentile(values, 0.5)

/** 0 for none. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]!
  return sum / Math.max(1, values.length)
}
