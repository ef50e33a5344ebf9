// Evidence that a picture shows one person who can be dressed. MoveNet always returns one body: it mixes the
// joints of several people, and a shirt alone looks like shoulders to it.
import type { Garment } from './garment.ts'
import { isSeen } from './limb.ts'
import { distance, middle } from './lines.ts'
import { isConfident, type Joint, type Perception } from './perception.ts'
import type { JointName, Pose } from './person-models.ts'
import { numberPieces } from './pieces.ts'
import { mean, type Plane } from './plane.ts'

/**
 * The least `bodyConfidence` of a person, and of one whose face is seen, which garments alone have not: for a top, or where the
 * mean confidence in shoulders, hips and knees is at least that of `STANDS`. Arms before the body are less certain.
 */
const A_BODY = { usual: 0.56, withFace: 0.44 }
/** Legs that cross fit no trousers. */
const STANDS = { trousers: 0.5, others: 0.45 }
/**
 * Crossed arms hide the hands: both wrists are not seen, at most so far `apart`, in shoulder widths, and end so far below the
 * shoulders, in torsos. Of some 480 people three are so, all with their arms crossed; of one who crosses them a hand is seen.
 */
const CROSSED = { apart: 0.35, lowest: 0.8 }
/** The width of the shoulders relative to the torso; 0.55 to 0.8 from the front. */
const SIDEWAYS = 0.3
/** The cosine of the torso's tilt. */
const UPRIGHT = 0.75
/** How far below the hips a knee is, in lengths of the torso: at least 0.65 of 35 people who stand. */
const SEATED = 0.45
/** Lower than this share of the picture a knee is a guess: below, the picture ends. */
const LOWEST_KNEE = 0.95

/** The least confidence in a body that is enough for a garment of the kind. */
function leastFor(kind: Garment['kind'], { pose, face }: Perception): number {
  if (!face) return A_BODY.usual
  if (kind === 'top') return A_BODY.withFace
  const stance = mean(STANCE.map((name) => pose[name].score))
  const isStanding = stance >= (kind === 'trousers' ? STANDS.trousers : STANDS.others)
  return isStanding ? A_BODY.withFace : A_BODY.usual
}

/**
 * @param end where the photo ends, as a share of the height; what is below is a copy of its last row
 * @returns a sentence that says why the person cannot wear a garment of the kind; null when they can
 */
export function unfit(seen: Perception, kind: Garment['kind'], end = Infinity): string | null {
  const { pose, person } = seen
  const { leftShoulder, rightShoulder, leftWrist, rightWrist, leftHip, rightHip } = pose
  if (bodyConfidence(pose, end * person.height) < leastFor(kind, seen))
    return 'No person is visible, or too little of their body.'
  if (!isSeen(leftShoulder) || !isSeen(rightShoulder)) return 'The shoulders are not visible.'
  if (!isSeen(leftHip) && !isSeen(rightHip)) return 'The hips are not visible.'
  if (countPeople(person) > 1) return 'More than one person is visible.'
  const hips = middle(leftHip, rightHip)
  const chest = middle(leftShoulder, rightShoulder)
  const torso = distance(hips, chest)
  if (distance(leftShoulder, rightShoulder) < SIDEWAYS * torso) {
    return 'The person is seen from the side.'
  }
  if (hips.y - chest.y < UPRIGHT * torso) return 'The person is not upright.'
  const hasHidden = (wrist: Joint) => !isSeen(wrist) && wrist.y - chest.y < CROSSED.lowest * torso
  const apart = distance(leftWrist, rightWrist) / distance(leftShoulder, rightShoulder)
  const isUpper = kind === 'top' || kind === 'dress'
  if (isUpper && hasHidden(leftWrist) && hasHidden(rightWrist) && apart < CROSSED.apart) {
    return 'The arms are crossed. They must hang down, or the hands must be visible.'
  }
  const isRaised = (knee: Joint) =>
    isConfident(knee) && knee.y < LOWEST_KNEE * person.height && knee.y - hips.y < SEATED * torso
  if (kind !== 'top' && (isRaised(pose.leftKnee) || isRaised(pose.rightKnee))) {
    return 'The person is seated. Dresses, skirts and trousers need one who stands.'
  }
  return null
}

const bothOf = (joints: readonly string[]) =>
  joints.flatMap((joint) => [`left${joint}`, `right${joint}`]) as JointName[]
const BODY = bothOf(['Shoulder', 'Elbow', 'Wrist', 'Hip'])
const STANCE = bothOf(['Shoulder', 'Hip', 'Knee'])

/**
 * The mean confidence in shoulders, elbows, wrists and hips from 0 to 1. It was at least 0.69 for 28 of 28
 * photos of people, with and without a head, and below 0.55 for 42 of 42 product photos. A crop at the
 * waist lowers it, because hips and wrists are outside.
 * @param end joints below this row do not count
 */
export function bodyConfidence(pose: Pose, end = Infinity): number {
  const joints = BODY.map((name) => pose[name]).filter(({ y }) => y <= end)
  return mean(joints.map(({ score }) => score))
}

/** A region counts as a person when it has this share of the largest region's area. */
const SHARE = 0.3

/**
 * The number of large separate regions in the mask of `Perception`. People who touch count as one, and
 * a person whom an object cuts into parts can count as two.
 */
export function countPeople(person: Plane): number {
  const { areas } = numberPieces(person, (at) => person.data[at]! >= 0.5)
  const largest = Math.max(...areas)
  return areas.filter((area) => area > 0 && area >= largest * SHARE).length
}
