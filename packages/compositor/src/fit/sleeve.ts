// Where a sleeve lies on an arm.
import type { BodySide } from '../body.ts'
import { armAt } from '../limb.ts'
import { pointOn } from '../garment-chart.ts'
import type { Sleeve } from '../garment.ts'
import { clamp, lerp, type Point } from '../raster.ts'
import { distance, lengthOf, middle, pointBeside, resample, shareAlong } from '../lines.ts'

/** The length of an arm from shoulder to wrist, relative to the body's size. */
const ARM_LENGTH = 1.5

const SLEEVE_POINTS = 12

// Chosen by experiment on the development photographs; widths are in half-widths of the arm.
/** Half the sleeve's width, and the part of it below the arm's axis. */
const HALF_WIDTH = { least: 1.12, most: 2 }
const BELOW_AXIS = { least: 1.05, most: 1.3 }
/** The cuff of a short sleeve, which ends at `reach` at most, stands off the arm on both sides: from and by how much. */
const LOOSE = { reach: 0.5, from: 1.3, most: 0.6 }
/** The thickness of cloth on the arm, relative to the body's size. */
const THICKNESS = 0.015
/** Shares of the arm: from the armpit to the inner edge, and where the edge becomes free of the armpit. */
const FROM_ARMPIT = 0.03
const FREE = { from: 0.3, over: 0.15 }
/** The inner end of a cap sleeve: its share of the way to the cuff, and how far below the armpit in body sizes. */
const CAP = { share: 0.06, below: 0.02 }
/** The shares of the arm that a sleeve covers at least, and from which on it is a long one. */
const LEAST_REACH = 0.05
const LONG_REACH = 0.75
/** What a sleeve covers of the arm at least, in its outer edge: a wide short one has hardly an inner edge. */
const OUTER_EDGE = 0.85
/**
 * The length of a long sleeve's outer edge, in widths of the garment at the shoulders: always, and if it hangs to the hem. Of 390
 * tops eight have sleeves to the hem of 0.88 to 1.2, all of them long ones of wide short garments.
 */
const LONG_EDGE = { always: 1.5, toHem: 0.85 }
/** How far above the hem such a sleeve ends at most, as a share of its length. */
const ABOVE_HEM = 0.07

export interface SleeveFit {
  sleeve: Sleeve
  side: BodySide
  /** The ends of the armhole on the person. */
  shoulder: Point
  armpit: Point
  /** The shares of the arm at which the sleeve begins and ends. */
  from: number
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
  from,
  reach,
  scale,
  size,
}: SleeveFit): Sleeve {
  const { outer, inner } = sleeve
  const { arm } = side
  const [root, elbow] = arm.joints
  const pitShare = 0.5 * shareAlong(root, elbow, armpit)
  const targetOuter: Point[] = [shoulder]
  const targetInner: Point[] = [armpit]
  for (let i = 1; i < SLEEVE_POINTS; i++) {
    const along = i / (SLEEVE_POINTS - 1)
    const onArm = lerp(from, reach, along)
    const { point, outwards, radius } = armAt(arm, onArm, side.sign)
    const own = distance(pointOn(outer, along), pointOn(inner, along)) * scale * 0.5
    const half = clamp(own, radius * HALF_WIDTH.least, radius * HALF_WIDTH.most)
    // Cloth hangs: what is wider than the arm is below it.
    const isShort = reach < LOOSE.reach ? along : 0
    const loose = isShort * clamp(half - LOOSE.from * radius, 0, LOOSE.most * radius)
    const up = side.armOutline(onArm) + THICKNESS * size + loose
    const most = radius * BELOW_AXIS.most + loose
    const down = clamp(2 * half - up, radius * BELOW_AXIS.least, most)
    targetOuter.push(pointBeside(point, outwards, up))
    if (onArm < pitShare + FROM_ARMPIT) continue
    const free = pointBeside(point, outwards, -down)
    // Next to the torso a short sleeve does not reach farther inwards than the armpit.
    const inside = side.sign * (armpit.x - free.x)
    const share = inside > 0 ? 1 - clamp((onArm - FREE.from) / FREE.over, 0, 1) : 0
    targetInner.push({ x: lerp(free.x, armpit.x, share), y: free.y })
  }
  if (targetInner.length === 1) {
    // A cap sleeve ends above the armpit.
    const cuff = targetOuter.at(-1)!
    targetInner.push({ x: lerp(armpit.x, cuff.x, CAP.share), y: armpit.y + CAP.below * size })
  }
  return {
    outer: resample(targetOuter, SLEEVE_POINTS),
    inner: resample(targetInner, SLEEVE_POINTS),
  }
}

/** The share of the arm that a sleeve covers. `shoulders` is the garment's width there, `hemY` the height of its hem. */
export function reachOf(
  { outer, inner }: Sleeve,
  shoulders: number,
  hemY: number,
  scale: number,
  size: number,
): number {
  const axis = outer.map((point, i) => {
    return middle(point, pointOn(inner, i / Math.max(1, outer.length - 1)))
  })
  const length = Math.max(lengthOf(axis), OUTER_EDGE * lengthOf(outer))
  const share = clamp((length * scale) / (ARM_LENGTH * size), LEAST_REACH, 1)
  // However it lies, a sleeve of this length is a long one.
  const edge = lengthOf(outer)
  const toHem = outer.at(-1)!.y > hemY - ABOVE_HEM * edge
  const isLong = edge > (toHem ? LONG_EDGE.toHem : LONG_EDGE.always) * shoulders
  return isLong || share > LONG_REACH ? 1 : share
}
