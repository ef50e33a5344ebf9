// Where the hem of a top or a dress lies on a person.
import type { Body } from '../body.ts'
import type { UpperGarment } from '../garment.ts'
import { lerp } from '../raster.ts'
import type { Scene } from '../scene.ts'

/**
 * The hem's height in the body's frame. A photo's scale is uncertain, so the shape of the garment counts
 * as well: tops of the usual proportions end at the hips.
 * @param aspect the garment's length relative to its width at the armpits
 * @param byScale the hem's height by the scale of the shoulders
 */
export function lengthOn(body: Body, aspect: number, byScale: number): number {
  return (usualHem(aspect) * body.torso) ** 0.75 * Math.max(1, byScale) ** 0.25
}

/**
 * Where a garment ends by its aspect, in lengths of the torso below the shoulders: tops of very different
 * widths end near the hips, dresses are clearly longer than the longest top.
 */
const LENGTHS: readonly (readonly [aspect: number, hem: number])[] = [
  [0.5, 0.3],
  [1.05, 0.64],
  [1.5, 1.02],
  [2.6, 1.22],
  [2.9, 1.7],
  [5.2, 3.2],
]

function usualHem(aspect: number): number {
  const index = LENGTHS.findIndex(([next]) => aspect < next)
  if (index === 0) return LENGTHS[0]![1]
  if (index < 0) return LENGTHS.at(-1)![1]
  const [from, to] = [LENGTHS[index - 1]!, LENGTHS[index]!]
  return lerp(from[1], to[1], (aspect - from[0]) / (to[0] - from[0]))
}

/** The hem's height: the garment's own length, lengthened a little when it then covers the current top. */
export function hemOf(natural: number, garment: UpperGarment, body: Body, scene: Scene): number {
  if (garment.kind === 'dress') return natural
  const { hemY } = scene
  const wanted = hemY + 0.02 * body.torso
  const limit = natural + 0.14 * body.torso
  if (natural < wanted && wanted < limit) return wanted
  return natural
}
