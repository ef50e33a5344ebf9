// A product photo may show the garment on a person.
import { distance, middle } from '../lines.ts'
import { labOf, type LabColour } from '../oklab.ts'
import type { Joint, Perceiver, Perception, Pose } from '../perception.ts'
import { LABEL, type Parsing } from '../parsing.ts'
import type { Plane } from '../plane.ts'
import { within, type Point, type Raster } from '../raster.ts'
import type { Way } from './contour.ts'

/** The joints of one side, named after the side of the picture. */
export interface Limbs {
  shoulder: Joint
  elbow: Joint
  wrist: Joint
  hip: Joint
  knee: Joint
}

export interface Wearer {
  left: Limbs
  right: Limbs
  /** The middle between the shoulders, and half their distance. */
  centre: Point
  half: number
  /** From the height of the shoulders to that of the hips. */
  torso: number
}

/** The share of the picture that a person covers at least. */
const LEAST_SHARE = 0.08
/**
 * The least confidence of MoveNet, as the mean of both sides: always in shoulders and hips, and either in the arms, or more in
 * the elbows where the picture ends above the hands, or in the face. A face is enough where the picture ends above the hips.
 */
const TORSO = { Shoulder: 0.55, Hip: 0.45 }
const ARMS = { Wrist: 0.42, Elbow: 0.5 }
const ELBOWS = { Elbow: 0.68, Shoulder: 0.7 }
const FACE = { nose: 0.45, Eye: 0.5, Elbow: 0.35, Hip: 0.2 }
/** The same in a picture that ends below the shoulders. Trousers without a person reach 0.2 at the wrists (25 photos). */
const LEGS = { Hip: 0.45, Knee: 0.5, Ankle: 0.5, Wrist: 0.4 }
/** The same for the wrists alone, above legs that the picture cuts off. */
const SURE_WRISTS = 0.55
/**
 * The same where the upper edge of the picture cuts through a neck or face: the row in which its skin is looked for, and the
 * least share of half the shoulders that it takes. Of 12 people it takes 0.54 and more; of some 850 photos without a person
 * one with such scores reaches 0.33.
 */
const NECK = { Shoulder: 0.55, Hip: 0.3, Elbow: 0.35, row: 2, share: 0.5 }
/** The colours of skin in Oklab: its lightness, its chroma, and its hue in radians, from red to yellow. */
const SKIN = { light: [0.25, 0.93], chroma: [0.03, 0.13], hue: [0.45, 1.25] } as const
/**
 * How far the neck and the head reach above the shoulders at least, in half distances of the shoulders, where the
 * picture does not cut them off. The collar of a shirt reached 0.5, a head without hair 2.
 */
const LEAST_HEAD = 0.8
/**
 * The least share of the picture that is skin other than the face. Of some 100 people one shows 0.004, in a coat with the hands
 * in its pockets, all others 0.007 and more; of six tops without a person four at most 0.001.
 */
const LEAST_SKIN = 0.002
/** Half the shoulders, in lengths of the torso; they are narrower when seen from the side. */
const FRONTAL = 0.16

/** In a first look at the whole picture, scores reach at least 95 % of the limits (75 pictures of people). */
const ROUGHLY = 0.7

type Limb = 'Shoulder' | 'Hip' | 'Wrist' | 'Elbow' | 'Eye' | 'Knee' | 'Ankle'

const meanOf = (pose: Pose, joint: Limb) =>
  (pose[`left${joint}`].score + pose[`right${joint}`].score) / 2

/**
 * Whether the joints are those of a person. Product photos without one score low at the wrists and the face.
 * @param share of each limit that is enough
 */
