// Arms and legs as chains of joints with widths. Lengths are in pixels of the parsed picture.
import type { Joint } from './perception.ts'
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

export const isSeen = (joint: Joint) => joint.score >= SEEN

/** Whether the point lies in the limb's tube, whose width is multiplied by `times`. */
export function isInLimb(limb: Limb, point: Point, times: number): boolean {
  return limbDistance(limb, point) < times
}

/** The distance of the point from the limb's axis, relative to the limb's half-width there. */
function limbDistance({ joints, radii }: Limb, point: Point): number {
  let nearest = Infinity
  for (let i = 0; i < 2; i++) {
    const from = joints[i]!
    const to = joints[i + 1]!
    if (!isSeen(to)) continue
    const [dx, dy] = [to.x - from.x, to.y - from.y]
    const length = dx * dx + dy * dy
    const share =
      length === 0 ? 0 : clamp(((point.x - from.x) * dx + (point.y - from.y) * dy) / length, 0, 1)
    const distance = Math.hypot(point.x - from.x - dx * share, point.y - from.y - dy * share)
    nearest = Math.min(nearest, distance / lerp(radii[i]!, radii[i + 1]!, share))
  }
  return nearest
}

/** A point on the arm's axis, at a share of its length from shoulder to wrist. */
export function armAt({ joints, radii }: Limb, share: number, sign: -1 | 1): LimbPoint {
  const [shoulder, elbow, wrist] = joints
  const bend = isSeen(elbow)
    ? elbow
    : { x: shoulder.x + sign * radii[0], y: shoulder.y + 4 * radii[0] }
  const end = isSeen(wrist) ? wrist : { x: 2 * bend.x - shoulder.x, y: 2 * bend.y - shoulder.y }
  const isUpper = share < ELBOW
  const [from, to] = isUpper ? [shoulder, bend] : [bend, end]
  const local = isUpper ? share / ELBOW : (share - ELBOW) / (1 - ELBOW)
  // The direction turns gradually at the elbow.
  const turn = clamp((share - ELBOW + 0.12) / 0.24, 0, 1)
  const upper = direction(shoulder, bend)
  const lower = direction(bend, end)
  const along = direction(
    { x: 0, y: 0 },
    { x: lerp(upper.x, lower.x, turn), y: lerp(upper.y, lower.y, turn) },
  )
  return {
    point: { x: lerp(from.x, to.x, local), y: lerp(from.y, to.y, local) },
    outwards: { x: sign * along.y, y: -sign * along.x },
    radius: isUpper ? lerp(radii[0], radii[1], local) : lerp(radii[1], radii[2], local),
  }
}

/** The elbow's share of the arm. */
export const ELBOW = 0.52

function direction(from: Point, to: Point): Point {
  const length = Math.max(1e-6, Math.hypot(to.x - from.x, to.y - from.y))
  return { x: (to.x - from.x) / length, y: (to.y - from.y) / length }
}
