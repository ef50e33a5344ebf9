// Film grain: adds the photo's noise to the cloth, which would look pasted on without it.
import { median } from './plane.ts'
import type { Point, Raster } from './raster.ts'

/** Pixels that are measured, and the green value, of 255, beyond which they are overexposed and have no noise. */
const MAX_SAMPLES = 40_000
const OVEREXPOSED = 250
/** From the median of absolute values to the deviation, for a normal distribution. */
const TO_DEVIATION = 1.4826
/** The deviation of a pixel less the mean of two others, for noise of deviation 1: the root of 1.5. */
const OF_DIFFERENCE = 1.225
/** Lacking grain below this, in levels of 255, is not seen. */
const NOTHING = 0.7

/**
 * Standard deviation of the finest noise, in levels of 255, measured where `alpha` is full.
 * @param isSmooth whether a place, in pixels, has no texture of its own
 */
export function grainOf(
  { width, height, data }: Raster,
  isSmooth: (place: Point) => boolean = () => true,
): number {
  const differences: number[] = []
  const step = Math.max(1, Math.floor((width * height) / MAX_SAMPLES))
  for (let i = width + 1; i < width * height - 1; i += step) {
    if (data[i * 4 + 3]! < 255 || data[i * 4 - 1]! < 255 || data[i * 4 + 7]! < 255) continue
    const green = (index: number) => data[index * 4 + 1]!
    if (green(i) > OVEREXPOSED) continue
    if (!isSmooth({ x: i % width, y: Math.floor(i / width) })) continue
    differences.push(Math.abs(green(i) - (green(i - 1) + green(i + 1)) / 2))
  }
  return (median(differences) * TO_DEVIATION) / OF_DIFFERENCE
}

/** Adds the grain that `picture` lacks. Deterministic: the pattern depends on the position only. */
export function addGrain(picture: Raster, wanted: number): void {
  const lacking = Math.sqrt(Math.max(0, wanted ** 2 - grainOf(picture) ** 2))
  if (lacking < NOTHING) return
  const { data } = picture
  for (let i = 0; i < data.length / 4; i++) {
    if (data[i * 4 + 3] === 0) continue
    const grain = lacking * noiseAt(i)
    for (let c = 0; c < 3; c++) data[i * 4 + c] = data[i * 4 + c]! + grain
  }
}

/** About normal with deviation 1: the sum of four bytes of a hash. */
function noiseAt(index: number): number {
  let hash = Math.imul(index ^ 0x9e3779b9, 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  hash ^= hash >>> 16
  const sum = (hash & 255) + ((hash >>> 8) & 255) + ((hash >>> 16) & 255) + (hash >>> 24)
  // Four bytes have the mean 510 and the deviation 147.8.
  return (sum - 510) / 147.8
}
