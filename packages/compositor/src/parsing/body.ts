// The measures of a person that the parsing goes by, from the joints.
import type { JointName, Pose } from '../perception.ts'
import { between, distance } from '../lines.ts'
import { clamp, type Point } from '../raster.ts'

/** All in pixels of the picture. "left" is the person's own left. */
export interface Body {
  /** About the width between the shoulder joints of a person who faces the camera. */
  unit: number
  /** The middle between the shoulders, and between the hips. */
  chest: Point
  hip: Point
  head: Head
  /** Chains of joints: shoulder, elbow, wrist, fingertips; shorter when joints are not seen. */
  arms: Point[][]
  /** Hip, knee, ankle, toes. */
  legs: Point[][]
}

type Measures = Pick<Body, 'chest' | 'hip' | 'unit'>

export interface Head {
  /** The middle of the face. */
  centre: Point
  /** Half the width of the face, and half the height from chin to hairline. */
  halfWidth: number
  halfHeight: number
  /** The angle by which the head leans, in radians, clockwise. */
  tilt: number
}

/** The least score of a joint that is used, and of one that decides on details. By experiment. */
const SEEN = 0.25
const SURE = 0.4
/** Fingertips are so many forearms from the elbow, and toes so many shoulder widths below the ankle. */
const FINGERTIPS = 1.55
const FOOT = 0.35
/** The least unit of shoulders that are seen from the side, in lengths of the torso. */
const UNIT_OF_TORSO = 0.6
/** The least unit, in pixels. */
const LEAST_UNIT = 4
/** Of the face, in shoulder widths: half its width at least and at most, and the nose above the shoulders. */
const FACE = { narrowest: 0.19, widest: 0.32, nose: 0.62 }
/** Of the face: half its width in distances of the ears, the rest in half widths. */
const EARS = 0.52
const NOSE_BELOW_CENTRE = 0.1
const HEIGHT = 1.4
/** Radians: eyes say no more about a head that leans further. */
const MOST_TILT = 0.4

/** Always gives finite numbers, however bad the pose. */
export function bodyOf(found: Pose): Body {
  const pose = finite(found)
  const chest = between(pose.leftShoulder, pose.rightShoulder, 0.5)
  const hip = between(pose.leftHip, pose.rightHip, 0.5)
  const unit = Math.max(
    distance(pose.leftShoulder, pose.rightShoulder),
    UNIT_OF_TORSO * distance(chest, hip),
    LEAST_UNIT,
  )
  return {
    unit,
    chest,
    hip,
    head: headOf(pose, chest, unit),
    arms: (['left', 'right'] as const).map((side) => armOf(pose, side)),
    legs: (['left', 'right'] as const).map((side) => legOf(pose, side, { chest, hip, unit })),
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
  const ears = bothEars ? distance(leftEar, rightEar) : 0
  const halfWidth = Math.min(FACE.widest * unit, Math.max(FACE.narrowest * unit, EARS * ears))
  const tip = nose.score > SEEN ? nose : { x: chest.x, y: chest.y - FACE.nose * unit }
  // In a face turned aside the nose is off the middle.
  const middle = bothEars ? 0.5 * (tip.x + (leftEar.x + rightEar.x) / 2) : tip.x
  const slope =
    leftEye.score > SURE && rightEye.score > SURE
      ? (leftEye.y - rightEye.y) / Math.max(1, Math.abs(leftEye.x - rightEye.x))
      : 0
  return {
    centre: { x: middle, y: tip.y - NOSE_BELOW_CENTRE * halfWidth },
    halfWidth,
    halfHeight: HEIGHT * halfWidth,
    tilt: clamp(Math.atan(slope * Math.sign(leftEye.x - rightEye.x)), -MOST_TILT, MOST_TILT),
  }
}

function armOf(pose: Pose, side: 'left' | 'right'): Point[] {
  const arm = seenChain(pose, [`${side}Shoulder`, `${side}Elbow`, `${side}Wrist`])
  const [, elbow, wrist] = arm
  return elbow && wrist ? [...arm, between(elbow, wrist, FINGERTIPS)] : arm
}

/** A knee that is not seen is assumed below the hip: a thigh is about as long as the torso. */
function legOf(pose: Pose, side: 'left' | 'right', { chest, hip, unit }: Measures): Point[] {
  const leg = seenChain(pose, [`${side}Hip`, `${side}Knee`, `${side}Ankle`])
  const [top, knee, ankle] = leg
  if (!knee) return [top!, { x: top!.x + hip.x - chest.x, y: top!.y + hip.y - chest.y }]
  return ankle ? [...leg, { x: ankle.x, y: ankle.y + FOOT * unit }] : leg
}

/** The joints up to the first one that is not seen; always the first one. */
function seenChain(pose: Pose, names: [JointName, ...JointName[]]): Point[] {
  const end = names.findIndex((name, k) => k > 0 && pose[name].score < SEEN)
  return names.slice(0, end < 0 ? names.length : end).map((name) => {
    const { x, y } = pose[name]
    return { x, y }
  })
}

/** Finds the nearest point of a chain. One object for all pixels. */
export class ChainPlace {
  /** Where the point is, counted in joints, and how far away. */
  at = 0
  distance = Infinity
  readonly #joints: readonly Point[]

  constructor(joints: readonly Point[]) {
    this.#joints = joints
  }

  find(x: number, y: number): void {
    let least = Infinity
    for (let k = 0; k + 1 < this.#joints.length; k++) {
      const p = this.#joints[k]!
      const q = this.#joints[k + 1]!
      const dx = q.x - p.x
      const dy = q.y - p.y
      const length = dx * dx + dy * dy
      const along = length > 0 ? ((x - p.x) * dx + (y - p.y) * dy) / length : 0
      const t = Math.max(0, Math.min(1, along))
      const square = (x - p.x - t * dx) ** 2 + (y - p.y - t * dy) ** 2
      if (square >= least) continue
      least = square
      this.at = k + t
    }
    this.distance = Math.sqrt(least)
  }
}
