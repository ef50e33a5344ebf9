import { describe, expect, it } from 'vitest'
import { LABEL, parse } from '../src/parsing.ts'
import { createPlane } from '../src/plane.ts'
import { poseAt } from './pose.ts'

const [WIDTH, HEIGHT] = [200, 300]
type Colour = readonly [number, number, number]
const SKIN: Colour = [224, 176, 148]
const BLACK: Colour = [24, 24, 28]

const POSE = poseAt({
  nose: [100, 34],
  leftEye: [106, 30],
  rightEye: [94, 30],
  leftEar: [114, 34],
  rightEar: [86, 34],
  rightShoulder: [70, 74],
  leftShoulder: [130, 74],
  rightElbow: [56, 125],
  leftElbow: [144, 125],
  rightWrist: [50, 182],
  leftWrist: [150, 182],
  rightHip: [84, 170],
  leftHip: [116, 170],
  rightKnee: [84, 235],
  leftKnee: [116, 235],
})

/** A person in a black top, whose wide cuffs end beside the hips, and in trousers. */
function draw() {
  const picture = { width: WIDTH, height: HEIGHT, data: new Uint8ClampedArray(WIDTH * HEIGHT * 4) }
  const person = createPlane(WIDTH, HEIGHT)
  for (let i = 0; i < WIDTH * HEIGHT; i++) picture.data.set([214, 216, 218, 255], i * 4)
  const fill = (left: number, top: number, right: number, bottom: number, colour: Colour) => {
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++) {
        picture.data.set(colour, (y * WIDTH + x) * 4)
        person.data[y * WIDTH + x] = 1
      }
    }
  }
  fill(84, 10, 116, 54, SKIN)
  fill(92, 54, 108, 70, SKIN)
  fill(66, 68, 134, 158, BLACK)
  fill(68, 158, 132, HEIGHT, [200, 150, 190])
  for (const x of [50, 150]) {
    fill(x - 9, 74, x + 9, 180, BLACK)
    fill(x - 6, 180, x + 6, 215, SKIN)
    fill(x - 13, 178, x + 13, 194, BLACK)
  }
  return { picture, perception: { pose: POSE, person, face: null, box: null } }
}

describe('parse', () => {
  it('takes wide cuffs beside the hips for the top', async () => {
    const { picture, perception } = draw()
    const { labels } = await parse(picture, perception)
    const at = (x: number, y: number) => labels[y * WIDTH + x]
    expect([at(100, 120), at(100, 220), at(50, 206)]).toEqual([LABEL.top, LABEL.bottom, LABEL.skin])
    for (const x of [40, 50, 60, 140, 150, 160]) expect(at(x, 186)).toBe(LABEL.top)
  })
})
