import { describe, expect, it } from 'vitest'
import { LABEL, type Parsing } from '../src/parsing.ts'
import { createPlane, type Plane } from '../src/plane.ts'
import type { Raster } from '../src/raster.ts'
import { BECOMES, groundIn, planUncovering, uncover } from '../src/uncover.ts'
import { withoutStrays } from '../src/uncover/strays.ts'
import { eachPixel, pixel, plain, type Box } from './pixels.ts'
import { poseAt } from './pose.ts'

const SKIN = [224, 176, 148]
const RED = [190, 20, 30]
const BLUE = [40, 50, 120]
const WIDTH = 200
const HEIGHT = 300

interface Person {
  parsing: Parsing
  photo: Raster
}

/** A person from the front who wears a red top with loose long sleeves and blue trousers. */
function drawPerson(hands: boolean): Person {
  const parsing: Parsing = { width: WIDTH, height: HEIGHT, labels: new Uint8Array(WIDTH * HEIGHT) }
  const photo = plain(WIDTH, HEIGHT, [200, 205, 200, 255])
  eachPixel(WIDTH, [0, 0, WIDTH, HEIGHT], (at, _, y) => {
    photo.data[at * 4 + 2] = 200 + y / 10
  })
  const person = { parsing, photo }
  fill(person, [85, 10, 115, 50], LABEL.face, hands ? SKIN : RED)
  if (!hands) fill(person, [85, 10, 115, 50], LABEL.hair, [30, 20, 10])
  else fill(person, [88, 50, 112, 70], LABEL.skin, SKIN)
  fill(person, [65, 70, 135, 190], LABEL.top, RED)
  for (const left of [36, 140]) {
    fill(person, [left, 72, left + 24, 170], LABEL.top, RED)
    fill(person, [Math.min(left + 24, 65), 72, Math.max(left, 65), 90], LABEL.top, RED)
    if (hands) fill(person, [left + 5, 170, left + 19, 195], LABEL.skin, SKIN)
  }
  fill(person, [135, 72, 140, 90], LABEL.top, RED)
  fill(person, [68, 190, 132, 300], LABEL.bottom, BLUE)
  return person
}

/** Gives a rectangle a label and a colour. */
function fill({ parsing, photo }: Person, box: Box, label: number, colour: readonly number[]) {
  eachPixel(WIDTH, box, (at) => {
    parsing.labels[at] = label
    photo.data.set(colour, at * 4)
  })
}

const poseOf = () =>
  poseAt({
    rightShoulder: [62, 82],
    leftShoulder: [138, 82],
    rightElbow: [50, 125],
    leftElbow: [150, 125],
    rightWrist: [48, 170],
    leftWrist: [152, 170],
    rightHip: [82, 200],
    leftHip: [118, 200],
  })

/** Straight legs. */
const kneesAt = (y: number) => {
  const { rightKnee, leftKnee } = poseAt({ rightKnee: [82, y], leftKnee: [118, y] })
  return { rightKnee, leftKnee }
}

/** A vest from shoulder to hip. */
function vest(): Plane {
  const covered = createPlane(WIDTH, HEIGHT)
  for (let y = 76; y < 195; y++) covered.data.fill(1, y * WIDTH + 66, y * WIDTH + 134)
  return covered
}

const planTop = (parsing: Parsing, covered = vest(), reach?: readonly [number, number]) =>
  planUncovering(parsing, poseOf(), covered, 'top', reach)

/** Changes the photo. @returns whether skin is visible */
const uncoverTop = async ({ parsing, photo }: Person, covered = vest()): Promise<boolean> =>
  uncover(photo, await planTop(parsing, covered))

const gap = (a: readonly number[], b: readonly number[]) =>
  Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!, a[2]! - b[2]!)

