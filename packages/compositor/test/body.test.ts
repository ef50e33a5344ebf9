import { describe, expect, it } from 'vitest'
import { readBody } from '../src/body.ts'
import { createPlane } from '../src/plane.ts'
import { poseAt } from './pose.ts'

const WIDTH = 200
const HEIGHT = 300

const pose = poseAt({
  rightShoulder: [62, 82],
  leftShoulder: [138, 82],
  rightElbow: [62, 132],
  leftElbow: [138, 132],
  rightWrist: [62, 182],
  leftWrist: [138, 182],
  rightHip: [82, 200],
  leftHip: [118, 200],
})

/** A person from the front who is, with what they wear, so wide on each side, and wider below the hips. */
function bodyOf(half: number, flare = 0) {
  const person = createPlane(WIDTH, HEIGHT)
  for (let y = 70; y < HEIGHT; y++) {
    const reach = half + Math.max(0, y - 200) * flare
    person.data.fill(1, y * WIDTH + 100 - reach, y * WIDTH + 100 + reach)
  }
  const parsing = { width: WIDTH, height: HEIGHT, labels: new Uint8Array(WIDTH * HEIGHT) }
  return readBody({ pose, person, face: null }, parsing)
}

/** One whose arms reach so far outwards from their axes. */
const bodyWithArms = (out: number) => bodyOf(38 + out)

describe('armOutline', () => {
  it('follows an arm that is thinner than usual', () => {
    const { left, right } = bodyWithArms(9)
    for (const side of [left, right]) {
      expect(side.armOutline(0.3) / side.arm.radii[0]).toBeGreaterThan(0.6)
      expect(side.armOutline(0.3)).toBeLessThan(10)
    }
  })

  it('does not follow a wide old sleeve', () => {
    const { left, right } = bodyWithArms(40)
    for (const side of [left, right]) {
      expect(side.armOutline(0)).toBeLessThanOrEqual(1.2 * side.arm.radii[0])
    }
  })
})

describe('edgeAt', () => {
  it('follows wide hips, but no coat', () => {
    const hipsOf = (half: number) => bodyOf(half).edgeAt(1, 118)
    expect(Math.abs(hipsOf(54) - 54)).toBeLessThan(2)
    expect(hipsOf(70)).toBeLessThan(54)
  })

  it('takes the width of a flared skirt for no hips', () => {
    expect(bodyOf(54, 0.5).edgeAt(1, 118)).toBeLessThan(48)
  })
})
