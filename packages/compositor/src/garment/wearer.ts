// A product photo may show the garment on a person.
import type { Joint, Perception, Pose } from '../perception.ts'
import type { Point } from '../raster.ts'
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
}

const LEAST_SHARE = 0.08

/**
 * The person who wears the garment.
 * @returns null when no person is seen with confidence; product photos without people score low at the
 * wrists and the face
 */
export function wearerIn({ pose, person }: Perception): Wearer | null {
  const score = (joint: 'Shoulder' | 'Hip' | 'Wrist' | 'Elbow' | 'Eye') =>
    (pose[`left${joint}`].score + pose[`right${joint}`].score) / 2
  const arms = score('Wrist') > 0.42 && score('Elbow') > 0.5
  // The picture may end above the hands.
  const elbows = score('Elbow') > 0.68 && score('Shoulder') > 0.7
  const face = pose.nose.score > 0.5 && score('Eye') > 0.5 && score('Elbow') > 0.35
  if (score('Shoulder') < 0.55 || score('Hip') < 0.45 || !(arms || elbows || face)) return null
  let count = 0
  for (const value of person.data) if (value > 0.5) count++
  if (count < person.data.length * LEAST_SHARE) return null
  const swapped = pose.leftShoulder.x < pose.rightShoulder.x
  const left = limbsOf(pose, swapped ? 'left' : 'right')
  const right = limbsOf(pose, swapped ? 'right' : 'left')
  const half = (right.shoulder.x - left.shoulder.x) / 2
  const torso = (left.hip.y + right.hip.y - left.shoulder.y - right.shoulder.y) / 2
  // Seen from the side, the landmarks of a front cannot be placed.
  if (torso <= 0 || half < torso * 0.16) return null
  const centre = {
    x: (left.shoulder.x + right.shoulder.x) / 2,
    y: (left.shoulder.y + right.shoulder.y) / 2,
  }
  return { left, right, centre, half }
}

const limbsOf = (pose: Pose, side: 'left' | 'right'): Limbs => ({
  shoulder: pose[`${side}Shoulder`],
  elbow: pose[`${side}Elbow`],
  wrist: pose[`${side}Wrist`],
  hip: pose[`${side}Hip`],
  knee: pose[`${side}Knee`],
})

export const limbsAt = (wearer: Wearer, way: Way): Limbs => (way < 0 ? wearer.left : wearer.right)
