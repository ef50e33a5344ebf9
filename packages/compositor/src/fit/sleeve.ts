// Where a sleeve lies on an arm.
import type { BodySide } from '../body.ts'
import { armAt, type Limb } from '../limb.ts'
import { pointOn } from '../garment-chart.ts'
import type { Sleeve } from '../garment.ts'
import { clamp, lerp, type Point } from '../raster.ts'
import { distance, lengthOf, resample } from '../lines.ts'

/** The length of an arm from shoulder to wrist, relative to the body's size. */
const ARM_LENGTH = 1.5

const SLEEVE_POINTS = 12

export interface SleeveFit {
  sleeve: Sleeve
  side: BodySide
  /** The ends of the armhole on the person. */
  shoulder: Point
  armpit: Point
  /** The share of the arm that the sleeve covers. */
  reach: number
  scale: number
  size: number
}

/** Lays a sleeve round the arm, from the armhole to its share of the arm's length. */
export function fitSleeve({
  sleeve,
  side,
  shoulder,
  armpit,
  reach,
  scale,
  size,
}: SleeveFit): Sleeve {
  const { outer, inner } = sleeve
  const { arm } = side
  const pitShare = shareOnArm(arm, armpit)
  const targetOuter: Point[] = [shoulder]
  const targetInner: Point[] = [armpit]
  for (let i = 1; i < SLEEVE_POINTS; i++) {
    const along = i / (SLEEVE_POINTS - 1)
    const { point, outwards, radius } = armAt(arm, along * reach, side.sign)
    const own = distance(pointOn(outer, along), pointOn(inner, along)) * scale * 0.5
    const half = clamp(own, radius * 1.12, radius * 2)
    // Cloth hangs: what is wider than the arm is below it.
    const up = side.armOutline(along * reach) + 0.015 * size
    const down = clamp(2 * half - up, radius * 1.05, radius * 1.3)
    targetOuter.push({ x: point.x + outwards.x * up, y: point.y + outwards.y * up })
    if (along * reach < pitShare + 0.03) continue
    const free = { x: point.x - outwards.x * down, y: point.y - outwards.y * down }
    // Next to the torso a short sleeve does not reach farther inwards than the armpit.
    const inside = side.sign * (armpit.x - free.x)
    const share = inside > 0 ? 1 - clamp((along * reach - 0.3) / 0.15, 0, 1) : 0
    targetInner.push({ x: lerp(free.x, armpit.x, share), y: free.y })
  }
  if (targetInner.length === 1) {
    // A cap sleeve ends above the armpit.
    const cuff = targetOuter.at(-1)!
    targetInner.push({ x: lerp(armpit.x, cuff.x, 0.06), y: armpit.y + 0.02 * size })
  }
  return {
    outer: resample(targetOuter, SLEEVE_POINTS),
    inner: resample(targetInner, SLEEVE_POINTS),
  }
}

/** The share of the arm that a sleeve covers. `shoulders` is the garment's width at the shoulders. */
export function reachOf(
  { outer, inner }: Sleeve,
  shoulders: number,
  scale: number,
  size: number,
): number {
  const axis = outer.map((point, i) => {
    const other = pointOn(inner, i / Math.max(1, outer.length - 1))
    return { x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 }
  })
  const share = clamp((lengthOf(axis) * scale) / (ARM_LENGTH * size), 0.05, 1)
  // However it lies, a sleeve of this length is a long one.
  const isLong = lengthOf(outer) > 1.5 * shoulders
  return isLong || share > 0.75 ? 1 : share
}

/** The share of the arm's length, from 0 to 0.5, at which the upper arm passes a point. */
function shareOnArm({ joints: [shoulder, elbow] }: Limb, point: Point): number {
  const [dx, dy] = [elbow.x - shoulder.x, elbow.y - shoulder.y]
  const length = dx * dx + dy * dy
  if (length === 0) return 0
  return 0.5 * clamp(((point.x - shoulder.x) * dx + (point.y - shoulder.y) * dy) / length, 0, 1)
}
