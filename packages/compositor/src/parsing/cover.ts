// How far the clothing reaches along the arms and legs.
import type { Plane } from '../plane.ts'
import type { Frame } from './frame.ts'
import { CAP, type ColourCosts } from './mixture.ts'
import { PROBABLE } from './seeds.ts'

/** Where the clothing of one limb ends, counted in joints as in `Frame`; 0 means a bare limb. */
export interface CoverEnd {
  at: number
  /** From 0 to 1: how much better cloth above and skin below explain the colours than any other end. */
  certainty: number
}

/** In joints: the length of a stretch; the last place where a sleeve may end, a little beyond the wrist. */
const STEP = 0.05
const LAST = 2.2
const BINS = Math.round(LAST / STEP)
/** How near to the bones a pixel must lie to show the limb's surface. */
const CORE = 0.08
/** The most that a pixel says for skin or cloth, in costs, and the fewest pixels that speak for a stretch in full. */
const MOST = 4
const FEWEST = 3
/** Above this cost a colour is neither of them: a bag strap, a bracelet, or what hides the limb. */
const NEITHER = 0.8 * CAP
/** Ends this many steps apart are no alternatives to each other. */
const NEAR = 6
/** In the unit of `MOST` per step: the loss that makes two limbs end differently, and the margin of a certain end. */
const UNLIKE = 30
const CERTAIN = 15

/** The ends of the two sleeves or of the two legs of the lower garment. */
export function coverEnds(
  limbs: 'arm' | 'leg',
  person: Plane,
  frame: Frame,
  indices: Uint16Array,
  skin: ColourCosts,
  cloth: ColourCosts,
): CoverEnd[] {
  const sums = [new Float32Array(BINS), new Float32Array(BINS)]
  const counts = [new Float32Array(BINS), new Float32Array(BINS)]
  const distance = frame[`${limbs}Distance`]
  const along = frame[`${limbs}At`]
  const sides = frame[`${limbs}Side`]
  for (let i = 0; i < indices.length; i++) {
    const k = Math.floor(along[i]! / STEP)
    if (distance[i]! > CORE || k >= BINS || person.data[i]! < PROBABLE) continue
    const colour = indices[i]!
    if (Math.min(skin[colour]!, cloth[colour]!) > NEITHER) continue
    const likeSkin = Math.max(-MOST, Math.min(MOST, cloth[colour]! - skin[colour]!))
    sums[sides[i]!]![k] = sums[sides[i]!]![k]! + likeSkin
    counts[sides[i]!]![k] = counts[sides[i]!]![k]! + 1
  }
  const gains = sums.map((side, s) => side.map((sum, k) => sum / Math.max(counts[s]![k]!, FEWEST)))
  return endsOf(gains.map(valuesOf) as [number[], number[]])
}

/** How well an end at each stretch explains the limb; `likeSkin` is how much more it looks like skin than cloth. */
function valuesOf(likeSkin: Float32Array): number[] {
  let value = likeSkin.reduce((sum, gain) => sum + gain, 0)
  const values = [value]
  for (const gain of likeSkin) values.push((value -= 2 * gain))
  return values
}

/** Both limbs end alike unless that would explain one of them much worse. */
function endsOf(values: [number[], number[]]): CoverEnd[] {
  const together = bestOf(values[0].map((value, k) => value + values[1][k]!))
  return values.map((own) => {
    const alone = bestOf(own)
    const loss = Math.max(...own) - own[together.step]!
    const { step, margin } = loss > UNLIKE ? alone : together
    return { at: step * STEP, certainty: Math.max(0, Math.min(1, margin / CERTAIN)) }
  })
}

function bestOf(values: number[]): { step: number; margin: number } {
  const most = Math.max(...values) - 1e-3
  const first = values.findIndex((sum) => sum > most)
  // Where nothing of the limb is seen the clothing is taken to continue.
  let step = first
  while (values[step + 1]! > most) step++
  const others = values.filter((_, k) => k < first - NEAR || k > step + NEAR)
  return { step, margin: others.length > 0 ? most - Math.max(...others) : 0 }
}
