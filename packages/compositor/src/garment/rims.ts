// The neck opening of a garment without a wearer shows the inside of its back. Finds the front edge.
import type { Way } from './contour.ts'
import type { Lab, LabColour } from '../oklab.ts'
import { pause } from '../pause.ts'
import { mean, percentile } from '../plane.ts'
import { clamp, type Point } from '../raster.ts'
import { distanceTo, isSet, maskWhere, topOf, type Mask } from './mask.ts'

/** A curve around the middle of the opening: one radius for each angle, the same on both sides. */
export interface Rim {
  centre: Point
  /** Radii from the uppermost angle to straight down; NaN where a ray does not meet the cloth. */
  radii: Float64Array
  /** The mean evidence for an edge along the curve, from 0 to 1. */
  strength: number
  /** The same of the upper, the middle or the lower part, where it is least. */
  weakest: number
  /** How far the outline dips in the middle, in pixels. */
  dip: number
}

/** The colour changes along a rim, from inside to outside. */
interface Agreement {
  /** How alike they are, from 0 to 1; prints give changes of all kinds. */
  coherence: number
  /** The share of the curve, from 0 to 1, that runs within the cloth and not along its outline. */
  coverage: number
  mean: LabColour
}

/** Of the opening, in half widths of the chest: how far its highest points are apart, and its greatest depth. */
const NECK_WIDTH = 0.75
const DEEPEST = 1.3

/** The angle between two rays. */
export const STEP = (2 * Math.PI) / 180
/** Rays run from 60 degrees above the horizontal to straight down. */
const RAYS = 76
const START = -Math.PI / 3
const angleOf = (ray: number) => START + ray * STEP

/** The ray nearest to a direction, given by its distances across and down from the centre. */
export const indexOfRay = (across: number, down: number) =>
  clamp(Math.round((Math.atan2(down, across) - START) / STEP), 0, RAYS - 1)

/** Marks radii at which a ray is not within the cloth on both sides. */
const OUTSIDE = -1

interface Rays extends Pick<Rim, 'centre' | 'dip'> {
  reach: number
  /** Where each ray enters the cloth on both sides; -1 where it never does. */
  entry: Float64Array
  /** The colour changes on the left and the right side at each ray and radius; null outside the cloth. */
  changes: (readonly [LabColour, LabColour] | null)[]
}

/**
 * All curves that end below the centre at a local maximum of evidence, from shallow to deep.
 * @param mask the cloth without its fringe
 * @param half half the width of the chest, in pixels
 */
export async function rimsOf(lab: Lab, mask: Mask, axis: number, half: number): Promise<Rim[]> {
  const spread = Math.max(1, Math.round(half * 0.02))
  const found = VIEWS.map(() => ({ most: 0, rims: [] as Rim[] }))
  for (const shift of [-2, -1, 0, 1, 2]) {
    await pause()
    const rays = raysOf(lab, mask, axis + shift * spread, half)
    if (!rays) continue
    for (const [n, view] of VIEWS.entries()) {
      const curves = curvesOf(rays, evidenceOf(rays, view))
      const strongest = Math.max(0, ...curves.map((rim) => rim.strength)) - Math.abs(shift) * 0.004
      if (strongest > found[n]!.most) found[n] = { most: strongest, rims: curves }
    }
  }
  return found.flatMap(({ rims }) => distinct(rims))
}

/** What to look for: any change, cloth that is lighter than the lining, or another hue. */
const VIEWS = ['any', 'lighter', 'hue'] as const
type View = (typeof VIEWS)[number]

function amountOf(change: LabColour, view: View): number {
  if (view === 'lighter') return Math.max(0, change[0])
  if (view === 'hue') return Math.hypot(change[1], change[2])
  return Math.hypot(change[0], change[1], change[2])
}

/** Pixels of the analysed picture. */
const FRINGE = 2.5

/** The mask without the pixels at its edge, which are mixed with the ground. */
export function withoutFringe(mask: Mask): Mask {
  const depth = distanceTo(mask, 0)
  return maskWhere(mask, (i) => depth[i]! > FRINGE)
}

