// Whether the models find the same person in the result.
import type { JointName, Perception } from '../perception.ts'

const JOINTS = [
  'leftShoulder',
  'rightShoulder',
  'leftElbow',
  'rightElbow',
  'leftHip',
  'rightHip',
] as const satisfies JointName[]

/** The least confidence of a joint in the photo that is compared; chosen by experiment. */
const CONFIDENT = 0.4

export interface PoseChange {
  /** The largest move of a joint, relative to the body's size. */
  moved: number
  /** The mean confidence of the joints in the result, relative to that in the photo. */
  confidence: number
}

/** Compares the joints that the photo showed with confidence. @param size of the body in pixels */
export function poseChange(before: Perception, after: Perception, size: number): PoseChange {
  let moved = 0
  let [scoreBefore, scoreAfter] = [0, 0]
  for (const name of JOINTS) {
    const [from, to] = [before.pose[name], after.pose[name]]
    if (from.score < CONFIDENT) continue
    scoreBefore += from.score
    scoreAfter += to.score
    moved = Math.max(moved, Math.hypot(to.x - from.x, to.y - from.y) / Math.max(1, size))
  }
  return {
    moved,
    confidence: scoreBefore > 0 ? scoreAfter / scoreBefore : 1,
  }
}
