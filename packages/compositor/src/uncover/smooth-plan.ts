// Evens out the borders of a plan.
import { LABEL } from '../parsing.ts'
import { createPlane, type Plane } from '../plane.ts'
import { BECOMES, groundIn, isClothes, type Decisions } from './becomes.ts'
import type { Torso } from './torso.ts'
import { clamp, pixelsWhere } from '../raster.ts'
import { blurInPlace } from '../smoothing.ts'

/** How far under the new garment's edge the old clothing is repainted. */
const UNDER = 3

/** Repaints the old clothing just under the new garment's edge too, like what it lies next to. */
export function reachUnder(
  { width, height, becomes }: Decisions,
  labels: Uint8Array,
  covered: Plane,
): void {
  for (let step = 0; step < UNDER; step++) {
    const before = becomes.slice()
    for (let at = 0; at < becomes.length; at++) {
      if (before[at] !== BECOMES.keep || covered.data[at]! < 0.5) continue
      if (!isClothes(labels[at])) continue
      const x = at % width
      for (let side = 0; side < 4; side++) {
        if ((side === 0 && x === 0) || (side === 1 && x + 1 === width)) continue
        const other = at + (side < 2 ? side * 2 - 1 : (side * 2 - 5) * width)
        if (other < 0 || other >= width * height) continue
        let what = before[other]!
        if (what === BECOMES.keep && labels[other] === LABEL.ground) what = BECOMES.ground
        if (what === BECOMES.keep && labels[other] === LABEL.skin) what = BECOMES.skin
        if (what !== BECOMES.keep) becomes[at] = what
      }
    }
  }
}

/** The reach of the outline's rounding: units of the body's size, and pixels at the least and at the most. */
const ROUNDING = { size: 0.03, least: 1, most: 4 }
/** Shares of the body around a pixel: skin below the first becomes ground, ground above the second skin. */
const STANDS_OUT = 0.44
const NOTCH = 0.58
/** How far below the shoulders notches are filled, in units of the size: lower down gaps beside the arms are real. */
const SHOULDERS = 0.2

/** Rounds off what stands out of the future outline of the body, such as the ends of a collar, and its notches. */
export function roundOutline(
  plan: Decisions,
  labels: Uint8Array,
  { size, shoulderY }: Torso,
): void {
  const { width, height, becomes } = plan
  const isGround = groundIn(plan, labels)
  const radius = clamp(ROUNDING.size * size, ROUNDING.least, ROUNDING.most)
  const planned = pixelsWhere(becomes.length, (at) => becomes[at] !== BECOMES.keep)
  // The blur of the planned pixels does not reach farther.
  const margin = Math.ceil(3 * radius + 1) * width
  const [first, last] = [(planned[0] ?? 0) - margin, (planned.at(-1) ?? 0) + margin]
  for (let round = 0; round < 2; round++) {
    const body = createPlane(width, height)
    for (let at = Math.max(0, first); at < Math.min(becomes.length, last); at++)
      body.data[at] = isGround(at) ? 0 : 1
    const share = blurInPlace(body, radius).data
    for (const at of planned) {
      if (becomes[at] === BECOMES.skin && share[at]! < STANDS_OUT) becomes[at] = BECOMES.ground
      if (at > (shoulderY + SHOULDERS * size) * width) continue
      if (becomes[at] !== BECOMES.ground || share[at]! < NOTCH) continue
      const beside = [at - 1, at + 1, at - width, at + width]
      if (beside.some((other) => becomes[other] === BECOMES.skin)) becomes[at] = BECOMES.skin
    }
  }
}