/** Without curves that share most of their way with a stronger one. */
function distinct(rims: Rim[]): Rim[] {
  const distinct: Rim[] = []
  for (const rim of rims.toSorted((one, other) => other.strength - one.strength)) {
    const shares = (other: Rim) => {
      const same = rim.radii.filter((r, ray) => Math.abs(r - other.radii[ray]!) < 2).length
      return same > rim.radii.filter((r) => !Number.isNaN(r)).length * 0.5
    }
    if (!distinct.some(shares)) distinct.push(rim)
  }
  return distinct
}

/** How alike the colour changes along a rim are on both sides. */
export function agreementOf(rim: Rim, lab: Lab, mask: Mask): Agreement {
  const sum = [0, 0, 0]
  let lengths = 0
  let count = 0
  let all = 0
  rim.radii.forEach((r, ray) => {
    if (Number.isNaN(r)) return
    const at = rayOf(mask, rim.centre, ray)
    for (const way of [-1, 1] as const) {
      const change = changeAt(lab, at, r, way)
      const length = Math.hypot(...change)
      all++
      if (length === 0) continue
      // Capped, so that a few strong edges do not decide.
      const weight = Math.min(1, 0.1 / length)
      for (let c = 0; c < 3; c++) sum[c] = sum[c]! + change[c]! * weight
      lengths += length * weight
      count++
    }
  })
  if (count === 0) return { coherence: 0, coverage: 0, mean: [0, 0, 0] }
  return {
    coherence: Math.hypot(...sum) / lengths,
    coverage: count / all,
    mean: [sum[0]! / count, sum[1]! / count, sum[2]! / count],
  }
}

function raysOf(lab: Lab, mask: Mask, axis: number, half: number): Rays | null {
  const middle = topOf(mask, Math.round(axis))
  if (middle === null) return null
  let peak = middle
  for (let off = -half * NECK_WIDTH; off <= half * NECK_WIDTH; off++) {
    const top = topOf(mask, Math.round(axis + off))
    if (top !== null) peak = Math.min(peak, top)
  }
  const centre = { x: axis, y: (middle + peak) / 2 }
  const reach = Math.ceil(half * DEEPEST)
  const entry = new Float64Array(RAYS).fill(-1)
  const changes: Rays['changes'] = Array.from({ length: RAYS * reach }, () => null)
  for (let ray = 0; ray < RAYS; ray++) {
    const at = rayOf(mask, centre, ray)
    for (let r = 0; r < reach; r++) {
      if (at(r, 1) < 0 || at(r, -1) < 0) continue
      if (entry[ray]! < 0) entry[ray] = r
      changes[ray * reach + r] = [changeAt(lab, at, r, -1), changeAt(lab, at, r, 1)]
    }
  }
  return { centre, reach, entry, dip: middle - peak, changes }
}

/** The evidence for an edge at each ray and radius, from 0 to 1. */
function evidenceOf({ changes }: Rays, view: View): Float32Array {
  const edge = new Float32Array(changes.length).fill(OUTSIDE)
  for (let i = 0; i < edge.length; i++) {
    const pair = changes[i]
    if (!pair) continue
    const left = amountOf(pair[0], view)
    const right = amountOf(pair[1], view)
    edge[i] = Math.min(left, right) * 0.6 + (left + right) * 0.2
  }
  normalise(edge)
  return edge
}

/** The points of the right side: how far they are from the centre, outwards and downwards. */
export const pointsOf = ({ radii }: Rim): { r: number; out: number; down: number }[] =>
  [...radii]
    .map((r, ray) => ({ r, out: Math.cos(angleOf(ray)) * r, down: Math.sin(angleOf(ray)) * r }))
    .filter(({ r }) => !Number.isNaN(r))

type At = (r: number, way: Way) => number

/** The index of the pixel on a ray at radius r, on one side; -1 where there is no cloth. */
export function rayOf(mask: Mask, centre: Point, ray: number): At {
  const down = Math.sin(angleOf(ray))
  const out = Math.cos(angleOf(ray))
  return (r, way) => {
    const x = Math.floor(centre.x + way * out * r)
    const y = Math.floor(centre.y + down * r)
    return isSet(mask, x, y) ? y * mask.width + x : -1
  }
}

