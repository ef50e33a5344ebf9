// A rim is the same on both sides; the real edge rarely is. Fits each side to its own edge.
import type { Lab } from '../oklab.ts'
import type { Mask } from './mask.ts'
import type { Way } from './contour.ts'
import { meanAround } from '../smoothing.ts'
import { agreementOf, changeAt, rayOf, STEP, type Rim } from './rims.ts'

/** The contrast that counts half. */
const USUAL = 0.03
/** How far a side may move, in half widths; and the costs of that and of one pixel more than the last ray. By experiment. */
const SPAN = 0.07
const AWAY = 0.05
const JUMP = 0.12

/** The radii of the left and of the right side, as those of a rim. */
export type Sides = readonly [Float64Array, Float64Array]

/**
 * The radii of both sides, each moved by a few pixels to where the colour changes most in the rim's own
 * way, without what juts into the opening.
 * @param mask the cloth without its fringe
 * @param half half the width of the chest, in pixels
 */
export function sidesOf(rim: Rim, lab: Lab, mask: Mask, half: number): Sides {
  const { mean } = agreementOf(rim, lab, mask)
  const length = Math.hypot(...mean) || 1
  const radiiOf = (way: Way) =>
    movedRadii(rim.radii, half, (ray, r) => {
      const off = changeAt(lab, rayOf(mask, rim.centre, ray), r, way)
      const along = (off[0] * mean[0] + off[1] * mean[1] + off[2] * mean[2]) / length
      return along > 0 ? along / (along + USUAL) : 0
    })
  const left = radiiOf(-1)
  const right = radiiOf(1)
  levelOut(left, right, half)
  return [left, right]
}

/** @param evidence for an edge at a ray and a radius, from 0 to 1 */
function movedRadii(
  radii: Float64Array,
  half: number,
  evidence: (ray: number, r: number) => number,
): Float64Array {
  const span = Math.max(2, Math.round(half * SPAN))
  const states = 2 * span + 1
  const first = radii.findIndex((r) => !Number.isNaN(r))
  let total = new Float64Array(states)
  const from = new Int8Array(radii.length * states)
  for (let ray = first; ray < radii.length; ray++) {
    const next = new Float64Array(states)
    for (let state = 0; state < states; state++) {
      let best = state
      for (let other = 0; other < states; other++) {
        if (gain(total, other, state) > gain(total, best, state)) best = other
      }
      from[ray * states + state] = best
      const away = state - span
      next[state] =
        gain(total, best, state) +
        evidence(ray, radii[ray]! + away) -
        (AWAY * Math.abs(away)) / span
    }
    total = next
  }
  const result = Float64Array.from(radii)
  let state = total.indexOf(Math.max(...total))
  for (let ray = radii.length - 1; ray >= first; ray--) {
    result[ray] = radii[ray]! + state - span
    state = from[ray * states + state]!
  }
  return smoothed(result, first)
}

const gain = (total: Float64Array, from: number, to: number) =>
  total[from]! - JUMP * Math.abs(from - to)

/** A running mean over five rays; straight down the two sides meet, so nothing is averaged across. */
function smoothed(radii: Float64Array, first: number): Float64Array {
  return radii.map((_, ray) => {
    const span = Math.min(2, ray - first, radii.length - 1 - ray)
    if (span < 0) return NaN
    return meanAround((place) => radii[place]!, ray, span)
  })
}

/** The most, in half widths, that juts into an opening, such as a label; where it is level, in pixels. By experiment. */
const JUTTING = 0.15
const LEVEL = 3

/** Moves what juts into the opening outwards, in place: openings are convex. */
export function levelOut(left: Float64Array, right: Float64Array, half: number): void {
  const last = left.length - 1
  // Above, a rim can run along the outline through its centre.
  const first = left.findIndex((r, ray) => r > LEVEL && right[ray]! > LEVEL)
  if (first < 0) return
  // From the uppermost ray on the right over the lowest one to the uppermost one on the left.
  const radii = [...right, ...left.slice(0, last).reverse()]
  /** The radius at which a ray between two others crosses the line between their ends. */
  const chord = (from: number, to: number, at: number) =>
    Math.sin((to - from) * STEP) /
    (Math.sin((at - from) * STEP) / radii[to]! + Math.sin((to - at) * STEP) / radii[from]!)
  const hull: number[] = []
  for (let ray = first; ray < radii.length - first; ray++) {
    while (
      hull.length > 1 &&
      (ray - hull.at(-2)!) * STEP < Math.PI &&
      radii[hull.at(-1)!]! < chord(hull.at(-2)!, ray, hull.at(-1)!)
    )
      hull.pop()
    hull.push(ray)
  }
  for (const [n, from] of hull.slice(0, -1).entries()) {
    for (let ray = from + 1; ray < hull[n + 1]!; ray++) {
      const r = Math.min(radii[ray]! + JUTTING * half, chord(from, hull[n + 1]!, ray))
      if (ray <= last) right[ray] = r
      if (ray >= last) left[2 * last - ray] = r
    }
  }
}
