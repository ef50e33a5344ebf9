// Arms and legs as tubes around the joints, as wide as the visible skin and the clothing allow.
import { LABEL, type Parsing } from '../parsing.ts'
import type { Joint, JointName, Pose } from '../perception.ts'
import { wholeLeg } from '../limb.ts'
import { between, distance, pointBeside } from '../lines.ts'
import { median } from '../plane.ts'
import { clamp, indexAt, lerp, ramp, type Point } from '../raster.ts'
import { smoothBetween } from '../smoothing.ts'
import type { Torso } from './torso.ts'

/** A limb around an axis from its root (shoulder, hip) to its end (wrist, ankle). */
export interface Limb {
  kind: 'arm' | 'leg'
  axis: AxisPoint[]
  /** 1 or −1: the sign of `across` towards the middle of the body. */
  inner: number
  /** Outside of this box no pixel belongs to the limb. */
  box: { left: number; top: number; right: number; bottom: number }
}

export interface AxisPoint extends Point {
  /** The unit normal that points to the right of the picture (downwards where the limb lies flat). */
  nx: number
  ny: number
  /** The limb's reach against and along the normal, in pixels. */
  back: number
  fore: number
  /** 0 at the root, 1 at the elbow or knee, 2 at the wrist or ankle. */
  at: number
}

/** Where a pixel lies in a limb: `across` is −1 and 1 at the edges, `at` as on the axis. */
export interface LimbPlace {
  across: number
  at: number
  /** Pixels to the nearest edge; negative outside. */
  inside: number
}

// Chosen by experiment on the development photographs, unless a line says otherwise.
/** Half widths in units of the body's size, from root to end in equal steps: those of an average body. */
const HALF_WIDTHS = {
  arm: [0.155, 0.15, 0.138, 0.125, 0.115, 0.115, 0.105, 0.085, 0.068],
  leg: [0.3, 0.27, 0.23, 0.19, 0.155, 0.16, 0.155, 0.12, 0.09],
}

const CHAINS: ['arm' | 'leg', JointName, JointName, JointName][] = [
  ['arm', 'leftShoulder', 'leftElbow', 'leftWrist'],
  ['arm', 'rightShoulder', 'rightElbow', 'rightWrist'],
  ['leg', 'leftHip', 'leftKnee', 'leftAnkle'],
  ['leg', 'rightHip', 'rightKnee', 'rightAnkle'],
]
/** Points of the axis for each of the two bones. */
const STEPS = 24
const NOWHERE = { left: 0, top: 0, right: 0, bottom: 0 }
/** The confidence from which on a joint is used. */
const SEEN = 0.15
/** Where a limb ends, as on the axis: up to the hand, as the joint is not exactly where the hand begins. */
const HAND = 2.25
/** How far from the bend, in bones, the axis is rounded. */
const ROUND = 0.2
/** Half the width of the narrowest limb, in pixels, and the half-widths from the axis within which a place is given. */
const LEAST_HALF = 0.5
const NEAR = 2

/** The arms that the pose shows, and both legs, in pixels of the parsing. */
export function limbsOf(parsing: Parsing, pose: Pose, { size, shoulderY, hipY }: Torso): Limb[] {
  const middleX =
    (pose.leftShoulder.x + pose.rightShoulder.x + pose.leftHip.x + pose.rightHip.x) / 4
  const limbs: Limb[] = []
  for (const [kind, root, bend, end] of CHAINS) {
    const seen: [Joint, Joint, Joint] = [pose[root], pose[bend], pose[end]]
    const joints = kind === 'leg' ? wholeLeg(seen, hipY - shoulderY) : seen
    if (!joints.every((joint) => Number.isFinite(joint.x + joint.y))) continue
    if (joints[0].score < SEEN || joints[1].score < SEEN) continue
    const inner = joints[0].x > middleX ? -1 : 1
    const limb = { kind, axis: axisOf(joints, HALF_WIDTHS[kind], size), inner, box: NOWHERE }
    fitWidths(limb, parsing, size)
    limb.box = boxOf(limb.axis)
    limbs.push(limb)
  }
  return limbs
}

/** The box of the tube with the margin within which `placeIn` returns a place. */
function boxOf(axis: readonly AxisPoint[]): Limb['box'] {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity }
  for (const { x, y, back, fore } of axis) {
    const reach = NEAR * Math.max(back, fore, LEAST_HALF)
    box.left = Math.min(box.left, x - reach)
    box.right = Math.max(box.right, x + reach)
    box.top = Math.min(box.top, y - reach)
    box.bottom = Math.max(box.bottom, y + reach)
  }
  return box
}