function showsWearer(pose: Pose, share = 1): boolean {
  const isSure = (joint: Limb, least: number) => meanOf(pose, joint) > least * share
  const arms = isSure('Wrist', ARMS.Wrist) && isSure('Elbow', ARMS.Elbow)
  const elbows = isSure('Elbow', ELBOWS.Elbow) && isSure('Shoulder', ELBOWS.Shoulder)
  const face = showsFace(pose, share) && isSure('Elbow', FACE.Elbow) && isSure('Hip', FACE.Hip)
  const hips = isSure('Hip', TORSO.Hip)
  return showsShoulders(pose, share) && (face || (hips && (arms || elbows)))
}

/**
 * The longest thigh, in lengths of the torso. Of 124 people in product photos one has 1.17, all others at most 1.06, and one 1.5
 * whose shoulders, which the picture does not show, were found at its edge.
 */
const LONGEST_THIGH = 1.3

/** Whether shoulders are seen, and not only guessed at the edge of a picture of legs. */
function showsShoulders(pose: Pose, share = 1): boolean {
  const { hipY, thigh } = thighsOf(limbsOf(pose, 'left'), limbsOf(pose, 'right'))
  const torso = hipY - middle(pose.leftShoulder, pose.rightShoulder).y
  const isGuessed = meanOf(pose, 'Knee') > LEGS.Knee && thigh > LONGEST_THIGH * torso
  return meanOf(pose, 'Shoulder') > TORSO.Shoulder * share && !isGuessed
}

/** Whether a face is seen. Of 130 product photos without a person one reached 0.42, with a printed one. */
export const showsFace = (pose: Pose, share = 1): boolean =>
  pose.nose.score > FACE.nose * share && meanOf(pose, 'Eye') > FACE.Eye * share

/**
 * Whether the joints are those of a torso below a neck or face that the picture cuts off.
 * @param person where a person was seen, if that is known
 */
function showsNeck(
  pose: Pose,
  { width, height, data }: Raster,
  share: number,
  person?: Plane,
): boolean {
  const isSure = (joint: 'Shoulder' | 'Hip' | 'Elbow') => meanOf(pose, joint) > NECK[joint] * share
  if (height <= NECK.row || !(['Shoulder', 'Hip', 'Elbow'] as const).every(isSure)) return false
  const shoulders = [pose.leftShoulder.x, pose.rightShoulder.x]
  const [left, right] = [Math.min(...shoulders), Math.max(...shoulders)]
  let skin = 0
  for (let x = Math.max(0, Math.floor(left)); x < Math.min(width, right); x++) {
    const at = NECK.row * width + x
    if (person && person.data[at]! < 0.5) continue
    if (couldBeSkin(labOf(data[at * 4]!, data[at * 4 + 1]!, data[at * 4 + 2]!))) skin++
  }
  return skin > (NECK.share * (right - left)) / 2
}

const couldBeSkin = ([L, a, b]: LabColour): boolean =>
  within(L, SKIN.light) &&
  within(Math.hypot(a, b), SKIN.chroma) &&
  within(Math.atan2(b, a), SKIN.hue)

/** The same for a person whose shoulders are outside of the picture. */
function showsLegs(pose: Pose, share = 1): boolean {
  const isSure = (joint: keyof typeof LEGS) => meanOf(pose, joint) > LEGS[joint] * share
  const legs = (['Knee', 'Ankle', 'Wrist'] as const).every(isSure)
  const hands = meanOf(pose, 'Wrist') > SURE_WRISTS * share
  return !showsShoulders(pose) && isSure('Hip') && (legs || hands)
}

/** Whether the joints are those of a person who may wear the garment, of whom the legs may be all that is seen. */
export const showsPerson = (pose: Pose, picture: Raster, share = 1): boolean =>
  showsWearer(pose, share) || showsLegs(pose, share) || showsNeck(pose, picture, share)

/** Whether the joints of a first look may be those of a person. */
export const mayShowPerson = (pose: Pose, picture: Raster): boolean =>
  showsPerson(pose, picture, ROUGHLY)

function isVisible({ person }: Perception): boolean {
  let count = 0
  for (const value of person.data) if (value > 0.5) count++
  return count >= person.data.length * LEAST_SHARE
}

