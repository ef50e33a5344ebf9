// The measures of a person that the parsing goes by, from the joints.
import type { Joint, JointName, Pose } from '../perception.ts'
import type { Point } from '../raster.ts'

/** All in pixels of the picture. "left" is the person's own left. */
export interface Body {
  /** About the width between the shoulder joints of a person who faces the camera. */
  unit: number
  /** The middle between the shoulders, and between the hips. */
  chest: Point
  hip: Point
  head: Head
  arms: Limb[]
  legs: Limb[]
}

export interface Head {
  /** The middle of the face. */
  centre: Point
  /** Half the width of the face, and half the height from chin to hairline. */
  halfWidth: number
  halfHeight: number
  /** The angle by which the head leans, in radians, clockwise. */
  tilt: number
}

/** A chain of joints: shoulder, elbow, wrist, fingertips; or hip, knee, ankle, toes. Shorter when joints are not seen. */
export interface Limb {
  joints: Point[]
}

const SEEN = 0.25
const SURE = 0.4

const between = (p: Point, q: Point, share: number): Point => ({
  x: p.x + (q.x - p.x) * share,
  y: p.y + (q.y - p.y) * share,
})

const distanceOf = (p: Point, q: Point) => Math.hypot(p.x - q.x, p.y - q.y)

/** Always gives finite numbers, however bad the pose. */
export function bodyOf(found: Pose): Body {
  const pose = finite(found)
  const chest = between(pose.leftShoulder, pose.rightShoulder, 0.5)
  const hip = between(pose.leftHip, pose.rightHip, 0.5)
  const unit = Math.max(
    distanceOf(pose.leftShoulder, pose.rightShoulder),
    0.6 * distanceOf(chest, hip),
    4,
  )
  return {
    unit,
    chest,
    hip,
    head: headOf(pose, chest, unit),
    arms: (['left', 'right'] as const).map((side) => armOf(pose, side)),
    legs: (['left', 'right'] as const).map((side) => legOf(pose, side, chest, hip, unit)),
  }
}

/** A joint without a place is not seen. */
const finite = (pose: Pose) =>
  Object.fromEntries(
    Object.entries(pose).map(([name, joint]) => [
      name,
      Number.isFinite(joint.x + joint.y) ? joint : { x: 0, y: 0, score: 0 },
    ]),
  ) as Pose

function headOf(pose: Pose, chest: Point, unit: number): Head {
  const { nose, leftEar, rightEar, leftEye, rightEye } = pose
  const bothEars = leftEar.score > SURE && rightEar.score > SURE
  const ears = bothEars ? distanceOf(leftEar, rightEar) : 0
  const halfWidth = Math.min(0.32 * unit, Math.max(0.19 * unit, 0.52 * ears))
  const tip = nose.score > SEEN ? nose : { x: chest.x, y: chest.y - 0.62 * unit }
  // In a face turned aside the nose is off the middle.
  const middle = bothEars ? 0.5 * (tip.x + (leftEar.x + rightEar.x) / 2) : tip.x
  const slope =
    leftEye.score > SURE && rightEye.score > SURE
      ? (leftEye.y - rightEye.y) / Math.max(1, Math.abs(leftEye.x - rightEye.x))
      : 0
  return {
    centre: { x: middle, y: tip.y - 0.1 * halfWidth },
    halfWidth,
    halfHeight: 1.4 * halfWidth,
    tilt: Math.max(-0.4, Math.min(0.4, Math.atan(slope * Math.sign(leftEye.x - rightEye.x)))),
  }
}

function armOf(pose: Pose, side: 'left' | 'right'): Limb {
  const arm = seenChain(pose, [`${side}Shoulder`, `${side}Elbow`, `${side}Wrist`])
  if (arm.joints.length === 3) {
    const [, elbow, wrist] = arm.joints
    arm.joints.push(between(elbow!, wrist!, 1.55))
  }
  return arm
}

/** A knee that is not seen is assumed below the hip: a thigh is about as long as the torso. */
function legOf(pose: Pose, side: 'left' | 'right', chest: Point, hip: Point, unit: number): Limb {
  const leg = seenChain(pose, [`${side}Hip`, `${side}Knee`, `${side}Ankle`])
  const [top, knee, ankle] = leg.joints
  if (!knee) leg.joints.push({ x: top!.x + hip.x - chest.x, y: top!.y + hip.y - chest.y })
  if (ankle) leg.joints.push({ x: ankle.x, y: ankle.y + 0.35 * unit })
  return leg
}

function seenChain(pose: Pose, names: JointName[]): Limb {
  const joints: Point[] = []
  for (const name of names) {
    const joint: Joint = pose[name]
    if (joint.score < SEEN && joints.length > 0) break
    joints.push({ x: joint.x, y: joint.y })
  }
  return { joints }
}

/** Where the nearest point of the chain is, counted in joints, and how far away. */
export function nearestOnChain(
  joints: Point[],
  x: number,
  y: number,
): { at: number; distance: number } {
  let [at, least] = [0, Infinity]
  for (let k = 0; k + 1 < joints.length; k++) {
    const p = joints[k]!
    const q = joints[k + 1]!
    const dx = q.x - p.x
    const dy = q.y - p.y
    const length = dx * dx + dy * dy
    const t = length > 0 ? Math.max(0, Math.min(1, ((x - p.x) * dx + (y - p.y) * dy) / length)) : 0
    const square = (x - p.x - t * dx) ** 2 + (y - p.y - t * dy) ** 2
    if (square < least) [at, least] = [k + t, square]
  }
  return { at, distance: Math.sqrt(least) }
}
