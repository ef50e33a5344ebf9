// A rim is the same on both sides; the real edge rarely is. Fits each side to its own edge.
import type { Lab } from '../oklab.ts'
import type { Mask } from './mask.ts'
import type { Way } from './contour.ts'
import { meanAround } from '../smoothing.ts'
import { changeAt, rayOf, STEP, type Rim } from './rims.ts'

/** The contrast that counts half. */
const USUAL = 0.03
/** How far a side may move, in half widths; and the costs of that and of one pixel more than the last ray. By experiment. */
const SPAN = 0.07
const AWAY = 0.05
const JUMP = 0.12

/**
 * The radii of one side, moved by a few pixels to where the colour changes most in the rim's own way.
 * @param mask the cloth without its fringe
 * @param half half the width of the chest, in pixels
 */
export function radiiOfSide(rim: Rim, lab: Lab, mask: Mask, half: number, way: Way): Float64Array {
  const { radii, change } = rim
  const span = Math.max(2, Math.round(half * SPAN))
  const states = 2 * span + 1
  const length = Math.hypot(...change) || 1
  const evidence = (ray: number, state: number) => {
    const off = changeAt(lab, rayOf(mask, rim.centre, ray), radii[ray]! + state - span, way)
    const along = (off[0] * change[0] + off[1] * change[1] + off[2] * change[2]) / length
    return along > 0 ? along / (along + USUAL) : 0
  }
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
      const away = Math.abs(state - span) / span
      next[state] = gain(total, best, state) + evidence(ray, state) - AWAY * away
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
