// Bare arms that stand out beside new sleeves.
import { LABEL } from '../parsing.ts'
import type { Plane } from '../plane.ts'
import { BECOMES, type UncoverPlan } from './becomes.ts'
import { placeIn, type Limb } from './limbs.ts'

/** How far from the ground skin is a rim beside a sleeve, in body sizes; and how far outside of the arm, in pixels. */
const RIM = 0.12
const OUTSIDE = -4
/** How far above the cuff the rim ends, as on the arm's axis. */
const ABOVE_CUFF = 0.12

/** Lets the ground replace skin, real or planned, at the outer edge of an arm that a sleeve covers to its `reach`. */
export function clearBesideSleeves(
  { width, becomes, parsing: { labels, fromGround }, limbs, torso: { size } }: UncoverPlan,
  covered: Plane,
  reach: readonly [number, number],
): void {
  const endOf = ({ inner }: Limb) => 2 * reach[inner > 0 ? 0 : 1] - ABOVE_CUFF
  const sleeved = limbs.filter((limb) => limb.kind === 'arm' && endOf(limb) > 0)
  if (sleeved.length === 0) return
  for (let at = 0; at < labels.length; at++) {
    const isSkin = becomes[at] === BECOMES.skin || labels[at] === LABEL.skin
    if (!isSkin || covered.data[at]! >= 0.5 || fromGround[at]! > RIM * size) continue
    const [x, y] = [(at % width) + 0.5, Math.floor(at / width) + 0.5]
    for (const arm of sleeved) {
      const place = placeIn(arm, x, y)
      if (!place || place.at >= endOf(arm) || place.inside < OUTSIDE) continue
      if (place.across * arm.inner <= 0) becomes[at] = BECOMES.ground
    }
  }
}
