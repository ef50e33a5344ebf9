import { describe, expect, it } from 'vitest'
import { readBody } from '../src/body.ts'
import { withoutHiddenArm } from '../src/hidden-arm.ts'
import { orderOf } from '../src/order.ts'
import { LABEL, type Parsing } from '../src/parsing.ts'
import { JOINTS, type Perception, type Pose } from '../src/perception.ts'
import { createPlane } from '../src/plane.ts'

const SIZE = { width: 200, height: 300 }
const SHOULDER = { x: 60, y: 60 }

/** A body in a shirt with two arms; the model places the right one, at the left of the picture, on the shirt. */
function scene({ wrist, sleeves }: { wrist: number; sleeves: boolean }) {
  const parsing: Parsing = { ...SIZE, labels: new Uint8Array(SIZE.width * SIZE.height) }
  const fill = (label: number, left: number, right: number, top: number, bottom: number) => {
    for (let y = top; y < bottom; y++) {
      parsing.labels.fill(label, y * SIZE.width + left, y * SIZE.width + right)
    }
  }
  fill(LABEL.top, 50, 150, 50, 200)
  fill(LABEL.bottom, 50, 150, 200, 300)
  fill(sleeves ? LABEL.top : LABEL.skin, 150, 170, 80, 240)
  const pose = Object.fromEntries(
    JOINTS.map((name) => [name, { x: 100, y: 20, score: 0.9 }]),
  ) as Pose
  Object.assign(pose, {
    rightShoulder: { ...SHOULDER, score: 0.9 },
    rightElbow: { x: 80, y: 130, score: 0.4 },
    rightWrist: { x: 110, y: 180, score: wrist },
    leftShoulder: { x: 140, y: 60, score: 0.9 },
    leftElbow: { x: 160, y: 130, score: 0.9 },
    leftWrist: { x: 160, y: 220, score: 0.9 },
  })
  const perception: Perception = {
    pose,
    person: createPlane(SIZE.width, SIZE.height),
    face: null,
    box: null,
  }
  return { perception, parsing }
}

describe('withoutHiddenArm', () => {
  it('lets an arm hang behind the body when the other one is bare', () => {
    const { perception, parsing } = scene({ wrist: 0.2, sleeves: false })
    const { pose } = withoutHiddenArm(perception, parsing)
    expect(pose.rightElbow).toMatchObject({ x: SHOULDER.x, score: 0 })
    expect(pose.rightWrist).toMatchObject({ x: SHOULDER.x, score: 0 })
    expect(pose.rightWrist.y).toBeGreaterThan(pose.rightElbow.y)
    expect(pose.leftElbow).toEqual(perception.pose.leftElbow)
  })

  it.each([
    ['whose hand is seen', { wrist: 0.6, sleeves: false }],
    ['in a long sleeve', { wrist: 0.2, sleeves: true }],
  ])('does not change an arm %s', (_, seen) => {
    const { perception, parsing } = scene(seen)
    expect(withoutHiddenArm(perception, parsing)).toBe(perception)
  })
})

describe('orderOf', () => {
  it.each([
    ['an old sleeve', true, 1],
    ['no shirt on an arm behind it, when the other arm is bare,', false, 0],
  ])('takes %s for an arm before the torso', (_, sleeves, inFront) => {
    const { perception, parsing } = scene({ wrist: 0.6, sleeves })
    const order = orderOf(parsing, readBody(perception, parsing), [0, 0], null)
    expect(order.torso.data[150 * SIZE.width + 92]).toBe(inFront)
  })

  it.each([
    ['a hand below a sleeve', 246, 1],
    ['a bare thigh below shorts', 300, 0],
  ])('takes %s for what it is', (_, end, inFront) => {
    const { perception, parsing } = scene({ wrist: 0.6, sleeves: true })
    for (let y = 228; y < end; y++) {
      const width = end === 300 ? 60 : 14
      parsing.labels.fill(LABEL.skin, y * SIZE.width + 154, y * SIZE.width + 154 + width)
    }
    const order = orderOf(parsing, readBody(perception, parsing), [0, 0], null)
    expect(order.sleeves.data[236 * SIZE.width + 160]).toBe(inFront)
  })
})
