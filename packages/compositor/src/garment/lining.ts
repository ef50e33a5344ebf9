// Cuts away the inside of the back, which the neck opening of a garment without a wearer shows.
import type { Lab } from '../oklab.ts'
import { pause } from '../pause.ts'
import type { Point } from '../raster.ts'
import { areaOfRow, maskWhere, type Mask } from './mask.ts'
import { keepLarge, LEAST_PIECE, withoutHoles } from './regions.ts'
import { bodyRowsOf, chestHalf } from './body-rows.ts'
import { levelOut, radiiOfSide } from './rim-sides.ts'
import { agreementOf, indexOfRay, rayOf, rimsOf, withoutFringe, type Rim } from './rims.ts'
import { upperShape } from './shape.ts'

/** The mask without the lining; the mask itself when no front edge of the opening is convincing. */
export async function withoutLining(lab: Lab, mask: Mask): Promise<Mask> {
  const rows = bodyRowsOf(mask)
  if (!rows) return mask
  const half = chestHalf(rows)
  if (half < 8) return mask
  // A slit at the back shows the ground through the opening.
  const inner = withoutFringe(withoutHoles(mask))
  await pause()
  const rim = await rimOf(lab, inner, rows.axis, half)
  if (!rim) return mask
  await pause()
  const left = radiiOfSide(rim, lab, inner, half, -1)
  const right = radiiOfSide(rim, lab, inner, half, 1)
  levelOut(left, right, half)
  const cut = keepLarge(cutAbove(rim.centre, left, right, mask), LEAST_PIECE)
  return isCollar(rim, cut) ? mask : cut
}

/**
 * Half way down an opening there is this much cloth on both sides together, in depths of the opening: shoulders are
 * less steep. Of 45 product photos a stand-up collar and one of fur have 0.8 and 0.4, the others from 1.2.
 */
const BESIDE_OPENING = 1

/** Whether the rim surrounds the front of a collar, of which only the sides remain. Straps may be as narrow. */
function isCollar({ centre, radii }: Rim, cut: Mask): boolean {
  const depth = radii.at(-1)!
  if (areaOfRow(cut, Math.round(centre.y + depth / 2)) > depth * BESIDE_OPENING) return false
  return upperShape(cut)?.shoulders === 'sleeves'
}

/** Rays along the upper edge see no rim. Instead of them those count that end so many pixels lower. */
const LEVEL = 2

function cutAbove(centre: Point, left: Float64Array, right: Float64Array, mask: Mask): Mask {
  const first = left.findIndex((r) => !Number.isNaN(r))
  return maskWhere(mask, (i) => {
    if (mask.data[i] === 0) return false
    const x = (i % mask.width) + 0.5
    const across = Math.abs(x - centre.x)
    const down = Math.floor(i / mask.width) + 0.5 - centre.y
    const ray = Math.max(first, indexOfRay(across, Math.max(down, LEVEL)))
    const radii = x < centre.x ? left : right
    return !(Math.hypot(across, down) < radii[ray]!)
  })
}

/** Of a rim that may be an opening's edge, see `Rim`; and of the moved rim of a collar's band. By experiment. */
const LEAST_COHERENCE = 0.75
const LEAST_COVERAGE = 0.55
/** `change` is a share of the rim's own change; widths are in half widths of the chest. */
const BAND = { coherence: 0.85, coverage: 0.5, change: 0.45, narrowest: 0.03, widest: 0.16 }

/**
 * The curve that is most likely the front edge of the opening; null when none is convincing.
 * @param mask the cloth without its fringe
 */
async function rimOf(lab: Lab, mask: Mask, axis: number, half: number): Promise<Rim | null> {
  const weight = (rim: Rim) => rim.strength * rim.coherence * rim.coverage
  const rims = await rimsOf(lab, mask, axis, half)
  const fit = rims
    .filter((rim) => rim.coherence > LEAST_COHERENCE && rim.coverage > LEAST_COVERAGE)
    .toSorted((one, other) => weight(other) - weight(one))
  await pause()
  const best = fit.find((rim) => convinces(rim, lab, mask, half))
  return best ? bandTop(best, lab, mask, half) : null
}

/** Whether edge and colours speak for an opening: either strongly, or both together. */
function convinces(rim: Rim, lab: Lab, mask: Mask, half: number): boolean {
  // Where the curve runs along the outline there is no evidence to be had.
  const edge = Math.min(1, rim.strength / rim.coverage) * rim.coherence
  const separation = separationOf(rim, lab, mask, half)
  const deep = rim.radii[rim.radii.length - 1]! > half * DEEP
  if (edge > SURE.edge && separation > SURE.separation) return true
  return edge > LEAST_EDGE && edge * separation > (deep ? LEAST_BOTH.deep : LEAST_BOTH.shallow)
}

/** What convinces of an opening: evidence of its edge, from 0 to 1, and deviations between the colours. By experiment. */
const SURE = { edge: 0.85, separation: 0.5 }
const LEAST_EDGE = 0.62
/** The product of both. Below a deep opening, from so many half widths, more is at stake. */
const LEAST_BOTH = { shallow: 0.47, deep: 0.65 }
const DEEP = 0.6

/** The upper edge of the collar's band, when the curve is the lower one. */
function bandTop(rim: Rim, lab: Lab, mask: Mask, half: number): Rim {
  let best = rim
  let most = 0
  const own = Math.hypot(...rim.change)
  for (let width = Math.max(3, half * BAND.narrowest); width < half * BAND.widest; width += 0.5) {
    const radii = rim.radii.map((r) => Math.max(0, r - width))
    const moved = { ...rim, radii, ...agreementOf({ ...rim, radii }, lab, mask) }
    const length = Math.hypot(...moved.change)
    if (
      moved.coherence < BAND.coherence ||
      moved.coverage < BAND.coverage ||
      length < own * BAND.change
    )
      continue
    if (length * moved.coherence > most) {
      most = length * moved.coherence
      best = moved
    }
  }
  return best
}

/** How far outside the rim colours are compared, in half widths; and the variance of the plainest cloth, in Oklab. */
const BESIDE = 0.2
const LEAST_VARIANCE = 2e-5

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
