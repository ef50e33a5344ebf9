// The cloth's coverage and colour at full resolution from a coarser mask.
import { blur, createPlane, sample, type Plane } from '../plane.ts'
import { ramp, type Raster } from '../raster.ts'
import type { Mask } from './regions.ts'
import { distanceTo } from './distance.ts'

/** How far inside the mask, in its pixels, a colour is free of the ground's. */
const CLEAN = 2.5

/**
 * The cloth alone. Alpha is the feathered coverage, and colours near the edge are those of the cloth
 * further inside, so that soft edges do not show the old ground.
 * @param small the picture in the size of the mask
 */
export function matteOf(picture: Raster, small: Raster, mask: Mask): Raster {
  const { width, height } = picture
  const soft = blur({ ...mask, data: Float32Array.from(mask.data) }, 1)
  const inner = innerColours(small, mask)
  const data = new Uint8ClampedArray(picture.data.length)
  const scale = mask.width / width
  for (let y = 0, at = 0; y < height; y++) {
    const sy = (y + 0.5) * scale
    const row = Math.min(mask.height - 1, Math.floor(sy)) * mask.width
    for (let x = 0; x < width; x++, at += 4) {
      const sx = (x + 0.5) * scale
      const near = row + Math.min(mask.width - 1, Math.floor(sx))
      const own = picture.data[at + 3]! / 255
      const depth = inner.depth[near]!
      if (depth === 0 && soft.data[near]! < 0.01) continue
      const coverage = depth > CLEAN + 2 ? 1 : ramp(sample(soft, sx, sy), 0.36, 0.78)
      data[at + 3] = Math.min(coverage, ramp(own, 0.1, 0.95)) * 255
      const keep = ramp(depth, CLEAN - 1.5, CLEAN + 1)
      for (let c = 0; c < 3; c++) {
        const colour = picture.data[at + c]!
        data[at + c] =
          keep === 1 ? colour : colour * keep + sample(inner.channels[c]!, sx, sy) * (1 - keep)
      }
    }
  }
  return { width, height, data }
}

/** The distance of each pixel to the ground, and the mean colour of the clean cloth around it. */
function innerColours(small: Raster, mask: Mask): { depth: Float32Array; channels: Plane[] } {
  const { width, height } = mask
  const depth = distanceTo(mask, 0)
  // Narrow parts, such as straps, have no clean inside; there, the deepest colour counts.
  const weight = createPlane(width, height)
  for (let i = 0; i < depth.length; i++) {
    weight.data[i] = depth[i] === 0 ? 0 : Math.min(1, (depth[i]! / CLEAN) ** 4)
  }
  const total = blur(weight, 2)
  const channels = [0, 1, 2].map((c) => {
    const plane = createPlane(width, height)
    for (let i = 0; i < depth.length; i++) plane.data[i] = small.data[i * 4 + c]! * weight.data[i]!
    const mean = blur(plane, 2)
    for (let i = 0; i < depth.length; i++) {
      const share = total.data[i]!
      mean.data[i] = share > 1e-4 ? mean.data[i]! / share : small.data[i * 4 + c]!
    }
    return mean
  })
  return { depth, channels }
}
