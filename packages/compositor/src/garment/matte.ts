// The cloth's coverage and colour at full resolution from a coarser mask.
import { pause, pauseInRows } from '../pause.ts'
import { createPlane, sample, type Plane } from '../plane.ts'
import { ramp, type Raster } from '../raster.ts'
import { distanceTo, type Mask } from './mask.ts'
import { blur, blurInPlace } from '../smoothing.ts'

/** How far inside the mask, in its pixels, a colour is free of the ground's. */
const CLEAN = 2.5
/** The coverage, of a blurred mask, at which the cloth begins and is full: inside the mask's edge, which is mixed. */
const EDGE = { from: 0.36, to: 0.78 }
/** The same of the picture's own alpha. By experiment. */
const OWN_EDGE = { from: 0.1, to: 0.95 }
const ALMOST_ZERO = 1e-4

/**
 * The cloth alone. Alpha is the feathered coverage, and colours near the edge are those of the cloth
 * further inside, so that soft edges do not show the old ground.
 * @param small the picture in the size of the mask
 */
export async function matteOf(picture: Raster, small: Raster, mask: Mask): Promise<Raster> {
  const { width, height } = picture
  const soft = blurInPlace({ ...mask, data: new Float32Array(mask.data) }, 1)
  await pause()
  const inner = innerColours(small, mask)
  const data = new Uint8ClampedArray(picture.data.length)
  const scale = mask.width / width
  for (let y = 0, at = 0; y < height; y++) {
    await pauseInRows(y, picture)
    const sy = (y + 0.5) * scale
    const row = Math.min(mask.height - 1, Math.floor(sy)) * mask.width
    for (let x = 0; x < width; x++, at += 4) {
      const sx = (x + 0.5) * scale
      const near = row + Math.min(mask.width - 1, Math.floor(sx))
      const own = picture.data[at + 3]! / 255
      const depth = inner.depth[near]!
      if (depth === 0 && soft.data[near]! < 0.01) continue
      const coverage = depth > CLEAN + 2 ? 1 : ramp(sample(soft, sx, sy), EDGE.from, EDGE.to)
      data[at + 3] = Math.min(coverage, ramp(own, OWN_EDGE.from, OWN_EDGE.to)) * 255
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
    const mean = blurInPlace(plane, 2)
    for (let i = 0; i < depth.length; i++) {
      const share = total.data[i]!
      mean.data[i] = share > ALMOST_ZERO ? mean.data[i]! / share : small.data[i * 4 + c]!
    }
    return mean
  })
  return { depth, channels }
}
