// Bare arms that stand out beside new sleeves.
import { distanceTo } from '../distance.ts'
import { LABEL, type Parsing } from '../parsing.ts'
import type { Plane } from '../plane.ts'
import { BECOMES, type UncoverPlan } from './becomes.ts'
import { placeIn, type Limb } from './limbs.ts'

/** How far from the ground skin is a rim beside a sleeve, in body sizes, and how far outside of the arm, in pixels. */
const RIM = 0.12
const OUTSIDE = -4
/** How far above the cuff the rim ends, as on the arm's axis. */
const ABOVE_CUFF = 0.12

/**
 * Lets the ground replace skin at the outer edge of an arm, between the ground and the sleeve that covers the arm.
 * @param reach the share of the left and the right arm that sleeves cover
 */
export function clearBesideSleeves(
  { width, becomes }: UncoverPlan,
  parsing: Parsing,
  covered: Plane,
  arms: readonly Limb[],
  reach: readonly [number, number],
  size: number,
): void {
  const { labels } = parsing
  const ends = arms.map(({ inner }) => 2 * reach[inner > 0 ? 0 : 1] - ABOVE_CUFF)
  if (!ends.some((end) => end > 0)) return
  const fromGround = distanceTo(parsing, (at) => labels[at] === LABEL.ground)
  for (let at = 0; at < labels.length; at++) {
    if (labels[at] !== LABEL.skin || covered.data[at]! >= 0.5) continue
    if (fromGround[at]! > RIM * size) continue
    const [x, y] = [(at % width) + 0.5, Math.floor(at / width) + 0.5]
    for (const [n, arm] of arms.entries()) {
      const place = placeIn(arm, x, y)
      if (!place || place.at >= ends[n]! || place.inside < OUTSIDE) continue
      if (place.across * arm.inner <= 0) becomes[at] = BECOMES.ground
    }
  }
}