/** Where the point lies in the limb; null when it is far from it. */
export function placeIn(limb: Limb, x: number, y: number): LimbPlace | null {
  const { axis, box } = limb
  if (x < box.left || x > box.right || y < box.top || y > box.bottom) return null
  let best = -1
  let bestDistance = Infinity
  for (let i = 0; i < axis.length; i++) {
    const dx = x - axis[i]!.x
    const dy = y - axis[i]!.y
    const squared = dx * dx + dy * dy
    if (squared < bestDistance) {
      bestDistance = squared
      best = i
    }
  }
  const point = onAxis(axis, best, x, y)
  if (!point) return null
  const side = (x - point.x) * point.nx + (y - point.y) * point.ny
  const reach = Math.max(LEAST_HALF, side > 0 ? point.fore : point.back)
  const away = distance(point, { x, y })
  if (away > NEAR * reach) return null
  return { across: clamp(side / reach, -1, 1), at: point.at, inside: reach - away }
}

/** The point of the axis nearest to the place, between the points that are given; `near` is the nearest of those. */
function onAxis(axis: readonly AxisPoint[], near: number, x: number, y: number): AxisPoint | null {
  const from = axis[near]
  if (!from) return null
  for (const other of [axis[near - 1], axis[near + 1]]) {
    if (!other) continue
    const [dx, dy] = [other.x - from.x, other.y - from.y]
    const share = ((x - from.x) * dx + (y - from.y) * dy) / Math.max(1e-6, dx * dx + dy * dy)
    if (share <= 0) continue
    const t = Math.min(1, share)
    return {
      x: lerp(from.x, other.x, t),
      y: lerp(from.y, other.y, t),
      nx: lerp(from.nx, other.nx, t),
      ny: lerp(from.ny, other.ny, t),
      back: lerp(from.back, other.back, t),
      fore: lerp(from.fore, other.fore, t),
      at: lerp(from.at, other.at, t),
    }
  }
  return from
}

function axisOf(joints: readonly Joint[], widths: readonly number[], size: number): AxisPoint[] {
  const end = joints[2]!.score >= SEEN ? HAND : 1
  const count = Math.round(STEPS * end)
  const places: Point[] = []
  for (let i = 0; i <= count; i++) places.push(onCurve(joints, i / STEPS))
  return places.map((place, i) => {
    const before = places[Math.max(0, i - 1)]!
    const after = places[Math.min(count, i + 1)]!
    const length = Math.max(1e-6, distance(before, after))
    let nx = -(after.y - before.y) / length
    let ny = (after.x - before.x) / length
    if (nx < -0.05 || (Math.abs(nx) <= 0.05 && ny < 0)) [nx, ny] = [-nx, -ny]
    const at = i / STEPS
    const step = (at / 2) * (widths.length - 1)
    const low = Math.min(widths.length - 1, Math.floor(step))
    const high = Math.min(widths.length - 1, low + 1)
    const half = size * lerp(widths[low]!, widths[high]!, step - low)
    return { ...place, nx, ny, back: half, fore: half, at }
  })
}

/** The chain with a rounded bend. */
function onCurve(joints: readonly Joint[], at: number): Point {
  const [a, b, c] = joints as [Joint, Joint, Joint]
  if (c.score < SEEN || at < 1 - ROUND) return between(a, b, at)
  if (at > 1 + ROUND) return between(b, c, at - 1)
  const t = (at - 1 + ROUND) / (2 * ROUND)
  const from = between(a, b, 1 - ROUND)
  const to = between(b, c, ROUND)
  return between(between(from, b, t), between(b, to, t), t)
}

interface Reach {
  /** Pixels from the axis to where the label under the axis ends. */
  pixels: number
  /** What lies there. */
  next: number
}

/** The widest reach of what lies over a limb, in units of the body's size. */
const MOST_REACH = 0.7
/** Seen widths relative to the usual ones: one that is believed, and the usual one of this limb. */
const BELIEVED = { least: 0.35, most: 2.2 }
const USUAL = { least: 0.75, most: 1.5, samples: 6 }
/** The points of the axis next to a cuff whose width may be the cuff's, and the axis beyond which hands are. */
const CUFF = [-2, -1, 1, 2]
const WRIST = 1.9

