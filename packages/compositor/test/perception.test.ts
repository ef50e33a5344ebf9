// What the models see in drawn figures, whose joints and outlines are known.
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { isConfident, type Joint, type Perception } from '../src/perception.ts'
import { bodyConfidence, countPeople } from '../src/people.ts'
import type { Plane } from '../src/plane.ts'
import { armOf, type Body, type FigureOptions, type Rgba } from '../samples/index.ts'
import { figure, tools } from './files.ts'
import { eachPixel, pixel, plain } from './pixels.ts'

const SIZE = { width: 240, height: 360 }

/** Figures, and how much of figure and mask must agree (intersection over union). */
const FIGURES: [name: string, overlap: number, options: FigureOptions][] = [
  ['a person', 0.9, {}],
  ['a half figure', 0.9, { scale: 0.2 }],
  ['long, dark hair', 0.9, { skin: '#6b4630', hair: 'long', hairColour: '#14100e' }],
  ['long sleeves and spread arms', 0.87, { sleeves: 'long', arms: [30, 42] }],
  // The model includes gaps between legs, and between arms and body, that have the figure's colour.
  ['white on white', 0.7, { shirt: '#f4f4f4', trousers: '#e8e8e8', wall: ['#ffffff', '#ffffff'] }],
  ['black on black', 0.7, { shirt: '#111111', trousers: '#161616', wall: ['#101010', '#181818'] }],
]

const perceive = async (picture: Rgba): Promise<Perception> =>
  (await tools.perceiver()).perceive(picture)

const bodyOf = ({ scale = 0.122 }: FigureOptions): Body => ({
  unit: SIZE.height * scale,
  at: (x, y) => [SIZE.width / 2 + x * SIZE.height * scale, SIZE.height * (0.06 + y * scale)],
})

describe.each(FIGURES)('perceive, with %s', (_, minimum, options) => {
  const drawn = { ...SIZE, ...options }
  const body = bodyOf(options)
  /** The distance to the drawn joint in heads. */
  const distance = (joint: Joint, [x, y]: readonly [number, number]) =>
    Math.hypot(joint.x - x, joint.y - y) / body.unit

  let perception: Perception
  beforeAll(async () => {
    perception = await perceive(figure(drawn))
  })

  it('finds the joints', () => {
    const { pose } = perception
    const [leftAngle, rightAngle] = options.arms ?? [14, 14]
    // The left of the picture is the right of the person.
    const right = armOf(body, -1, leftAngle, options.elbow ?? 6)
    const left = armOf(body, 1, rightAngle, options.elbow ?? 6)
    const expected = [
      [pose.rightShoulder, right.shoulder],
      [pose.leftShoulder, left.shoulder],
      [pose.rightElbow, right.elbow],
      [pose.leftElbow, left.elbow],
      [pose.rightWrist, right.wrist],
      [pose.leftWrist, left.wrist],
      [pose.rightHip, body.at(-0.4, 3.6)],
      [pose.leftHip, body.at(0.4, 3.6)],
    ] as const
    for (const [found, position] of expected) {
      expect(distance(found, position)).toBeLessThan(0.35)
      expect(isConfident(found)).toBe(true)
    }
  })

  it('is confident that there is a person', () => {
    expect(bodyConfidence(perception.pose)).toBeGreaterThan(0.6)
  })

  it('finds the pixels of the person', () => {
    const { person } = perception
    expect(overlap(person, maskOf(drawn))).toBeGreaterThan(minimum)
    expect(countPeople(person)).toBe(1)
  })

  it('finds the face', () => {
    const { face } = perception
    expect(face!.x + face!.width / 2).toBeCloseTo(SIZE.width / 2, -1)
    expect(face!.width / body.unit).toBeGreaterThan(0.5)
    expect(face!.width / body.unit).toBeLessThan(1)
    const [, eyes] = body.at(0, 0.5)
    const [, mouth] = body.at(0, 0.82)
    expect(face!.y).toBeLessThan(eyes)
    expect(face!.y + face!.height).toBeGreaterThan(mouth)
  })
})

