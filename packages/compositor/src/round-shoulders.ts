// Cloth bends around a shoulder: rounds the corner that the torso and the sleeve of a garment make there.
import { distanceTo } from './distance.ts'
import { clamp, type Point, type Raster } from './raster.ts'

/** The side of the part that is looked at, in radii from the corner. */
const WINDOW = 3
/** The alpha from which on cloth is seen: half of full. */
const SEEN = 128

/** Clears, in place, what of the layers around the corner is not reached by a disc that lies within them. */
export function roundCorner(layers: readonly Raster[], corner: Point, radius: number): void {
  const { width, height } = layers[0]!
  const left = clamp(Math.round(corner.x - WINDOW * radius), 0, width)
  const top = clamp(Math.round(corner.y - WINDOW * radius), 0, height)
  const part = {
    width: clamp(Math.round(corner.x + WINDOW * radius), 0, width) - left,
    height: clamp(Math.round(corner.y + WINDOW * radius), 0, height) - top,
  }
  if (part.width < 1 || part.height < 1) return
  const alphaAt = (at: number) =>
    ((top + Math.floor(at / part.width)) * width + left + (at % part.width)) * 4 + 3
  const fromEdge = distanceTo(part, (at) => layers.every(({ data }) => data[alphaAt(at)]! < SEEN))
  const fromDisc = distanceTo(part, (at) => fromEdge[at]! > radius)
  for (const [at, away] of fromDisc.entries()) {
    const share = radius + 1 - away
    if (share >= 1) continue
    for (const { data } of layers) data[alphaAt(at)]! *= Math.max(0, share)
  }
}
