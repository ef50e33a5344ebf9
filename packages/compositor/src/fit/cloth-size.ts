// How long and how wide cloth hangs on a person. Numbers without another origin were chosen by experiment
// on the development photographs.
import type { Body } from '../body.ts'
import type { UpperGarment } from '../garment.ts'
import { isSeen } from '../limb.ts'
import { clamp, lerp } from '../raster.ts'
import type { Scene } from '../scene.ts'

/** How much the shape counts in the length of a garment, from 0 to 1; its scale has the rest. */
const BY_SHAPE = 0.75

/**
 * The hem's height in the body's frame. A photo's scale is uncertain, so the shape of the garment counts
 * as well: tops of the usual proportions end at the hips.
 * @param aspect the garment's length relative to its width at the armpits
 * @param byScale the hem's height by the scale of the shoulders
 */
export function lengthOn(
  body: Body,
  kind: UpperGarment['kind'],
  aspect: number,
  byScale: number,
): number {
  const shape = kind === 'dress' ? aspect : Math.min(aspect, LONGEST_TOP)
  return (usualHem(shape) * body.torso) ** BY_SHAPE * Math.max(1, byScale) ** (1 - BY_SHAPE)
}

/** The greatest aspect of a top. Of one that seems longer, sleeves hide the sides. */
const LONGEST_TOP = 2.6

/**
 * Where a garment ends by its aspect, in lengths of the torso below the shoulders: tops of very different
 * widths end near the hips, dresses are clearly longer than the longest top.
 */
const LENGTHS: readonly (readonly [aspect: number, hem: number])[] = [
  [0.5, 0.3],
  [1.05, 0.64],
  [1.5, 1.02],
  [LONGEST_TOP, 1.22],
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

/** How far a hem lies below that of the current top, and how much it may be lowered for that: in torsos. */
const BELOW_OLD_HEM = 0.02
const LOWERED = 0.14
/** The hem of the shortest dress, in torsos: the middle of the thighs, where nothing is worn below it. */
const SHORTEST_DRESS = 1.45

/** The hem's height: the garment's own length, lengthened a little when it then covers the current top. */
export function hemOf(natural: number, garment: UpperGarment, body: Body, scene: Scene): number {
  if (garment.kind === 'dress') return Math.max(natural, SHORTEST_DRESS * body.torso)
  const { hemY } = scene
  const wanted = hemY + BELOW_OLD_HEM * body.torso
  const limit = natural + LOWERED * body.torso
  if (natural < wanted && wanted < limit) return wanted
  return natural
}

/** The width of fitted cloth relative to the body's. */
export const EASE = 1.04
/**
 * Below the hips, in lengths of the torso, cloth hangs more and more freely over a length of `falls`; it has at least
 * this share of the hips' width.
 */
const HIPS = { at: 1.1, falls: 0.4, least: 0.8 }
/** How loose cloth hangs on the torso: at most this in widths of the body, or this share of its own width. */
const LOOSE = 1.25
const OWN_WIDTH = 0.8

/** Cloth below the hips covers the legs up to this share of their half-widths, also when they stand apart. */
const ON_LEG = 0.8

/** Half the garment's width at a height: at least the body's, at most what hangs loosely. */
export function widthAt(body: Body, sign: -1 | 1, y: number, natural: number): number {
  const hips = body.torso * HIPS.at
  const own = Math.abs(body.edgeAt(sign, Math.min(y, hips)))
  const free = clamp((y - hips) / (body.torso * HIPS.falls), 0, 1)
  const most = lerp(Math.max(own * LOOSE, natural * OWN_WIDTH), natural, free)
  const least = own * lerp(EASE, HIPS.least, free)
  return Math.max(
    Math.min(natural, most),
    lerp(least, Math.max(least, legsAt(body, sign, y)), free),
  )
}

/** How far the legs reach to one side at a height in the frame. */
function legsAt({ frame, left, right }: Body, sign: -1 | 1, y: number): number {
  const edges = [left, right].flatMap(({ leg: { joints, radii } }) =>
    ([0, 1] as const).map((part) => {
      const [from, to] = [frame.toFrame(joints[part]), frame.toFrame(joints[part + 1]!)]
      const share = (y - from.y) / (to.y - from.y)
      if (!isSeen(joints[part + 1]!) || !(share >= 0 && share <= 1)) return 0
      const radius = lerp(radii[part], radii[part + 1]!, share)
      return sign * lerp(from.x, to.x, share) + ON_LEG * radius
    }),
  )
  return Math.max(...edges)
}
