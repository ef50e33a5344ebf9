// Edges between painted pixels and pixels that stay: which part of a mixed pixel is old cloth.
import { LABEL, type Parsing } from '../parsing.ts'
import { clamp, lerp, ramp } from '../raster.ts'
import { localColours } from './local-colours.ts'
import { BECOMES } from './becomes.ts'
import type { Small } from './small.ts'

type Colour = [number, number, number]
/** Where between the pixel centres of the analysis a pixel of the photo lies. */
export interface Between {
  i: number
  j: number
  k: number
  l: number
  fx: number
  fy: number
}

/** Mixes, in `colour`, the painted colour with the photo's `old` one at an edge; `keep` from 0 to 1 is soft. */
export type Matte = (p: Between, keep: number, old: Readonly<Colour>, colour: Colour) => void

const REACH = 2
/** Squared distance of two colours, in steps of 255, below which they count as equal. */
const ALIKE = 30 ** 2

/** What is known of both sides of the edges, from the photo in the size of the parsing. */
export function createMatte(
  small: Small,
  parsing: Parsing,
  becomes: Uint8Array,
  staying: Float32Array,
): Matte {
  const { labels } = parsing
  const isCloth = (at: number) => labels[at] === LABEL.top || labels[at] === LABEL.bottom
  const stays = localColours(
    small,
    (at) => becomes[at] === BECOMES.keep && labels[at] !== LABEL.ground && labels[at] !== LABEL.top,
    REACH,
  )
  const goes = localColours(small, (at) => becomes[at] !== BECOMES.keep && isCloth(at), REACH)
  const front: Colour = [0, 0, 0]
  return (p, keep, old, colour) => {
    if (keep <= 0.01) return
    const at = p.fy < 0.5 ? (p.fx < 0.5 ? p.i : p.j) : p.fx < 0.5 ? p.k : p.l
    const simple = ramp(keep, 0.15, 0.85)
    let alpha = simple
    for (let c = 0; c < 3; c++) front[c] = old[c]!
    // Where skin blends into skin, both sides are skin, so nothing is separated.
    const blends = staying[at]! < 1 && becomes[at] === BECOMES.skin && labels[at] === LABEL.skin
    const known = !blends && stays.share[at]! > 0.05 && goes.share[at]! > 0.05
    if (known) {
      let squared = 0
      let along = 0
      for (let c = 0; c < 3; c++) {
        const difference = stays.rgb[at * 3 + c]! - goes.rgb[at * 3 + c]!
        squared += difference * difference
        along += (old[c]! - goes.rgb[at * 3 + c]!) * difference
      }
      if (squared > ALIKE) {
        const seen = clamp((along / squared - 0.12) / 0.76, 0, 1)
        const sure = (2 * keep - 1) ** 2
        alpha = lerp(seen, simple, sure)
        const own = ramp(keep, 0.5, 0.98)
        for (let c = 0; c < 3; c++) {
          const pure = clamp(
            (old[c]! - (1 - seen) * goes.rgb[at * 3 + c]!) / Math.max(0.4, seen),
            0,
            255,
          )
          front[c] = lerp(pure, old[c]!, own)
        }
      }
    }
    for (let c = 0; c < 3; c++) colour[c] = lerp(colour[c]!, front[c]!, alpha)
  }
}
