// The sleeve on an arm: follows the arm's joints as far as there is cloth.
import type { Sleeve } from '../garment.ts'
import { between, distance, resample } from '../lines.ts'
import type { Point } from '../raster.ts'
import { isSet, type Mask } from './mask.ts'
import type { Limbs } from './wearer.ts'
import type { Way } from './contour.ts'
import { smoothLine } from '../smoothing.ts'

const POINTS = 9
/** Samples along the upper arm and along the forearm. */
const STEPS = 16
/** How far a sleeve may reach over the hand of a hanging arm, in lengths of the forearm, and samples along it. */
const CUFF = { most: 0.3, steps: 5 }
/** The direction of a hanging arm has at least this part downwards. */
const HANGING = 0.7
/** The share of the upper arm that a sleeve covers at least. */
const LEAST_SLEEVE = 0.25
/**
 * From the bone, in half widths of the shoulders: where cloth must be, the widest sleeve at the shoulder
 * and how much narrower it is at the wrist, and the narrowest sleeve. By experiment.
 */
const ARM = { covered: 0.12, widest: 0.42, narrowing: 0.14, least: 0.2 }

/**
 * @param half half the distance between the shoulders
 * @returns null when less than a quarter of the upper arm is covered
 */
export function wornSleeveOf(
  mask: Mask,
  { shoulder: joint, elbow, wrist }: Limbs,
  shoulder: Point,
  armpit: Point,
  half: number,
  way: Way,
): Sleeve | null {
  const stations = [...along(joint, elbow), ...along(elbow, wrist)]
  if (stations.at(-1)!.ahead.y > HANGING) {
    stations.push(...along(wrist, between(elbow, wrist, 1 + CUFF.most), CUFF.steps))
  }
  let end = 0
  let misses = 0
  for (let i = 1; i < stations.length && misses < 3; i++) {
    const { at, ahead } = stations[i]!
    const isSleeve =
      coveredAt(mask, stations[i]!, half * ARM.covered) &&
      (i < 2 * STEPS || isFree(mask, at, { x: -way * ahead.y, y: way * ahead.x }, half))
    misses = isSleeve ? 0 : misses + 1
    if (isSleeve) end = i
  }
  if (end < STEPS * LEAST_SLEEVE) return null
  const outer: Point[] = [shoulder]
  const inner: Point[] = [armpit]
  for (let i = 2; i <= end; i++) {
    const { at, ahead } = stations[i]!
    const normal = { x: way * ahead.y, y: -way * ahead.x }
    // The arm narrows towards the wrist.
    const most = half * (ARM.widest - ARM.narrowing * (i / (2 * STEPS)))
    const out = reachAlong(mask, at, normal, most)
    const back = reachAlong(mask, at, { x: -normal.x, y: -normal.y }, most)
    // Cloth up to the limit is the torso's; the sleeve is then about as wide as on its free side.
    const inwards = back >= most ? Math.min(most, Math.max(out, half * ARM.least)) : back
    const outwards = out >= most ? Math.min(most, Math.max(back, half * ARM.least)) : out
    outer.push({ x: at.x + normal.x * outwards, y: at.y + normal.y * outwards })
    // Near the shoulder the inner edge is inside the torso.
    const point = { x: at.x - normal.x * inwards, y: at.y - normal.y * inwards }
    // A hanging arm hides the torso's side; its sleeve does not reach further in than the armpit.
    if (ahead.y > HANGING && way * (point.x - armpit.x) < 0) point.x = armpit.x
    if (distance(point, joint) > distance(armpit, joint) * 0.9) inner.push(point)
  }
  return {
    outer: resample(smoothLine(outer, 3), POINTS),
    inner: resample(smoothLine(inner, 3), POINTS),
  }
}

interface Station {
  at: Point
  /** The direction towards the hand. */
  ahead: Point
}

function along(from: Point, to: Point, steps = STEPS): Station[] {
  const length = distance(from, to) || 1
  const ahead = { x: (to.x - from.x) / length, y: (to.y - from.y) / length }
  return Array.from({ length: steps }, (_, i) => ({
    at: between(from, to, (i + 0.5) / steps),
    ahead,
  }))
}

/** Whether most of the arm's width is cloth. */
function coveredAt(mask: Mask, { at, ahead }: Station, width: number): boolean {
  let count = 0
  for (let k = -2; k <= 2; k++) {
    if (isSet(mask, at.x + (ahead.y * width * k) / 2, at.y - (ahead.x * width * k) / 2)) count++
  }
  return count >= 3
}

/** Whether the cloth at a wrist ends before the torso's, as that of a hand in a pocket does not. */
function isFree(mask: Mask, wrist: Point, inwards: Point, half: number): boolean {
  const most = half * (ARM.widest - ARM.narrowing)
  return reachAlong(mask, wrist, inwards, most) < most
}

/** How far cloth continues from a point in a direction, at most `most`. */
function reachAlong(mask: Mask, from: Point, direction: Point, most: number): number {
  let reach = 0
  while (reach < most && isSet(mask, from.x + direction.x * reach, from.y + direction.y * reach)) {
    reach += 0.5
  }
  return Math.min(reach, most)
}
