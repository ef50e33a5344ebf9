import { describe, expect, it } from 'vitest'
import { readBody } from '../src/body.ts'
import { withoutHiddenArm } from '../src/hidden-arm.ts'
import { orderOf } from '../src/order.ts'
import { LABEL, type Parsing } from '../src/parsing.ts'
import { createPlane } from '../src/plane.ts'
import { eachPixel, type Box } from './pixels.ts'
import { poseAt } from './pose.ts'

const SIZE = { width: 200, height: 300 }
const SHOULDER = { x: 60, y: 60 }

/** A body in a shirt with two arms; the model places the right one, at the left of the picture, on the shirt. */
function scene({ wrist, sleeves }: { wrist: number; sleeves: boolean }) {
  const parsing: Parsing = { ...SIZE, labels: new Uint8Array(SIZE.width * SIZE.height) }
  fill(parsing, [50, 50, 150, 200], LABEL.top)
  fill(parsing, [50, 200, 150, 300], LABEL.bottom)
  fill(parsing, [150, 80, 170, 240], sleeves ? LABEL.top : LABEL.skin)
  const pose = poseAt({
    rightShoulder: [SHOULDER.x, SHOULDER.y],
    rightElbow: [80, 130],
    rightWrist: [110, 180],
    rightHip: [75, 200],
    leftShoulder: [140, 60],
    leftElbow: [160, 130],
    leftWrist: [160, 220],
    leftHip: [125, 200],
  })
  pose.rightElbow.score = 0.4
  pose.rightWrist.score = wrist
  const person = createPlane(SIZE.width, SIZE.height)
  return { perception: { pose, person, face: null }, parsing }
}

const fill = ({ labels }: Parsing, box: Box, label: number) =>
  eachPixel(SIZE.width, box, (at) => labels.set([label], at))

describe('withoutHiddenArm', () => {
  it('lets an arm hang behind the body when the other one is bare', () => {
    const { perception, parsing } = scene({ wrist: 0.2, sleeves: false })
    const { pose } = withoutHiddenArm(perception, parsing)
    expect(pose.rightElbow).toMatchObject({ x: SHOULDER.x, score: 0 })
    expect(pose.rightWrist).toMatchObject({ x: SHOULDER.x, score: 0 })
    expect(pose.rightWrist.y).toBeGreaterThan(pose.rightElbow.y)
    expect(pose.leftElbow).toEqual(perception.pose.leftElbow)
  })

  it('takes a wrist on the clothes with a low score for a hidden one', () => {
    const { perception, parsing } = scene({ wrist: 0.35, sleeves: false })
    expect(withoutHiddenArm(perception, parsing).pose.rightWrist.score).toBe(0)
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

  it('takes the cloth beyond a wrist for none of the sleeve: a hand holds it, or is in its pocket', () => {
    const { perception, parsing } = scene({ wrist: 0.6, sleeves: true })
    const order = orderOf(parsing, readBody(perception, parsing), [0, 0], null)
    expect(order.torso.data[175 * SIZE.width + 107]).toBe(1)
    expect(order.torso.data[193 * SIZE.width + 118]).toBe(0)
  })

  it.each<[string, Box, number]>([
    ['a hand before the waist', [108, 184, 130, 200], 1],
    ['a bare belly beyond the wrist', [50, 190, 150, 198], 0],
  ])('takes %s for what it is', (_, skin, inFront) => {
    const { perception, parsing } = scene({ wrist: 0.6, sleeves: true })
    fill(parsing, [50, skin[3], 150, 300], LABEL.bottom)
    fill(parsing, skin, LABEL.skin)
    const order = orderOf(parsing, readBody(perception, parsing), [0, 0], null)
    expect(order.torso.data[194 * SIZE.width + 118]).toBe(inFront)
  })

  it('takes nothing for a forearm whose wrist is not seen', () => {
    const { perception, parsing } = scene({ wrist: 0.1, sleeves: true })
    const order = orderOf(parsing, readBody(perception, parsing), [0, 0], null)
    expect(order.torso.data[150 * SIZE.width + 92]).toBe(0)
  })

  it.each([
    ['a hand below a sleeve', 246, 1],
    ['a bare thigh below shorts', 300, 0],
  ])('takes %s for what it is', (_, end, inFront) => {
    const { perception, parsing } = scene({ wrist: 0.6, sleeves: true })
    fill(parsing, [154, 228, end === 300 ? 200 : 168, end], LABEL.skin)
    const order = orderOf(parsing, readBody(perception, parsing), [0, 0], null)
    expect(order.sleeves.data[236 * SIZE.width + 160]).toBe(inFront)
  })
})
