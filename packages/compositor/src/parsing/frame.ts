// Where a pixel lies in relation to the body.
import { ChainPlace, type Body } from './body.ts'

/** The place of each pixel of a list; lengths in shoulder widths unless said otherwise. */
export interface Frame {
  /** From the line between the shoulders (0) to the line between the hips (1) and on. */
  down: Float32Array
  /** Across the body from its middle; the sign tells the side. */
  across: Float32Array
  /** The distance from the nearest arm's bones, and where on them: 0 shoulder, 1 elbow, 2 wrist, 3 fingertips. */
  armDistance: Float32Array
  armAt: Float32Array
  /** The same for the legs: 0 hip, 1 knee, 2 ankle, 3 toes. */
  legDistance: Float32Array
  legAt: Float32Array
  /** The distance from the middle of the face: 1 on the outline of the face. */
  face: Float32Array
}

/** Farther from a limb, in shoulder widths, its place does not matter. */
const FAR = 9

/** @param width the width of the picture in which the pixels are */
export function frameOf(body: Body, width: number, pixels: Int32Array): Frame {
  const size = pixels.length
  const frame: Frame = {
    down: new Float32Array(size),
    across: new Float32Array(size),
    armDistance: new Float32Array(size).fill(FAR),
    armAt: new Float32Array(size),
    legDistance: new Float32Array(size).fill(FAR),
    legAt: new Float32Array(size),
    face: new Float32Array(size),
  }
  const { armDistance, armAt, legDistance, legAt } = frame
  const limbs = [
    { chains: body.arms, distances: armDistance, places: armAt },
    { chains: body.legs, distances: legDistance, places: legAt },
  ]
  const { chest, hip, unit, head } = body
  const dx = hip.x - chest.x
  const dy = hip.y - chest.y
  const square = Math.max(1, dx * dx + dy * dy)
  const length = Math.sqrt(square)
  const cos = Math.cos(head.tilt)
  const sin = Math.sin(head.tilt)
  for (let i = 0; i < size; i++) {
    const pixel = pixels[i]!
    const px = (pixel % width) + 0.5
    const py = Math.floor(pixel / width) + 0.5
    frame.down[i] = ((px - chest.x) * dx + (py - chest.y) * dy) / square
    frame.across[i] = ((px - chest.x) * dy - (py - chest.y) * dx) / (length * unit)
    const hx = px - head.centre.x
    const hy = py - head.centre.y
    const along = (hy * cos - hx * sin) / head.halfHeight
    const aside = (hx * cos + hy * sin) / head.halfWidth
    frame.face[i] = Math.sqrt(aside * aside + along * along)
  }
  for (const { chains, distances, places } of limbs) {
    for (const joints of chains) {
      const nearest = new ChainPlace(joints)
      for (let i = 0; i < size; i++) {
        const pixel = pixels[i]!
        nearest.find((pixel % width) + 0.5, Math.floor(pixel / width) + 0.5)
        if (nearest.distance / unit >= distances[i]!) continue
        distances[i] = nearest.distance / unit
        places[i] = nearest.at
      }
    }
  }
  return frame
}
