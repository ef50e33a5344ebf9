// Arms and legs as tubes around the joints, as wide as the visible skin and the clothing allow.
import { LABEL, type Parsing } from '../parsing.ts'
import type { Joint, JointName, Pose } from '../perception.ts'
import { clamp, lerp, ramp, type Point } from '../raster.ts'

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

/** Half widths in units of the body's size, from root to end in equal steps. */
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
const STEPS = 24
const NOWHERE = { left: 0, top: 0, right: 0, bottom: 0 }
const SEEN = 0.15

/** The body's size in pixels: the distance of the shoulders as seen from the front. At least 1. */
export function bodySize(pose: Pose): number {
  const shoulders = distance(pose.leftShoulder, pose.rightShoulder)
  const torso = distance(
    middle(pose.leftShoulder, pose.rightShoulder),
    middle(pose.leftHip, pose.rightHip),
  )
  return Math.max(1, shoulders, 0.58 * torso)
}

export const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y)
export const middle = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })

/** The arms and legs that the pose shows, in pixels of the parsing. */
export function limbsOf(parsing: Parsing, pose: Pose): Limb[] {
  const size = bodySize(pose)
  const middleX =
    (pose.leftShoulder.x + pose.rightShoulder.x + pose.leftHip.x + pose.rightHip.x) / 4
  const limbs: Limb[] = []
  for (const [kind, root, bend, end] of CHAINS) {
    const joints = [pose[root], pose[bend], pose[end]]
    if (!joints.every((joint) => Number.isFinite(joint.x + joint.y))) continue
    if (joints[0]!.score < SEEN || joints[1]!.score < SEEN) continue
    const inner = joints[0]!.x > middleX ? -1 : 1
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
    const reach = 2 * Math.max(back, fore, 0.5)
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
  const reach = Math.max(0.5, side > 0 ? point.fore : point.back)
  const away = distance(point, { x, y })
  if (away > 2 * reach) return null
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
  // A little beyond the wrist, up to the hand: the joint is not exactly where the hand begins.
  const end = joints[2]!.score >= SEEN ? 2.25 : 1
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
  const corner = (from: Point, to: Point, share: number) => ({
    x: lerp(from.x, to.x, share),
    y: lerp(from.y, to.y, share),
  })
  const ROUND = 0.2
  if (c.score < SEEN || at < 1 - ROUND) return corner(a, b, at)
  if (at > 1 + ROUND) return corner(b, c, at - 1)
  const t = (at - 1 + ROUND) / (2 * ROUND)
  const from = corner(a, b, 1 - ROUND)
  const to = corner(b, c, ROUND)
  return corner(corner(from, b, t), corner(b, to, t), t)
}

interface Reach {
  /** Pixels from the axis to where the label under the axis ends. */
  pixels: number
  /** What lies there. */
  next: number
}

function fitWidths(limb: Limb, parsing: Parsing, size: number): void {
  const limit = size * 0.7
  const reaches = limb.axis.map((point) => ({
    label: labelAt(parsing, point.x, point.y),
    back: walk(parsing, point, -1, limit),
    fore: walk(parsing, point, 1, limit),
  }))
  const ratios = (side: 'back' | 'fore') =>
    reaches.map((reach, i) => {
      if (reach.label !== LABEL.skin && reach.label !== LABEL.face) return NaN
      const next = reach[side].next
      if ((next !== LABEL.ground && next !== LABEL.top) || limb.axis[i]!.at > 1.9) return NaN
      // Beside the cuff the way across the arm may end at the cuff itself.
      if ([i - 2, i - 1, i + 1, i + 2].some((j) => reaches[j]?.label === LABEL.top)) return NaN
      const ratio = reach[side].pixels / limb.axis[i]![side]
      return ratio > 0.35 && ratio < 2.2 ? ratio : NaN
    })
  const back = ratios('back')
  const fore = ratios('fore')
  const seen = [...back, ...fore]
    .filter((ratio) => Number.isFinite(ratio))
    .toSorted((a, b) => a - b)
  const usual = seen.length > 5 ? clamp(seen[seen.length >> 1]!, 0.75, 1.5) : 1
  const spread = (values: number[]) => smooth(continued(values, usual), [])
  const sides = { back: spread(back), fore: spread(fore) }
  const bare = reaches.findIndex(({ label }) => label === LABEL.skin)
  const bareAt = bare < 0 ? 2 : limb.axis[bare]!.at
  for (const side of ['back', 'fore'] as const) {
    const seenHere = side === 'back' ? back : fore
    const fixed: boolean[] = []
    const found = limb.axis.map((point, i) => {
      fixed.push(Number.isFinite(seenHere[i]!))
      if (fixed[i]) return point[side] * seenHere[i]!
      const own = point[side] * sides[side][i]!
      return withinCloth(own, reaches[i]!.label, reaches[i]![side], point.at, limb.kind, bareAt)
    })
    const even = smooth(found, fixed)
    for (const [i, point] of limb.axis.entries()) point[side] = even[i]!
  }
}

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
  const cloth = Math.max(1, reach.pixels - 0.5)
  const lies =
    kind === 'arm' ? 1 - ramp(at, 0.02, clamp(bareAt - 0.25, 0.12, 0.4)) : 1 - ramp(at, 0, 0.4)
  const close = Math.min(cloth, own * 1.25)
  return lerp(Math.min(own, cloth), close, lies)
}

/** Fills gaps with the nearest seen ratio that returns to the usual one with the distance. */
function continued(values: readonly number[], usual: number): number[] {
  return values.map((value, i) => {
    if (Number.isFinite(value)) return value
    let sum = 0
    let weight = 0
    for (const step of [-1, 1]) {
      for (let j = i + step; j >= 0 && j < values.length; j += step) {
        if (!Number.isFinite(values[j]!)) continue
        const share = Math.exp(-Math.abs(j - i) / (0.4 * STEPS))
        sum += lerp(usual, values[j]!, share) / Math.abs(j - i)
        weight += 1 / Math.abs(j - i)
        break
      }
    }
    return weight > 0 ? sum / weight : usual
  })
}

/** Evens the values out; the fixed ones stay. */
function smooth(values: readonly number[], fixed: readonly boolean[]): number[] {
  let current = [...values]
  const last = current.length - 1
  for (let pass = 0; pass < 8; pass++) {
    current = current.map((value, i) =>
      fixed[i]
        ? value
        : (current[Math.max(0, i - 1)]! + 2 * value + current[Math.min(last, i + 1)]!) / 4,
    )
  }
  return current
}

/** The label at the point, −1 outside the picture. */
export function labelAt(parsing: Parsing, x: number, y: number): number {
  const px = Math.floor(x)
  const py = Math.floor(y)
  if (px < 0 || py < 0 || px >= parsing.width || py >= parsing.height) return -1
  return parsing.labels[py * parsing.width + px]!
}

function walk(parsing: Parsing, point: AxisPoint, sign: number, limit: number): Reach {
  const start = labelAt(parsing, point.x, point.y)
  for (let step = 0.5; step < limit; step += 0.5) {
    const label = labelAt(
      parsing,
      point.x + sign * step * point.nx,
      point.y + sign * step * point.ny,
    )
    if (label !== start) return { pixels: step - 0.25, next: label }
  }
  return { pixels: limit, next: -1 }
}
