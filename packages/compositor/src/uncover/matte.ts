// Edges between painted pixels and pixels that stay: which part of a mixed pixel is old cloth.
import { LABEL, type Parsing } from '../parsing.ts'
import { pause } from '../pause.ts'
import { clamp, lerp, ramp } from '../raster.ts'
import { localColours } from './local-colours.ts'
import { BECOMES, isClothes } from './becomes.ts'
import type { Small } from './small.ts'

export type Colour = [number, number, number]

/** Where between the pixel centres of the analysis a pixel of the photo lies. */
export interface Between {
  /** The indices of the four pixels: upper left and right, lower left and right. */
  i: number
  j: number
  k: number
  l: number
  /** The shares of the right and of the lower pixels. */
  fx: number
  fy: number
}

export const nearestOf = ({ i, j, k, l, fx, fy }: Between) =>
  fy < 0.5 ? (fx < 0.5 ? i : j) : fx < 0.5 ? k : l

/** Mixes, in `colour`, the painted colour with the photo's `old` one at an edge; `keep` from 0 to 1 is soft. */
export type Matte = (p: Between, keep: number, old: Readonly<Colour>, colour: Colour) => void

// Chosen by experiment on the development photographs; shares are from 0 to 1.
/** The reach in pixels of the parsing of what is known of both sides, and the least share of each that is enough. */
const REACH = 2
const LEAST_KNOWN = 0.05
/** Less than this share of the photo is not mixed in. */
const NOTHING = 0.01
/** The soft shares that become an alpha of 0 and 1 where nothing is known of the sides. */
const SOFT = { from: 0.15, to: 0.85 }
/** The part of the way between the two colours that counts: their ends are noise. */
const WAY = { from: 0.12, length: 0.76 }
/** The soft shares over which the pure colour becomes the photo's own. */
const OWN = { from: 0.5, to: 0.98 }
/** The least alpha by which the old cloth's share is removed from a colour. */
const LEAST_ALPHA = 0.4
/** Squared distance of two colours, in steps of 255, below which they count as equal. */
const ALIKE = 30 ** 2

/** What is known of both sides of the edges, from the photo in the size of the parsing. */
export async function createMatte(
  small: Small,
  parsing: Parsing,
  becomes: Uint8Array,
  staying: Float32Array,
): Promise<Matte> {
  const { labels } = parsing
  const stays = localColours(
    small,
    (at) => becomes[at] === BECOMES.keep && labels[at] !== LABEL.ground && labels[at] !== LABEL.top,
    REACH,
  )
  await pause()
  const goes = localColours(
    small,
    (at) => becomes[at] !== BECOMES.keep && isClothes(labels[at]),
    REACH,
  )
  const front: Colour = [0, 0, 0]
  return (p, keep, old, colour) => {
    if (keep <= NOTHING) return
    const at = nearestOf(p)
    const simple = ramp(keep, SOFT.from, SOFT.to)
    let alpha = simple
    for (let c = 0; c < 3; c++) front[c] = old[c]!
    // Where skin blends into skin, both sides are skin, so nothing is separated.
    const blends = staying[at]! < 1 && becomes[at] === BECOMES.skin && labels[at] === LABEL.skin
    const known = !blends && stays.share[at]! > LEAST_KNOWN && goes.share[at]! > LEAST_KNOWN
    if (known) {
      let squared = 0
      let along = 0
      for (let c = 0; c < 3; c++) {
        const difference = stays.rgb[at * 3 + c]! - goes.rgb[at * 3 + c]!
        squared += difference * difference
        along += (old[c]! - goes.rgb[at * 3 + c]!) * difference
      }
      if (squared > ALIKE) {
        const seen = clamp((along / squared - WAY.from) / WAY.length, 0, 1)
        const sure = (2 * keep - 1) ** 2
        alpha = lerp(seen, simple, sure)
        const own = ramp(keep, OWN.from, OWN.to)
        for (let c = 0; c < 3; c++) {
          const rest = old[c]! - (1 - seen) * goes.rgb[at * 3 + c]!
          front[c] = lerp(clamp(rest / Math.max(LEAST_ALPHA, seen), 0, 255), old[c]!, own)
        }
      }
    }
    for (let c = 0; c < 3; c++) colour[c] = lerp(colour[c]!, front[c]!, alpha)
  }
}
