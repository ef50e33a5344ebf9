// How likely a curve is the front edge of a neck opening.
import type { Lab } from '../oklab.ts'
import { mean } from '../plane.ts'
import type { Way } from './contour.ts'
import type { Bounds, Mask } from './mask.ts'
import { pointsOf, rayOf, type Rim } from './rims.ts'

/**
 * The weights of the measures below and of those of `Rim`: of a logistic choice between the curves of a garment and none,
 * fitted to 267 product photos, on which the front edge was marked by hand.
 */
const WEIGHT = {
  strength: 3,
  weakest: 2.9,
  separation: 1.2,
  height: -0.9,
  taper: -2.1,
  roughness: -1.6,
  dip: -7.9,
  slenderness: -1.2,
  bluntness: -2.4,
}
/** The score without any evidence. */
const BIAS = -4.15
/**
 * What a label adds to the score of a curve that ends below it, so far at most, in half widths of the chest: it is sewn to the
 * inside of the back. Of 267 product photos six more are cut along the right edge, and no other along a wrong one.
 */
const LABEL = { score: 1, reach: 0.3 }
/** The usual height of the lining that is seen, in half widths of the chest. */
const USUAL_HEIGHT = 0.36

/**
 * Above 0 for a curve that is likely the front edge, and the higher the likelier.
 * @param mask the cloth without its fringe
 * @param half half the width of the chest, in pixels
 * @param label the box around the label in the neck; null for none
 */
export function scoreOf(
  rim: Rim,
  lab: Lab,
  mask: Mask,
  half: number,
  label: Bounds | null,
): number {
  const { height, taper } = liningAbove(rim, mask, half)
  const { slenderness, bluntness, roughness } = formOf(rim)
  return (
    BIAS +
    WEIGHT.strength * rim.strength +
    WEIGHT.weakest * rim.weakest +
    WEIGHT.separation * separationOf(rim, lab, mask, half) +
    WEIGHT.height * Math.log(height / USUAL_HEIGHT) ** 2 +
    WEIGHT.taper * taper +
    WEIGHT.roughness * roughness +
    (WEIGHT.dip * rim.dip) / half +
    WEIGHT.slenderness * slenderness +
    WEIGHT.bluntness * bluntness +
    (label && endsBelow(rim, label, half) ? LABEL.score : 0)
  )
}

function endsBelow({ centre, radii }: Rim, label: Bounds, half: number): boolean {
  const below = centre.y + radii.at(-1)! - label.bottom
  return below > 0 && below < LABEL.reach * half
}

/** Added to heights, in half widths, and to a roughness: smaller ones count as none. */
const NO_HEIGHT = 0.02
const NO_ROUGHNESS = 0.1

/**
 * The lining between the outline and the curve: its height in the middle, in half widths, and the logarithm of its height at
 * both ends relative to that. A seam that follows the neckline has the same height everywhere.
 */
function liningAbove({ centre, radii }: Rim, mask: Mask, half: number) {
  const heights: number[] = []
  radii.forEach((r, ray) => {
    if (Number.isNaN(r)) return
    const at = rayOf(mask, centre, ray)
    const entry = (way: Way) => {
      let q = 0
      while (q < r && at(q, way) < 0) q++
      return Math.min(q, r)
    }
    heights.push(r - (entry(-1) + entry(1)) / 2)
  })
  const heightOf = (part: number[]) => mean(part) / half + NO_HEIGHT
  const height = heightOf(heights.slice(-Math.ceil(heights.length / 6)))
  const ends = heightOf(heights.slice(0, Math.ceil(heights.length / 3)))
  return { height, taper: Math.log(ends / height) }
}

/** The share of the depth at which bluntness is measured: there a V has a fifth of its width, a U two thirds, a box all. */
const LOW = 0.8

/**
 * Logarithms of the depth in half widths of the curve, and of how much the radius changes from ray to ray: prints and folds make
 * jagged curves. And the width low down, as a share of the greatest.
 */
function formOf(rim: Rim) {
  const points = pointsOf(rim)
  const depth = points.at(-1)!.down
  const widest = Math.max(...points.map(({ out }) => out))
  const low = points.filter(({ down }) => down >= LOW * depth)
  const radii = points.map(({ r }) => r)
  const changes = radii.slice(1).map((r, i) => Math.abs(r - radii[i]!))
  return {
    slenderness: Math.log(depth / Math.max(2, widest)),
    bluntness: Math.max(...low.map(({ out }) => out)) / Math.max(1, widest),
    roughness: Math.log((mean(changes) * changes.length) / mean(radii) + NO_ROUGHNESS),
  }
}

/** How far outside the rim colours are compared, in half widths; and the variance of the plainest cloth, in Oklab. */
const BESIDE = 0.2
const LEAST_VARIANCE = 2e-5
/** Colours that are farther apart are not more convincing. */
const SEPARATE = 3

/** How far the colours inside the curve are from those just outside, in standard deviations. */
function separationOf(rim: Rim, lab: Lab, mask: Mask, half: number): number {
  const inside = momentsOf()
  const outside = momentsOf()
  rim.radii.forEach((r, ray) => {
    if (Number.isNaN(r)) return
    const at = rayOf(mask, rim.centre, ray)
    for (const way of [-1, 1] as const) {
      for (let q = 0; q < r - 1; q++) inside.add(lab, at(q, way), q)
      for (let q = Math.ceil(r) + 2; q < r + half * BESIDE; q++) outside.add(lab, at(q, way), q)
    }
  })
  if (inside.weight() === 0 || outside.weight() === 0) return 0
  let sum = 0
  for (let c = 0; c < 3; c++) {
    const gap = inside.mean(c) - outside.mean(c)
    sum += (gap * gap) / (inside.variance(c) + outside.variance(c) + LEAST_VARIANCE)
  }
  return Math.min(SEPARATE, Math.sqrt(sum))
}

/** Weighted means and variances of the channels. */
function momentsOf() {
  const sums = [0, 0, 0]
  const squares = [0, 0, 0]
  let total = 0
  return {
    add(lab: Lab, index: number, weight: number) {
      if (index < 0) return
      total += weight
      for (const [c, channel] of [lab.L, lab.a, lab.b].entries()) {
        const value = channel[index]!
        sums[c] = sums[c]! + value * weight
        squares[c] = squares[c]! + value * value * weight
      }
    },
    weight: () => total,
    mean: (c: number) => sums[c]! / total,
    variance: (c: number) => Math.max(0, squares[c]! / total - (sums[c]! / total) ** 2),
  }
}
