import { expect, it } from 'vitest'
import { LABEL, LABEL_COUNT } from '../src/parsing/labels.ts'
import { look, planesOf, sightCosts } from '../src/parsing/sight.ts'
import type { Perception, Perceiver } from '../src/perception.ts'
import { createPlane } from '../src/plane.ts'
import { tools } from './files.ts'
import { plain } from './pixels.ts'
import { poseAt } from './pose.ts'

const SIZE = { width: 60, height: 80 }
const SIDE = 96

/** A person from 20 to 40 across and 10 to 70 down. */
function person(): Perception {
  const mask = createPlane(SIZE.width, SIZE.height)
  for (let y = 10; y < 70; y++) mask.data.fill(1, y * SIZE.width + 20, y * SIZE.width + 40)
  const pose = poseAt({
    leftShoulder: [36, 20],
    rightShoulder: [24, 20],
    leftHip: [34, 40],
    rightHip: [26, 40],
  })
  return { pose, person: mask, face: null }
}

/** Sees a top in the left half of its square and trousers in the right one, both at odds of three to one. */
async function seeing(): Promise<Perceiver> {
  const logits = new Float32Array(SIDE * SIDE * LABEL_COUNT).fill(-100)
  for (let k = 0; k < SIDE * SIDE; k++) {
    const isLeft = k % SIDE < SIDE / 2
    logits[k * LABEL_COUNT + LABEL.top] = isLeft ? Math.log(3) : 0
    logits[k * LABEL_COUNT + LABEL.bottom] = isLeft ? 0 : Math.log(3)
  }
  return { ...(await tools.perceiver()), parts: async () => logits }
}

it('turns what the model sees into costs, also for a picture of another size', async () => {
  const sight = await look(plain(60, 80, [90, 90, 90, 255]), person(), await seeing())
  const at = (x: number, y: number, scale: number) => {
    const to = { width: 60 * scale, height: 80 * scale }
    const pixel = Math.floor(y * scale) * to.width + Math.floor(x * scale)
    return sightCosts(sight, to, Int32Array.of(pixel))
  }
  for (const scale of [1, 2]) {
    const [left, right] = [at(25, 40, scale), at(35, 40, scale)]
    expect(left[LABEL.top]).toBeCloseTo(Math.log(4 / 3), 4)
    expect(left[LABEL.bottom]).toBeCloseTo(Math.log(4), 4)
    expect(right[LABEL.bottom]).toBeCloseTo(Math.log(4 / 3), 4)
    // A label that is as good as impossible costs no more than this, and beside the person there is ground.
    expect(left[LABEL.shoes]).toBe(8)
    expect([...at(3, 40, scale)]).toEqual([0, 8, 8, 8, 8, 8, 8, 8])
  }
})

it('shows the model the colours, the person and the place of a pixel, and goes on beyond the border', () => {
  const picture = plain(60, 80, [255, 0, 51, 255])
  const box = { x: -30, y: -40, width: 120, height: 160 }
  const { planes } = planesOf(picture, person(), box, 24)
  const at = (column: number, row: number) => {
    const start = (row * 24 + column) * 11
    return [...planes.subarray(start, start + 11)].map((value) => Math.round(value * 100) / 100)
  }
  // Left of the picture, and in the person: half of the way from the shoulders to the hips, a fifth of their width aside.
  expect(at(0, 12).slice(0, 4)).toEqual([1, 0, 0.2, 0])
  expect(at(12, 10).slice(0, 6)).toEqual([1, 0, 0.2, 1, 0.41, 0.1])
})

it('sees a person along the bones of an arm that the mask misses', () => {
  const { pose, person: mask, face } = person()
  const arm = poseAt({ leftElbow: [50, 30], leftWrist: [50, 60] })
  const joints = { ...pose, leftElbow: arm.leftElbow, leftWrist: arm.leftWrist }
  const box = { x: 0, y: 0, width: 60, height: 80 }
  const probabilityAt = (x: number, y: number) => {
    const { planes } = planesOf(
      plain(60, 80, [0, 0, 0, 255]),
      { pose: joints, person: mask, face },
      box,
      60,
    )
    return planes[(Math.floor((y * 60) / 80) * 60 + x) * 11 + 3]
  }
  expect(probabilityAt(50, 45)).toBeCloseTo(0.995)
  expect(probabilityAt(56, 45)).toBe(0)
})
