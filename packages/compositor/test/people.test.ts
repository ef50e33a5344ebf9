import { describe, expect, it } from 'vitest'
import { unfit } from '../src/people.ts'
import { createPlane } from '../src/plane.ts'
import { poseAt } from './pose.ts'

/** A person from the front with the knees at these heights; the torso is 100 long. */
function seenWith(leftKnee: number, rightKnee: number, height = 400) {
  const person = createPlane(200, height)
  for (let y = 20; y < height - 20; y++) person.data.fill(1, y * 200 + 50, y * 200 + 150)
  const pose = poseAt({
    rightShoulder: [65, 80],
    leftShoulder: [135, 80],
    rightElbow: [55, 130],
    leftElbow: [145, 130],
    rightWrist: [50, 175],
    leftWrist: [150, 175],
    rightHip: [80, 180],
    leftHip: [120, 180],
    rightKnee: [75, rightKnee],
    leftKnee: [125, leftKnee],
  })
  return { pose, person, face: null }
}

describe('unfit', () => {
  it('accepts every person for a top, and a standing one for all kinds', () => {
    expect(unfit(seenWith(190, 200), 'top')).toBeNull()
    for (const kind of ['dress', 'skirt', 'trousers'] as const) {
      expect(unfit(seenWith(260, 250), kind)).toBeNull()
    }
  })

  it('rejects a seated person for a dress, a skirt or trousers', () => {
    for (const kind of ['dress', 'skirt', 'trousers'] as const) {
      expect(unfit(seenWith(185, 260), kind)).toMatch(/seated/)
      expect(unfit(seenWith(200, 200), kind)).toMatch(/seated/)
    }
  })

  it('rejects crossed arms that hide the hands, for tops and dresses', () => {
    const seen = seenWith(260, 250)
    const { pose } = seen
    Object.assign(pose.leftWrist, { x: 90, y: 135, score: 0.15 })
    Object.assign(pose.rightWrist, { x: 105, y: 140, score: 0.15 })
    for (const kind of ['top', 'dress'] as const) expect(unfit(seen, kind)).toMatch(/crossed/)
    expect(unfit(seen, 'trousers')).toBeNull()
    pose.leftWrist.score = 0.5
    expect(unfit(seen, 'top')).toBeNull()
    Object.assign(pose.leftWrist, { x: 135, score: 0.15 })
    expect(unfit(seen, 'top')).toBeNull()
    Object.assign(pose.leftWrist, { x: 105, y: 175 })
    expect(unfit(seen, 'top')).toBeNull()
  })

  it('ignores knees that are not seen', () => {
    const seen = seenWith(185, 260)
    seen.pose.leftKnee.score = 0.1
    expect(unfit(seen, 'dress')).toBeNull()
  })

  it('ignores knees at the end of the picture', () => {
    expect(unfit(seenWith(210, 210, 218), 'trousers')).toBeNull()
    expect(unfit(seenWith(210, 200, 218), 'trousers')).toMatch(/seated/)
  })

  it('asks for less of the body for a dress or a skirt where the legs are seen', () => {
    const seen = { ...seenWith(260, 250), face: { x: 85, y: 20, width: 30, height: 40 } }
    const { pose } = seen
    for (const joint of Object.values(pose)) joint.score = 0.48
    for (const kind of ['dress', 'skirt'] as const) expect(unfit(seen, kind)).toBeNull()
    expect(unfit(seen, 'trousers')).toMatch(/No person/)
    expect(unfit({ ...seen, face: null }, 'skirt')).toMatch(/No person/)
    pose.leftKnee.score = 0.2
    expect(unfit(seen, 'skirt')).toMatch(/No person/)
  })

  it('asks for less of the arms where a face is seen, for a top or with certain legs', () => {
    const seen = seenWith(260, 250)
    for (const name of ['leftWrist', 'rightWrist', 'leftElbow', 'rightElbow'] as const) {
      seen.pose[name].score = 0
    }
    expect(unfit(seen, 'top')).toMatch(/No person/)
    const face = { x: 85, y: 20, width: 30, height: 40 }
    expect(unfit({ ...seen, face }, 'top')).toBeNull()
    expect(unfit({ ...seen, face }, 'trousers')).toBeNull()
    for (const name of ['leftKnee', 'rightKnee', 'leftHip'] as const) seen.pose[name].score = 0.1
    expect(unfit({ ...seen, face }, 'dress')).toMatch(/No person/)
  })

  it('counts no joints below the end of the photo', () => {
    const seen = seenWith(260, 250)
    for (const name of ['leftWrist', 'rightWrist', 'leftHip', 'rightHip'] as const) {
      seen.pose[name].score = name.endsWith('Hip') ? 0.25 : 0
    }
    expect(unfit(seen, 'top')).toMatch(/No person/)
    expect(unfit(seen, 'top', 0.4)).toBeNull()
    expect(unfit(seen, 'top', 0.1)).toMatch(/No person/)
  })
})
