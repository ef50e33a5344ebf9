// Evens out the borders of a plan.
import { LABEL } from '../parsing.ts'
import { blur, createPlane, type Plane } from '../plane.ts'
import { BECOMES, type UncoverPlan } from './becomes.ts'
import type { Torso } from './torso.ts'

/** How far under the new garment's edge the old clothing is repainted. */
const UNDER = 3

/** Repaints the old clothing just under the new garment's edge too, like what it lies next to. */
export function reachUnder(
  { width, height, becomes }: UncoverPlan,
  labels: Uint8Array,
  covered: Plane,
): void {
  for (let step = 0; step < UNDER; step++) {
    const before = becomes.slice()
    for (let at = 0; at < becomes.length; at++) {
      if (before[at] !== BECOMES.keep || covered.data[at]! < 0.5) continue
      if (labels[at] !== LABEL.top && labels[at] !== LABEL.bottom) continue
      const x = at % width
      for (const other of [
        x > 0 ? at - 1 : at,
        x + 1 < width ? at + 1 : at,
        at - width,
        at + width,
      ]) {
        if (other < 0 || other >= width * height) continue
        let what = before[other]!
        if (what === BECOMES.keep && labels[other] === LABEL.ground) what = BECOMES.ground
        if (what === BECOMES.keep && labels[other] === LABEL.skin) what = BECOMES.skin
        if (what !== BECOMES.keep) becomes[at] = what
      }
    }
  }
}

/** Gives single pixels and thin slivers to what surrounds them. */
export function tidy({ width, height, becomes }: UncoverPlan): void {
  for (let pass = 0; pass < 3; pass++) {
    const before = becomes.slice()
    for (let y = 1; y + 1 < height; y++) {
      for (let x = 1; x + 1 < width; x++) {
        const at = y * width + x
        if (before[at] === BECOMES.keep) continue
        const counts = [0, 0, 0, 0]
        for (let dy = -1; dy <= 1; dy++) {
          for (let dx = -1; dx <= 1; dx++) {
            const other = before[at + dy * width + dx]!
            counts[other] = counts[other]! + 1
          }
        }
        counts[BECOMES.keep] = 0
        const most = counts.indexOf(Math.max(...counts))
        if (counts[most]! > 4) becomes[at] = most
      }
    }
  }
}

/** Rounds off what stands out of the future outline of the body, such as the ends of a collar, and its notches. */
export function roundOutline(
  plan: UncoverPlan,
  labels: Uint8Array,
  { size, shoulderY }: Torso,
): void {
  const { width, height, becomes } = plan
  const isGround = (at: number) =>
    becomes[at] === BECOMES.ground || (becomes[at] === BECOMES.keep && labels[at] === LABEL.ground)
  for (let round = 0; round < 2; round++) {
    const body = createPlane(width, height)
    for (let at = 0; at < body.data.length; at++) body.data[at] = isGround(at) ? 0 : 1
    const share = blur(body, Math.max(1, Math.min(4, 0.03 * size))).data
    for (let at = 0; at < share.length; at++) {
      if (becomes[at] === BECOMES.skin && share[at]! < 0.44) becomes[at] = BECOMES.ground
      // Lower down the gaps between arms and trunk are real.
      if (at > (shoulderY + 0.2 * size) * width) continue
      if (becomes[at] !== BECOMES.ground || share[at]! < 0.58) continue
      const beside = [at - 1, at + 1, at - width, at + width]
      if (beside.some((other) => becomes[other] === BECOMES.skin)) becomes[at] = BECOMES.skin
    }
  }
}