describe('uncover', () => {
  it('shows arms and ground where the sleeves were', async () => {
    const { parsing, photo } = drawPerson(true)
    const plan = await planTop(parsing)
    expect(plan.becomes[130 * WIDTH + 50]).toBe(BECOMES.skin)
    expect(plan.becomes[165 * WIDTH + 37]).toBe(BECOMES.ground)
    expect(await uncover(photo, plan)).toBe(true)
    expect(gap(pixel(photo, 50, 130), SKIN)).toBeLessThan(45)
    expect(gap(pixel(photo, 150, 150), SKIN)).toBeLessThan(45)
    expect(gap(pixel(photo, 37, 165), [200, 205, 216])).toBeLessThan(12)
  })

  it('does not repeat the edges of things in the ground beside a sleeve', async () => {
    const person = drawPerson(true)
    eachPixel(WIDTH, [23, 80, 25, 170], (at) => {
      for (let c = 0; c < 3; c++) person.photo.data[at * 4 + c]! -= 24
    })
    await uncoverTop(person)
    for (let x = 28; x < 40; x++) {
      expect(Math.abs(pixel(person.photo, x, 150)[1]! - 205)).toBeLessThan(10)
    }
  })

  it('paints arms in the colour of the face where other skin lies in shade', async () => {
    const person = drawPerson(true)
    const shade = SKIN.map((value) => value * 0.6)
    fill(person, [88, 50, 112, 70], LABEL.skin, shade)
    for (const left of [41, 145]) fill(person, [left, 170, left + 14, 195], LABEL.skin, shade)
    await uncoverTop(person)
    expect(gap(pixel(person.photo, 50, 110), SKIN)).toBeLessThan(45)
  })

  it('paints a neck that leans to where the head is', async () => {
    const { parsing, photo } = drawPerson(true)
    fill({ parsing, photo }, [78, 40, 126, 72], LABEL.top, RED)
    const becomes = async (middle: number) => {
      const ears = poseAt({ rightEar: [middle - 12, 30], leftEar: [middle + 12, 30] })
      const pose = { ...poseOf(), rightEar: ears.rightEar, leftEar: ears.leftEar }
      const plan = await planUncovering(parsing, pose, vest(), 'top')
      return [90, 117].map((x) => plan.becomes[56 * WIDTH + x])
    }
    expect(await becomes(100)).toEqual([BECOMES.skin, BECOMES.ground])
    expect(await becomes(120)).toEqual([BECOMES.ground, BECOMES.skin])
  })

  it('names ground that is painted and ground that stays', async () => {
    const { parsing } = drawPerson(true)
    const isGround = groundIn(await planTop(parsing), parsing.labels)
    const [painted, stays, skin, garment] = [
      165 * WIDTH + 37,
      5,
      130 * WIDTH + 50,
      150 * WIDTH + 100,
    ]
    expect([painted, stays, skin, garment].map(isGround)).toEqual([true, true, false, false])
  })

  it('shows the ground where a bare arm stands out beside a new sleeve', async () => {
    const { parsing } = drawPerson(true)
    for (let y = 72; y < 170; y++) parsing.labels.fill(LABEL.skin, y * WIDTH + 36, y * WIDTH + 60)
    const covered = vest()
    for (let y = 76; y < 165; y++) covered.data.fill(1, y * WIDTH + 40, y * WIDTH + 66)
    const becomes = async (reach: readonly [number, number]) => {
      const plan = await planTop(parsing, covered, reach)
      return [120, 180].map((y) => plan.becomes[y * WIDTH + 38])
    }
    expect(await becomes([0.9, 0])).toEqual([BECOMES.ground, BECOMES.keep])
    expect(await becomes([0, 0.9])).toEqual([BECOMES.keep, BECOMES.keep])
  })

  it('shows no bare arm beside a new sleeve that is narrower than the old one', async () => {
    const { parsing } = drawPerson(true)
    const covered = vest()
    for (let y = 76; y < 165; y++) covered.data.fill(1, y * WIDTH + 45, y * WIDTH + 66)
    const becomes = async (reach: readonly [number, number]) =>
      (await planTop(parsing, covered, reach)).becomes[130 * WIDTH + 42]
    expect(await becomes([0, 0])).toBe(BECOMES.skin)
    expect(await becomes([0.9, 0])).toBe(BECOMES.ground)
  })

  it('leaves no old cloth beside the new garment', async () => {
    const person = drawPerson(true)
    const covered = vest()
    await uncoverTop(person, covered)
    let left = 0
    for (let at = 0; at < WIDTH * HEIGHT; at++) {
      const [red, green] = [person.photo.data[at * 4]!, person.photo.data[at * 4 + 1]!]
      if (!covered.data[at] && red - green > 110) left++
    }
    expect(left).toBe(0)
  })

  it('continues trousers upwards above the gap between their legs', async () => {
    const person = drawPerson(true)
    fill(person, [94, 200, 106, HEIGHT], LABEL.ground, pixel(person.photo, 10, 250))
    const covered = vest()
    covered.data.fill(0, 160 * WIDTH)
    await uncoverTop(person, covered)
    for (const x of [90, 100, 110]) expect(gap(pixel(person.photo, x, 188), BLUE)).toBeLessThan(20)
  })

  it('continues trousers under a long old top, and takes no hands before its hem for a bare belly', async () => {
    const person = drawPerson(true)
    fill(person, [65, 70, 135, 236], LABEL.top, RED)
    fill(person, [82, 236, 118, 244], LABEL.skin, SKIN)
    const covered = createPlane(WIDTH, HEIGHT)
    for (let y = 76; y < 165; y++) covered.data.fill(1, y * WIDTH + 66, y * WIDTH + 134)
    const { becomes } = await planTop(person.parsing, covered)
    for (const y of [185, 205, 225]) expect(becomes[y * WIDTH + 100]).toBe(BECOMES.bottom)
  })

  it('shows the ground beside legs of trousers that are narrower than their hips', async () => {
    const { parsing } = drawPerson(true)
    const pose = { ...poseOf(), ...kneesAt(260) }
    const covered = createPlane(WIDTH, HEIGHT)
    for (let y = 188; y < 240; y++) {
      const [left, right] = y < 215 ? [66, 134] : [76, 124]
      covered.data.fill(1, y * WIDTH + left, y * WIDTH + right)
    }
    const { becomes } = await planUncovering(parsing, pose, covered, 'trousers')
    expect([230, 248].map((y) => becomes[y * WIDTH + 73])).toEqual([BECOMES.ground, BECOMES.skin])
  })

  it('shows both legs below new shorts where the picture ends above the ankles', async () => {
    const { parsing } = drawPerson(true)
    const covered = createPlane(WIDTH, HEIGHT)
    for (let y = 188; y < 240; y++) covered.data.fill(1, y * WIDTH + 66, y * WIDTH + 134)
    for (const knees of [kneesAt(255), { leftKnee: kneesAt(255).leftKnee }, {}]) {
      const pose = { ...poseOf(), ...knees }
      const { becomes } = await planUncovering(parsing, pose, covered, 'trousers')
      expect([84, 100, 116].map((x) => becomes[295 * WIDTH + x])).toEqual([
        BECOMES.skin,
        BECOMES.ground,
        BECOMES.skin,
      ])
    }
  })

  it('shows skin above new trousers where the old ones were, but leaves what is too high for trousers', async () => {
    const above = async (waist: number) => {
      const person = drawPerson(true)
      fill(person, [65, waist, 135, 190], LABEL.bottom, BLUE)
      const covered = createPlane(WIDTH, HEIGHT)
      covered.data.fill(1, 180 * WIDTH)
      const { becomes } = await planUncovering(person.parsing, poseOf(), covered, 'trousers')
      return becomes[(waist + 5) * WIDTH + 100]
    }
    expect(await above(165)).toBe(BECOMES.skin)
    expect(await above(140)).toBe(BECOMES.keep)
  })

  it('lets a dress reach up to a hem that is higher at the sides', async () => {
    const { parsing } = drawPerson(true)
    // The top and the trousers are a dress.
    parsing.labels = parsing.labels.map((label) => (label === LABEL.bottom ? LABEL.top : label))
    const covered = vest()
    for (let y = 178; y < 195; y++) covered.data.fill(0, y * WIDTH + 66, y * WIDTH + 74)
    const { becomes } = await planTop(parsing, covered)
    expect(becomes[188 * WIDTH + 70]).toBe(BECOMES.keep)
  })

  it('changes nothing far from the clothing, and the same in every run', async () => {
    const before = drawPerson(true).photo
    const draw = async () => {
      const person = drawPerson(true)
      await uncoverTop(person)
      return person.photo
    }
    const runs = [await draw(), await draw()]
    expect(runs[0]!.data).toEqual(runs[1]!.data)
    for (const [x, y] of [
      [100, 30],
      [10, 100],
      [100, 260],
      [48, 190],
    ] as const) {
      expect(pixel(runs[0]!, x, y)).toEqual(pixel(before, x, y))
    }
  })

  it('reports that no skin is visible and leaves the photo as it was', async () => {
    const person = drawPerson(false)
    const before = person.photo.data.slice()
    expect(await uncoverTop(person)).toBe(false)
    expect(person.photo.data).toEqual(before)
  })

  it('endures pictures without a person', async () => {
    for (const side of [1, 2, 9]) {
      const parsing = {
        width: side,
        height: side,
        labels: new Uint8Array(side * side).fill(LABEL.top),
      }
      const photo = plain(side, side, [0, 0, 0, 0])
      const covered = createPlane(side, side)
      covered.data[0] = 1
      for (const kind of ['top', 'dress', 'trousers', 'skirt'] as const) {
        const plan = await planUncovering(parsing, poseOf(), covered, kind)
        await expect(uncover(photo, plan)).resolves.toBeTypeOf('boolean')
      }
    }
  })
})

describe('withoutStrays', () => {
  it('takes a cuff beside the top for the top, but no trousers that the picture cuts off', () => {
    const side = 100
    const labelsWith = (top: number) => {
      const labels = new Uint8Array(side * side).fill(LABEL.top)
      labels.fill(LABEL.bottom, top * side, (top + 5) * side)
      return withoutStrays({ width: side, height: side, labels }, side).labels
    }
    expect(labelsWith(50)).not.toContain(LABEL.bottom)
    expect(labelsWith(side - 5)).toContain(LABEL.bottom)
  })
})
