// Cuts away the inside of the back, which the neck opening of a garment without a wearer shows.
import type { Lab } from '../oklab.ts'
import type { Point } from '../raster.ts'
import { flood, keepLarge, type Mask } from './regions.ts'
import { bodyRowsOf, chestHalf } from './body-rows.ts'
import { radiiOfSide } from './rim-sides.ts'
import { agreementOf, indexOfRay, rayOf, rimsOf, withoutFringe, type Rim } from './rims.ts'

/** The mask without the lining; the mask itself when no front edge of the opening is convincing. */
export function withoutLining(lab: Lab, mask: Mask): Mask {
  const rows = bodyRowsOf(mask)
  if (!rows) return mask
  const half = chestHalf(rows)
  if (half < 8) return mask
  const inner = withoutFringe(withoutHoles(mask))
  const rim = rimOf(lab, inner, rows.axis, half)
  if (!rim) return mask
  const left = radiiOfSide(rim, lab, inner, half, -1)
  const right = radiiOfSide(rim, lab, inner, half, 1)
  return keepLarge(cutAbove(rim.centre, left, right, mask), 0.04)
}

/** A slit at the back shows the ground through the opening. */
function withoutHoles(mask: Mask): Mask {
  const { width, height } = mask
  const outside = flood(width, height, (i) => mask.data[i] === 0)
  return { width, height, data: outside.data.map((value) => 1 - value) }
}

function cutAbove(centre: Point, left: Float64Array, right: Float64Array, mask: Mask): Mask {
  const { width, height } = mask
  const data = mask.data.slice()
  const first = left.findIndex((r) => !Number.isNaN(r))
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (data[i] === 0) continue
      const across = Math.abs(x + 0.5 - centre.x)
      const down = y + 0.5 - centre.y
      const ray = Math.max(first, indexOfRay(across, down))
      const radii = x + 0.5 < centre.x ? left : right
      if (Math.hypot(across, down) < radii[ray]!) data[i] = 0
    }
  }
  return { width, height, data }
}

const LEAST_COHERENCE = 0.75
const LEAST_COVERAGE = 0.55

/**
 * The curve that is most likely the front edge of the opening; null when none is convincing.
 * @param mask the cloth without its fringe
 */
function rimOf(lab: Lab, mask: Mask, axis: number, half: number): Rim | null {
  const weight = (rim: Rim) => rim.strength * rim.coherence * rim.coverage
  const fit = rimsOf(lab, mask, axis, half)
    .filter((rim) => rim.coherence > LEAST_COHERENCE && rim.coverage > LEAST_COVERAGE)
    .toSorted((one, other) => weight(other) - weight(one))
  const best = fit.find((rim) => convinces(rim, lab, mask, half))
  return best ? bandTop(best, lab, mask, half) : null
}

/** Whether edge and colours speak for an opening: either strongly, or both together. */
function convinces(rim: Rim, lab: Lab, mask: Mask, half: number): boolean {
  // Where the curve runs along the outline there is no evidence to be had.
  const edge = Math.min(1, rim.strength / rim.coverage) * rim.coherence
  const separation = separationOf(rim, lab, mask, half)
  const deep = rim.radii[rim.radii.length - 1]! > half * 0.6
  if (edge > 0.85 && separation > 0.5) return true
  return edge > 0.65 && edge * separation > (deep ? 0.65 : 0.57)
}

/** The upper edge of the collar's band, when the curve is the lower one. */
function bandTop(rim: Rim, lab: Lab, mask: Mask, half: number): Rim {
  let best = rim
  let most = 0
  const own = Math.hypot(...rim.change)
  for (let width = Math.max(3, half * 0.03); width < half * 0.16; width += 0.5) {
    const radii = rim.radii.map((r) => Math.max(0, r - width))
    const moved = { ...rim, radii, ...agreementOf({ ...rim, radii }, lab, mask) }
    const length = Math.hypot(...moved.change)
    if (moved.coherence < 0.85 || moved.coverage < 0.5 || length < own * 0.45) continue
    if (length * moved.coherence > most) {
      most = length * moved.coherence
      best = moved
    }
  }
  return best
}

/** How far the colours inside the curve are from those just outside, in standard deviations. */
function separationOf(rim: Rim, lab: Lab, mask: Mask, half: number): number {
  const inside = momentsOf()
  const outside = momentsOf()
  rim.radii.forEach((r, ray) => {
    if (Number.isNaN(r)) return
    const at = rayOf(mask, rim.centre, ray)
    for (const way of [-1, 1] as const) {
      for (let q = 0; q < r - 1; q++) inside.add(lab, at(q, way), q)
      for (let q = Math.ceil(r) + 2; q < r + half * 0.2; q++) outside.add(lab, at(q, way), q)
    }
  })
  if (inside.weight() === 0 || outside.weight() === 0) return 0
  let sum = 0
  for (let c = 0; c < 3; c++) {
    const gap = inside.mean(c) - outside.mean(c)
    sum += (gap * gap) / (inside.variance(c) + outside.variance(c) + 2e-5)
  }
  return Math.sqrt(sum)
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