/** Whether a person wears the garment who is seen from the hips down. */
export const isWornOnLegs = (perception: Perception): boolean =>
  showsLegs(perception.pose) && isVisible(perception)

/** The height of the hips, and that of the thighs, in pixels. */
export function thighsOf(left: Limbs, right: Limbs) {
  const hipY = middle(left.hip, right.hip).y
  return { hipY, thigh: middle(left.knee, right.knee).y - hipY }
}

/** Half the shoulders of a person of whom only the legs are seen, in lengths of the torso, which is as long as a thigh. */
const HALF_SHOULDERS = 0.33

/** The pose with the shoulders where they are above the picture, which the model puts at its edge. */
export function withShoulders(pose: Pose): Pose {
  const hips = middle(pose.leftHip, pose.rightHip)
  const knees = middle(pose.leftKnee, pose.rightKnee)
  const torso = Math.max(1, distance(hips, knees))
  const way = Math.sign(pose.leftHip.x - pose.rightHip.x) || 1
  const at = (side: number) => ({
    x: hips.x + side * way * HALF_SHOULDERS * torso,
    y: hips.y - torso,
    score: 1,
  })
  return { ...pose, leftShoulder: at(1), rightShoulder: at(-1) }
}

/** Below this salience nothing stands out, and a mask that shows a person there is believed so much. By experiment. */
const NOTHING = 0.1
const DOUBT = 0.4

/** The perception of a person without shoulders, with those, and with all that stands out in its mask, which has gaps. */
export async function withLegs(
  picture: Raster,
  perception: Perception,
  perceiver: Perceiver,
): Promise<Perception> {
  const { person } = perception
  const salience = await perceiver.salience(picture)
  const data = person.data.map((seen, i) => {
    const standsOut = salience.data[i]!
    return Math.max(standsOut, standsOut < NOTHING ? Math.min(seen, DOUBT) : seen)
  })
  return { ...perception, pose: withShoulders(perception.pose), person: { ...person, data } }
}

/** The person who wears the garment; null when no person is seen with confidence. */
export function wearerIn(perception: Perception, picture: Raster): Wearer | null {
  const { pose, person } = perception
  if (!showsWearer(pose) && !showsNeck(pose, picture, 1, person)) return null
  if (!isVisible(perception)) return null
  const swapped = pose.leftShoulder.x < pose.rightShoulder.x
  const left = limbsOf(pose, swapped ? 'left' : 'right')
  const right = limbsOf(pose, swapped ? 'right' : 'left')
  const half = (right.shoulder.x - left.shoulder.x) / 2
  const torso = (left.hip.y + right.hip.y - left.shoulder.y - right.shoulder.y) / 2
  // Seen from the side, the landmarks of a front cannot be placed.
  if (torso <= 0 || half < torso * FRONTAL) return null
  const centre = {
    x: (left.shoulder.x + right.shoulder.x) / 2,
    y: (left.shoulder.y + right.shoulder.y) / 2,
  }
  const top = person.data.findIndex((value) => value > 0.5) / person.width
  if (top > 1 && top > Math.min(left.shoulder.y, right.shoulder.y) - LEAST_HEAD * half) return null
  return { left, right, centre, half, torso }
}

/** Whether a neck, hands or legs are seen: hooded clothes without a person can have the joints of one. */
export const showsSkin = ({ labels }: Parsing): boolean =>
  labels.filter((label) => label === LABEL.skin).length > LEAST_SKIN * labels.length

export const limbsOf = (pose: Pose, side: 'left' | 'right'): Limbs => ({
  shoulder: pose[`${side}Shoulder`],
  elbow: pose[`${side}Elbow`],
  wrist: pose[`${side}Wrist`],
  hip: pose[`${side}Hip`],
  knee: pose[`${side}Knee`],
})

export const limbsAt = (wearer: Wearer, way: Way): Limbs => (way < 0 ? wearer.left : wearer.right)
