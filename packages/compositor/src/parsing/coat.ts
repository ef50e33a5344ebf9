// A coat, jacket or shirt that hangs open: beside what is worn under it, it reaches below the waist.
import type { Lab } from '../oklab.ts'
import type { Plane } from '../plane.ts'
import { INNER_TORSO, within, type Frame } from './frame.ts'
import { CLOTH, colourCosts, type ColourCosts } from './mixture.ts'
import { surePixels } from './seeds.ts'

export interface Coat {
  /** The colours of its sleeves, and of what is worn under it below the waist. */
  outer: ColourCosts
  under: ColourCosts
}

// Places in the units of `Frame`; `below` the waist, in torsos.
const SLEEVE = { distance: 0.08, at: [0.4, 1.6] } as const
/** Coats end above the lower legs, and are open in the middle. */
const LOWER_LEG = { distance: 0.1, at: [0.8, 1.7] } as const
const MIDDLE = { aside: 0.12, below: [0.06, 0.5] } as const
/** Where a coat hangs, away from arms and lower legs. */
const BESIDE = { aside: INNER_TORSO, below: [0.06, 0.35], arm: 0.1, leg: 1 } as const
/** A colour is the coat's when it costs less than this, and by so much less than as what is worn under it. By experiment. */
const OUTER = { most: 9, less: 1.5 }
/** Fewer pixels of the small picture do not show what is worn under it. By experiment. */
const LEAST_UNDER = 300
/** The shares of both places that have the coat's colours: at least beside, and at most in the middle. By experiment. */
const SHARE = { beside: 0.48, middle: 0.15 }

/** Whether a colour is the coat's rather than that of what is worn under it. */
export const isOuter = ({ outer, under }: Coat, colour: number): boolean =>
  outer[colour]! < Math.min(OUTER.most, under[colour]! - OUTER.less)

/**
 * @param waist where the lower garment begins, as `Frame.down`
 * @returns null where no garment like that is seen
 */
export function findCoat(
  { lab, person, frame, indices }: { lab: Lab; person: Plane; frame: Frame; indices: Uint16Array },
  waist: number,
): Coat | null {
  const { down, across, armDistance, armAt, legDistance, legAt } = frame
  const learned = (pixels: number[]) => colourCosts(lab, pixels, CLOTH.parts, CLOTH.slack)
  const sleeves = surePixels(
    person,
    (i) => armDistance[i]! < SLEEVE.distance && within(armAt[i]!, SLEEVE.at),
  )
  const isMiddle = (i: number) =>
    Math.abs(across[i]!) < MIDDLE.aside && within(down[i]! - waist, MIDDLE.below)
  const isLeg = (i: number) =>
    legDistance[i]! < LOWER_LEG.distance && within(legAt[i]!, LOWER_LEG.at)
  const isBeside = (i: number) =>
    Math.abs(across[i]!) > BESIDE.aside &&
    within(down[i]! - waist, BESIDE.below) &&
    armDistance[i]! > BESIDE.arm &&
    legAt[i]! < BESIDE.leg
  const under = surePixels(person, (i) => (isMiddle(i) || isLeg(i)) && armDistance[i]! > BESIDE.arm)
  if (under.length < LEAST_UNDER) return null
  const coat = { outer: learned(sleeves), under: learned(under) }
  const shareAt = (isThere: (i: number) => boolean) => {
    const pixels = surePixels(person, isThere)
    return pixels.filter((i) => isOuter(coat, indices[i]!)).length / Math.max(1, pixels.length)
  }
  return shareAt(isBeside) > SHARE.beside && shareAt(isMiddle) < SHARE.middle ? coat : null
}
