// Arms and legs as chains of joints with widths. Lengths are in pixels of the parsed picture.
import type { Joint } from './perception.ts'
import { directionOf, shareAlong } from './lines.ts'
import { clamp, lerp, type Point } from './raster.ts'

export interface Limb {
  /** Shoulder, elbow, wrist or hip, knee, ankle. */
  joints: [Joint, Joint, Joint]
  /** The usual half of the limb's width at each joint. */
  radii: [number, number, number]
}

/** A point on a limb's axis. */
export interface LimbPoint {
  point: Point
  /** The direction to the limb's outer side, of length 1. */
  outwards: Point
  /** The usual half of the limb's width. */
  radius: number
}

/** Below this a joint's position is not used. */
const SEEN = 0.25

/** The elbow's share of the arm. */
export const ELBOW = 0.52
/** The share of the arm on each side of the elbow over which its direction turns; chosen by experiment. */
const BEND = 0.12
/** How far below the shoulder an elbow that is not seen is assumed, in half-widths of the shoulder. */
const UPPER_ARM = 4

export const isSeen = (joint: Joint) => joint.score >= SEEN

/**
 * The joints of a leg, which goes on below where the picture ends, or where something hides it: a thigh is about as long as the
 * trunk, and a shin as the thigh.
 */
export function wholeLeg([hip, knee, ankle]: Limb['joints'], trunk: number): Limb['joints'] {
  const bend = isSeen(knee) ? knee : { x: hip.x, y: hip.y + trunk, score: SEEN }
  const end = { x: 2 * bend.x - hip.x, y: 2 * bend.y - hip.y, score: SEEN }
  return [hip, bend, isSeen(knee) && isSeen(ankle) ? ankle : end]
}

/** Whether the point lies in the limb's tube, whose width is multiplied by `times`. */
export function isInLimb({ joints, radii }: Limb, point: Point, times: number): boolean {
  const isInTube = (from: 0 | 1, to: 1 | 2) =>
    isSeen(joints[to]) &&
    placeInTube(joints[from], joints[to], [radii[from], radii[to]], point).distance < times
  return isInTube(0, 1) || isInTube(1, 2)
}

/**
 * Where a point lies in a tube between two points, whose half-width changes from one to the other: the share
 * of its length, and the distance from its axis relative to the half-width there.
 */
export function placeInTube(
  from: Point,
  to: Point,
  radii: readonly [number, number],
  point: Point,
) {
  const share = shareAlong(from, to, point)
  const dx = to.x - from.x
  const dy = to.y - from.y
  const away = Math.hypot(point.x - from.x - dx * share, point.y - from.y - dy * share)
  return { share, distance: away / lerp(radii[0], radii[1], share) }
}

/** A point on the arm's axis, at a share of its length from shoulder to wrist. */
export function armAt({ joints, radii }: Limb, share: number, sign: -1 | 1): LimbPoint {
  const [shoulder, elbow, wrist] = joints
  const bend = isSeen(elbow)
    ? elbow
    : { x: shoulder.x + sign * radii[0], y: shoulder.y + UPPER_ARM * radii[0] }
  const end = isSeen(wrist) ? wrist : { x: 2 * bend.x - shoulder.x, y: 2 * bend.y - shoulder.y }
  const isUpper = share < ELBOW
  const [from, to] = isUpper ? [shoulder, bend] : [bend, end]
  const local = isUpper ? share / ELBOW : (share - ELBOW) / (1 - ELBOW)
  // The direction turns gradually at the elbow.
  const turn = clamp((share - ELBOW + BEND) / (2 * BEND), 0, 1)
  const upper = directionOf(shoulder, bend)
  const lower = directionOf(bend, end)
  const along = directionOf(
    { x: 0, y: 0 },
    { x: lerp(upper.x, lower.x, turn), y: lerp(upper.y, lower.y, turn) },
  )
  return {
    point: { x: lerp(from.x, to.x, local), y: lerp(from.y, to.y, local) },
    outwards: { x: sign * along.y, y: -sign * along.x },
    radius: isUpper ? lerp(radii[0], radii[1], local) : lerp(radii[1], radii[2], local),
  }
}