describe('perceive', () => {
  it('finds no person in a landscape', async () => {
    const { pose, face } = await perceive(landscape())
    expect(isConfident(pose.leftShoulder) && isConfident(pose.rightShoulder)).toBe(false)
    expect(bodyConfidence(pose)).toBeLessThan(0.5)
    expect(face).toBeNull()
  })

  it.each([
    [1, 1],
    [1, 700],
    [700, 1],
    [40, 30],
  ])('accepts a black picture of %d × %d pixels', async (width, height) => {
    const { pose, person, face } = await perceive(plain(width, height, BLACK))
    expect([person.width, person.height]).toEqual([width, height])
    expect(person.data.every((value) => value >= 0 && value <= 1)).toBe(true)
    expect(Object.values(pose).every(({ x, y }) => Number.isFinite(x + y))).toBe(true)
    expect(face).toBeNull()
  })

  it('counts people who stand apart', async () => {
    const { person } = await perceive(twice(figure({ width: 200, height: 300 })))
    expect(countPeople(person)).toBe(2)
  })

  it('sees the same joints without a close look at the mask', async () => {
    const perceiver = await tools.perceiver()
    const picture = figure(SIZE)
    const seen = await perceiver.perceive(picture)
    const rough = await perceiver.perceive(picture, { isWorthwhile: () => false })
    expect(rough.pose).toEqual(seen.pose)
    expect(rough.person).not.toEqual(seen.person)
  })

  it('looks no further when a first look shows no person', async () => {
    const perceiver = await tools.perceiver()
    const seen = await perceiver.perceive(figure(SIZE), { isPossible: () => false })
    expect(seen).toMatchObject({ face: null })
    expect(seen.person.data.every((value) => value === 0)).toBe(true)
  })

  it('finds what stands out, in a memory of its own, while it looks at another picture', async () => {
    const perceiver = await tools.perceiver()
    const picture = figure(SIZE)
    const alone = await perceiver.perceive(picture)
    const before = perceiver.usage()
    const [salience, together] = await Promise.all([
      perceiver.salience(picture),
      perceiver.perceive(picture),
      perceiver.salience(plain(64, 48, [90, 90, 90])),
    ])
    expect(together.pose).toEqual(alone.pose)
    expect(overlap(salience, maskOf(SIZE))).toBeGreaterThan(0.8)
    expect(perceiver.usage()).toEqual(before)
  })

  it('returns the same values for the same picture, in constant memory', async () => {
    const perceiver = await tools.perceiver()
    const picture = figure(SIZE)
    const planes = new Float32Array(96 * 96 * 11).fill(0.4)
    const first = await perceiver.perceive(picture)
    const parts = await perceiver.parts(planes)
    await perceiver.perceive(picture)
    const before = perceiver.usage()
    const runs = inject('matrix') === 'all' ? 20 : 5
    for (let run = 0; run < runs; run++) {
      const { pose, person } = await perceiver.perceive(picture)
      expect(pose).toEqual(first.pose)
      expect(person.data.every((value, at) => value === first.person.data[at])).toBe(true)
    }
    expect(await perceiver.parts(planes)).toEqual(parts)
    expect(perceiver.usage()).toEqual(before)
    // In the order of a composition it is 33 MB; other tests may have used the models in other ones.
    expect(before.heapBytes).toBeLessThan(38 * 1024 * 1024)
  })
})

/** Which pixels belong to the figure: those that do not depend on the colours behind it. */
function maskOf(options: FigureOptions): boolean[] {
  const before = (colour: string) => figure({ ...options, wall: [colour, colour], floor: colour })
  const [white, black] = [before('#ffffff'), before('#000000')]
  return Array.from(
    { length: white.width * white.height },
    (_, i) => white.data[i * 4]! - black.data[i * 4]! < 64,
  )
}

/** Intersection over union. */
function overlap(person: Plane, mask: boolean[]): number {
  let [both, either] = [0, 0]
  for (const [i, value] of person.data.entries()) {
    const isFound = value >= 0.5
    if (isFound && mask[i]) both++
    if (isFound || mask[i]) either++
  }
  return both / either
}

const BLACK = [0, 0, 0, 255]

function landscape(): Rgba {
  const picture = plain(480, 320, BLACK)
  eachPixel(480, [0, 0, 480, 320], (at, x, y) => {
    const hills = 170 + 25 * Math.sin(x / 60) + 9 * Math.sin(x / 17)
    const leaf = 12 * Math.sin(x * 1.7) * Math.sin(y * 1.3)
    const colour = y < hills ? [120 + y / 3, 160 + y / 4, 225] : [70 + leaf, 115 + leaf, 50]
    picture.data.set(colour, at * 4)
  })
  return picture
}

/** The picture and, to its right, the same picture. */
function twice(one: Rgba): Rgba {
  const picture = plain(2 * one.width, one.height, BLACK)
  eachPixel(picture.width, [0, 0, picture.width, one.height], (at, x, y) =>
    picture.data.set(pixel(one, x % one.width, y), at * 4),
  )
  return picture
}