function fitWidths(limb: Limb, parsing: Parsing, size: number): void {
  const limit = size * MOST_REACH
  const reaches = limb.axis.map((point) => ({
    label: labelAt(parsing, point),
    back: walk(parsing, point, -1, limit),
    fore: walk(parsing, point, 1, limit),
  }))
  const ratios = (side: 'back' | 'fore') =>
    reaches.map((reach, i) => {
      if (reach.label !== LABEL.skin && reach.label !== LABEL.face) return NaN
      const next = reach[side].next
      if ((next !== LABEL.ground && next !== LABEL.top) || limb.axis[i]!.at > WRIST) return NaN
      // Beside the cuff the way across the arm may end at the cuff itself.
      if (CUFF.some((step) => reaches[i + step]?.label === LABEL.top)) return NaN
      const ratio = reach[side].pixels / limb.axis[i]![side]
      return ratio > BELIEVED.least && ratio < BELIEVED.most ? ratio : NaN
    })
  const back = ratios('back')
  const fore = ratios('fore')
  const seen = [...back, ...fore].filter((ratio) => Number.isFinite(ratio))
  const usual = seen.length >= USUAL.samples ? clamp(median(seen), USUAL.least, USUAL.most) : 1
  const bare = reaches.findIndex(({ label }) => label === LABEL.skin)
  const bareAt = bare < 0 ? 2 : limb.axis[bare]!.at
  for (const [side, ratiosHere] of [
    ['back', back],
    ['fore', fore],
  ] as const) {
    const isSeen = ratiosHere.map((ratio) => Number.isFinite(ratio))
    const spread = smoothBetween(continued(ratiosHere, usual), [])
    const found = limb.axis.map((point, i) => {
      if (isSeen[i]) return point[side] * ratiosHere[i]!
      const own = point[side] * spread[i]!
      return withinCloth(own, reaches[i]!.label, reaches[i]![side], point.at, limb.kind, bareAt)
    })
    const even = smoothBetween(found, isSeen)
    for (const [i, point] of limb.axis.entries()) point[side] = even[i]!
  }
}

/** The least distance of cloth's edge from the cloth's last pixel, and the least half-width of cloth, in pixels. */
const CLOTH = { edge: 0.5, least: 1 }
/** At the root cloth lies on the body: up to where, as on the axis, and how wide the limb may be, in its widths. */
const ROOT = { from: 0.02, least: 0.12, most: 0.4, beforeBare: 0.25, wider: 1.25 }

/** Clothing hides a limb no wider than itself; at the root it lies on the body. */
function withinCloth(
  own: number,
  label: number,
  reach: Reach,
  at: number,
  kind: Limb['kind'],
  bareAt: number,
): number {
  if (label !== LABEL.top && label !== LABEL.bottom) return own
  if (reach.next !== LABEL.ground) return own
  const cloth = Math.max(CLOTH.least, reach.pixels - CLOTH.edge)
  const armRoot = clamp(bareAt - ROOT.beforeBare, ROOT.least, ROOT.most)
  const lies = 1 - (kind === 'arm' ? ramp(at, ROOT.from, armRoot) : ramp(at, 0, ROOT.most))
  const close = Math.min(cloth, own * ROOT.wider)
  return lerp(Math.min(own, cloth), close, lies)
}

/** The length, in bones, over which a seen ratio returns to the usual one. */
const RETURN = 0.4

/** Fills gaps with the nearest seen ratio that returns to the usual one with the distance. */
function continued(values: readonly number[], usual: number): number[] {
  return values.map((value, i) => {
    if (Number.isFinite(value)) return value
    let sum = 0
    let weight = 0
    for (const step of [-1, 1]) {
      for (let j = i + step; j >= 0 && j < values.length; j += step) {
        if (!Number.isFinite(values[j]!)) continue
        const share = Math.exp(-Math.abs(j - i) / (RETURN * STEPS))
        sum += lerp(usual, values[j]!, share) / Math.abs(j - i)
        weight += 1 / Math.abs(j - i)
        break
      }
    }
    return weight > 0 ? sum / weight : usual
  })
}

/** The label at the point, −1 outside the picture. */
export const labelAt = (parsing: Parsing, point: Point) =>
  parsing.labels[indexAt(parsing, point)] ?? -1

/** Walks along the normal in steps of half a pixel to where another label begins. */
function walk(parsing: Parsing, point: AxisPoint, sign: number, limit: number): Reach {
  const start = labelAt(parsing, point)
  const normal = { x: point.nx, y: point.ny }
  for (let step = 0.5; step < limit; step += 0.5) {
    const label = labelAt(parsing, pointBeside(point, normal, sign * step))
    if (label !== start) return { pixels: step - 0.25, next: label }
  }
  return { pixels: limit, next: -1 }
}