/** The colour change along the ray at radius r, between the means of three pixels on both sides. */
export function changeAt(lab: Lab, at: At, r: number, way: Way): LabColour {
  let L = 0
  let a = 0
  let b = 0
  for (let k = 1; k <= 3; k++) {
    const before = at(r - k, way)
    const after = at(r + k, way)
    if (before < 0 || after < 0) return [0, 0, 0]
    L += lab.L[after]! - lab.L[before]!
    a += lab.a[after]! - lab.a[before]!
    b += lab.b[after]! - lab.b[before]!
  }
  return [L / 3, (2 * a) / 3, (2 * b) / 3]
}

/** Contrast to evidence from 0 to 1, relative to what is usual in this cloth. */
function normalise(edge: Float32Array): void {
  const sampled = edge.filter((value, i) => value !== OUTSIDE && i % 5 === 0)
  const changes = sampled.filter((value) => value > 0)
  // In a drawing there is no change but at edges, which are not what is usual.
  const usual = changes.length > sampled.length * 0.3 ? percentile(changes, 0.5) : 0
  const scale = Math.max(0.01, usual * 2)
  for (let i = 0; i < edge.length; i++) {
    const value = edge[i]!
    edge[i] = value === OUTSIDE ? 0 : value / (value + scale)
  }
}

/** Along the outline itself there is no evidence for or against: the gain of a ray there. By experiment. */
const OUTLINE_GAIN = 0.12
/** The cost of one pixel of change from ray to ray, and the greatest change as a share of the radius. */
const BEND = 0.06
const STEEPEST = 0.05
/** The first rays of the upper, the middle and the lower part. */
const PARTS = [0, 42, 60]
/** A shorter curve is no opening. */
const LEAST_RAYS = 20

/** The cheapest curves by dynamic programming over the rays. */
function curvesOf(rays: Rays, edge: Float32Array): Rim[] {
  const { reach, entry } = rays
  const total = new Float64Array(RAYS * reach).fill(-Infinity)
  const from = new Int16Array(RAYS * reach).fill(-1)
  const first = entry.findIndex((r) => r >= 0)
  if (first < 0 || first > RAYS - LEAST_RAYS) return []
  for (let ray = first; ray < RAYS; ray++) {
    const begin = Math.max(0, entry[ray]!)
    for (let r = begin; r < reach; r++) {
      const at = ray * reach + r
      const gain = r - begin < 3 ? OUTLINE_GAIN : edge[at]!
      if (ray === first) {
        total[at] = gain
        continue
      }
      const span = Math.ceil(r * STEEPEST + 1)
      for (let q = Math.max(0, r - span); q <= Math.min(reach - 1, r + span); q++) {
        const before = total[(ray - 1) * reach + q]!
        const value = before + gain - BEND * Math.abs(r - q)
        if (value > total[at]!) {
          total[at] = value
          from[at] = q
        }
      }
    }
  }
  return peaksOf(rays, edge, { total, from, first })
}

/** The curves that end at a local maximum of the gain on the last ray. */
function peaksOf(
  { centre, reach, entry, dip }: Rays,
  edge: Float32Array,
  { total, from, first }: { total: Float64Array; from: Int16Array; first: number },
): Rim[] {
  const last = total.subarray((RAYS - 1) * reach)
  const near = Math.max(2, Math.round(reach * 0.02))
  const rims: Rim[] = []
  for (let r = Math.max(0, entry[RAYS - 1]!) + 4; r < reach - near; r++) {
    const here = last[r]!
    if (!Number.isFinite(here)) continue
    const around = last.subarray(r - near, r + near + 1)
    if (around.some((value) => value > here)) continue
    const radii = new Float64Array(RAYS).fill(NaN)
    const gains = new Float64Array(RAYS)
    for (let ray = RAYS - 1, q = r; ray >= first && q >= 0; ray--) {
      radii[ray] = q
      gains[ray] = edge[ray * reach + q]!
      q = from[ray * reach + q]!
    }
    const parts = PARTS.map((part, n) => mean(gains.subarray(Math.max(first, part), PARTS[n + 1])))
    rims.push({
      centre,
      radii,
      strength: mean(gains.subarray(first)),
      weakest: Math.min(...parts),
      dip,
    })
  }
  return rims
}
