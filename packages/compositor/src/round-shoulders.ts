// Cloth bends around a shoulder: rounds the corner that the torso and the sleeve of a garment make there.
import { distanceTo } from './distance.ts'
import { shareAlong } from './lines.ts'
import { clamp, type Point, type Raster } from './raster.ts'

/** How far around the corner the cloth is read and changed, in radii: nearer to the edge discs are not seen. */
const WINDOW = 2.5
const CHANGED = 1.5
/** The alpha from which on cloth is seen: half of full. */
const SEEN = 128

/** Clears, in place, what no disc within the layers reaches around the corner, except in the neck's half of the shoulder. */
export function roundCorner(layers: Raster[], corner: Point, neck: Point, radius: number): void {
  const { width, height } = layers[0]!
  const left = clamp(Math.round(corner.x - WINDOW * radius), 0, width)
  const top = clamp(Math.round(corner.y - WINDOW * radius), 0, height)
  const part = {
    width: clamp(Math.round(corner.x + WINDOW * radius), 0, width) - left,
    height: clamp(Math.round(corner.y + WINDOW * radius), 0, height) - top,
  }
  const xOf = (at: number) => left + (at % part.width)
  const yOf = (at: number) => top + Math.floor(at / part.width)
  const alphaOf = (at: number) => (yOf(at) * width + xOf(at)) * 4 + 3
  const isClear = (at: number) => layers.every(({ data }) => data[alphaOf(at)]! < SEEN)
  const isOuter = (at: number) => shareAlong(corner, neck, { x: xOf(at), y: yOf(at) }) < 0.5
  const fromEdge = distanceTo(part, (at) => isClear(at) && isOuter(at))
  const fromDisc = distanceTo(part, (at) => fromEdge[at]! > radius)
  for (let at = 0; at < fromDisc.length; at++) {
    const share = radius + 1 - fromDisc[at]!
    const away = Math.max(Math.abs(xOf(at) - corner.x), Math.abs(yOf(at) - corner.y))
    if (share >= 1 || away > CHANGED * radius) continue
    for (const { data } of layers) data[alphaOf(at)]! *= Math.max(0, share)
  }
}
