// Cloth bends around a shoulder: rounds the corner that the torso and the sleeve of a garment make there.
import { distanceTo } from './distance.ts'
import { clamp, type Point, type Raster } from './raster.ts'

/** How far around the corner the cloth is read and changed, in radii: nearer to the edge discs are not seen. */
const WINDOW = 2.5
const CHANGED = 1.5
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
  const alphaAt = (at: number) =>
    ((top + Math.floor(at / part.width)) * width + left + (at % part.width)) * 4 + 3
  const fromEdge = distanceTo(part, (at) => layers.every(({ data }) => data[alphaAt(at)]! < SEEN))
  const fromDisc = distanceTo(part, (at) => fromEdge[at]! > radius)
  for (let at = 0; at < fromDisc.length; at++) {
    const share = radius + 1 - fromDisc[at]!
    if (share >= 1) continue
    const [x, y] = [left + (at % part.width), top + Math.floor(at / part.width)]
    if (Math.max(Math.abs(x - corner.x), Math.abs(y - corner.y)) > CHANGED * radius) continue
    for (const { data } of layers) data[alphaAt(at)]! *= Math.max(0, share)
  }
}
