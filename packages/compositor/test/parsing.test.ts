import { describe, expect, it } from 'vitest'
import { tools } from './files.ts'
import { LABEL, parse } from '../src/parsing.ts'
import { createPlane } from '../src/plane.ts'
import { eachPixel, plain } from './pixels.ts'
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

type Fill = (left: number, top: number, right: number, bottom: number, colour: Colour) => void

/** A person with head and neck, and what `dress` adds; the mask is in doubt where `isMissed`. */
function draw(dress: (fill: Fill) => void, isMissed = (_x: number, _y: number) => false) {
  const picture = plain(WIDTH, HEIGHT, [214, 216, 218, 255])
  const person = createPlane(WIDTH, HEIGHT)
  const fill: Fill = (left, top, right, bottom, colour) =>
    eachPixel(WIDTH, [left, top, right, bottom], (at, x, y) => {
      picture.data.set(colour, at * 4)
      person.data[at] = isMissed(x, y) ? 0.3 : 1
    })
  fill(84, 10, 116, 54, SKIN)
  fill(92, 54, 108, 70, SKIN)
  dress(fill)
  return { picture, perception: { pose: POSE, person, face: null } }
}

async function labelsOf(...drawing: Parameters<typeof draw>) {
  const { picture, perception } = draw(...drawing)
  const { labels } = await parse(picture, perception, await tools.perceiver())
  return (x: number, y: number) => labels[y * WIDTH + x]
}

describe('parse', () => {
  it('takes wide cuffs beside the hips for the top', async () => {
    const at = await labelsOf((fill) => {
      fill(66, 68, 134, 158, BLACK)
      fill(68, 158, 132, HEIGHT, [200, 150, 190])
      for (const x of [50, 150]) {
        fill(x - 9, 74, x + 9, 180, BLACK)
        fill(x - 6, 180, x + 6, 215, SKIN)
        fill(x - 13, 178, x + 13, 194, BLACK)
      }
    })
    expect([at(100, 120), at(100, 220), at(50, 206)]).toEqual([LABEL.top, LABEL.bottom, LABEL.skin])
    for (const x of [40, 50, 60, 140, 150, 160]) expect(at(x, 186)).toBe(LABEL.top)
  })

  it('takes the hem of trousers that lies on the shoes for the trousers', async () => {
    const { picture, perception } = draw((fill) => {
      fill(66, 68, 134, 165, [200, 196, 180])
      for (const x of [84, 116]) {
        fill(x - 15, 165, x + 15, 270, [70, 50, 90])
        fill(x - 13, 270, x + 13, 286, [150, 90, 50])
      }
    })
    const { rightKnee, leftKnee, rightAnkle, leftAnkle } = poseAt({
      rightKnee: [84, 214],
      leftKnee: [116, 214],
      rightAnkle: [84, 258],
      leftAnkle: [116, 258],
    })
    const pose = { ...POSE, rightKnee, leftKnee, rightAnkle, leftAnkle }
    const { labels } = await parse(picture, { ...perception, pose }, await tools.perceiver())
    for (const x of [72, 84, 116, 128]) {
      expect([263, 280].map((y) => labels[y * WIDTH + x])).toEqual([LABEL.bottom, LABEL.shoes])
    }
  })

  it('tells a hood beside the neck from strands of hair by its colour', async () => {
    const hair: Colour = [70, 48, 36]
    const lining: Colour = [128, 132, 140]
    for (const [beside, label] of [
      [hair, LABEL.hair],
      [lining, LABEL.top],
    ] as const) {
      const at = await labelsOf((fill) => {
        fill(80, 4, 120, 22, hair)
        for (const x of [82, 118]) fill(x - 2, 22, x + 2, 38, hair)
        for (const x of [74, 126]) fill(x - 10, 42, x + 10, 66, beside)
        fill(64, 66, 136, 158, [176, 178, 184])
        fill(68, 158, 132, HEIGHT, BLACK)
      })
      expect([at(100, 10), at(100, 60), at(100, 120)]).toEqual([LABEL.hair, LABEL.skin, LABEL.top])
      for (const x of [76, 124]) expect(at(x, 54)).toBe(label)
    }
  })

  it('does not take the end of a band of another colour for the waist', async () => {
    const cream: Colour = [240, 236, 222]
    const at = await labelsOf((fill) => {
      fill(64, 68, 136, 178, cream)
      fill(64, 105, 136, 136, [90, 115, 90])
      fill(70, 178, 130, HEIGHT, [150, 156, 170])
    })
    expect([at(100, 120), at(100, 150), at(100, 172)]).toEqual([LABEL.top, LABEL.top, LABEL.top])
    expect(at(85, 230)).toBe(LABEL.bottom)
  })

  it.each([
    ['straight', 24, 0],
    ['slanted', 24, 4],
  ])(
    'finds the waist of shorts below a %s belly, in the colour of the top',
    async (_, height, slant) => {
      const at = await labelsOf((fill) => {
        fill(66, 68, 134, 240, BLACK)
        for (const [step, left] of [66, 83, 100, 117].entries()) {
          const down = slant * (step - 1.5)
          fill(left, 122 + down, left + 17, 122 + height + down, SKIN)
        }
        for (const x of [84, 116]) fill(x - 15, 216, x + 15, HEIGHT, SKIN)
        for (const x of [50, 150]) fill(x - 9, 74, x + 9, 215, SKIN)
      })
      expect([at(100, 100), at(100, 134)]).toEqual([LABEL.top, LABEL.skin])
      for (const y of [155, 180, 205]) expect(at(100, y)).toBe(LABEL.bottom)
    },
  )

  it('takes an open coat for the top as far as it hangs beside the trousers', async () => {
    const coat: Colour = [120, 40, 50]
    const at = await labelsOf((fill) => {
      fill(66, 68, 134, 165, [235, 235, 238])
      fill(68, 165, 132, HEIGHT, BLACK)
      for (const x of [50, 150]) fill(x - 9, 74, x + 9, 182, coat)
      for (const x of [70, 130]) fill(x - 12, 68, x + 12, 220, coat)
      for (const x of [50, 150]) fill(x - 6, 182, x + 6, 215, SKIN)
    })
    expect([at(100, 120), at(100, 200), at(80, 240)]).toEqual([
      LABEL.top,
      LABEL.bottom,
      LABEL.bottom,
    ])
    for (const x of [64, 76, 124, 136]) expect(at(x, 205)).toBe(LABEL.top)
  })

  it('finds the hem of a long shirt at the thighs', async () => {
    const at = await labelsOf((fill) => {
      fill(64, 68, 136, 212, [190, 20, 30])
      for (const x of [84, 116]) fill(x - 15, 212, x + 15, HEIGHT, BLACK)
    })
    for (const y of [120, 180, 204]) expect(at(100, y)).toBe(LABEL.top)
    for (const x of [84, 116]) expect(at(x, 240)).toBe(LABEL.bottom)
  })

  it('finds the hem of a black top over black trousers in uneven light', async () => {
    const at = await labelsOf((fill) => {
      for (let y = 68; y < HEIGHT; y++) {
        const light = Math.max(16, 53 - (y - 68) * 0.5)
        fill(y < 184 ? 64 : 70, y, y < 184 ? 136 : 130, y + 1, [light, light, light + 3])
      }
      fill(64, 182, 136, 184, [70, 70, 74])
      for (const x of [50, 150]) fill(x - 8, 120, x + 8, 215, SKIN)
    })
    expect([at(100, 172), at(100, 205)]).toEqual([LABEL.top, LABEL.bottom])
  })

  it('takes clothes of one cloth for one piece as far as it is as wide as the hips', async () => {
    for (const legs of [SKIN, BLACK]) {
      const at = await labelsOf((fill) => {
        fill(66, 68, 134, 205, BLACK)
        for (const x of [84, 116]) fill(x - 15, 205, x + 15, HEIGHT, legs)
        for (const x of [50, 150]) fill(x - 9, 74, x + 9, 215, SKIN)
      })
      expect([at(100, 110), at(100, 195)]).toEqual([LABEL.top, LABEL.top])
    }
  })

  it('takes the sides of a top in nearly the colour of the skin before the arms for the top', async () => {
    const pink: Colour = [236, 176, 184]
    const at = await labelsOf((fill) => {
      fill(68, 158, 132, HEIGHT, BLACK)
      for (const x of [54, 146]) fill(x - 9, 74, x + 9, 215, SKIN)
      fill(66, 68, 134, 110, pink)
      fill(56, 110, 144, 168, pink)
    })
    expect([at(100, 120), at(50, 200), at(54, 90)]).toEqual([LABEL.top, LABEL.skin, LABEL.skin])
    for (const x of [58, 62, 138, 142]) expect(at(x, 150)).toBe(LABEL.top)
  })

  it('takes a sweater in a colour that skin can have for the top where no face is seen', async () => {
    const brown: Colour = [160, 124, 100]
    const shaded: Colour = [120, 93, 75]
    const at = await labelsOf(
      (fill) => {
        fill(0, 0, WIDTH, 60, [214, 216, 218])
        fill(68, 172, 132, HEIGHT, BLACK)
        for (const x of [54, 146]) {
          fill(x - 12, 74, x + 12, 180, shaded)
          fill(x - 8, 180, x + 8, 215, SKIN)
        }
        fill(66, 68, 134, 172, brown)
      },
      (_, y) => y < 60,
    )
    for (const x of [50, 146]) expect([at(x, 150), at(x, 205)]).toEqual([LABEL.top, LABEL.skin])
    expect(at(100, 120)).toBe(LABEL.top)
  })

  it('takes bare arms for skin beside a dress in nearly their colour', async () => {
    const at = await labelsOf((fill) => {
      for (const x of [54, 146]) fill(x - 9, 74, x + 9, 215, SKIN)
      for (const x of [84, 116]) fill(x - 12, 205, x + 12, HEIGHT, SKIN)
      fill(66, 68, 134, 205, [214, 176, 134])
    })
    expect([at(100, 120), at(50, 130), at(50, 200)]).toEqual([LABEL.top, LABEL.skin, LABEL.skin])
  })

  it.each([
    ['the forearm', [222, 223, 225], 128, 150],
    ['the elbow', [235, 236, 238], 112, 120],
  ] as const)(
    'finds %s in a pale sleeve that the mask misses before a pale wall',
    async (_, shirt, from, y) => {
      const pale: Colour = [222, 223, 225]
      const at = await labelsOf(
        (fill) => {
          fill(66, 68, 134, 160, shirt)
          fill(68, 160, 132, HEIGHT, BLACK)
          fill(48, 74, 68, 182, pale)
          fill(132, 74, 152, 182, pale)
          for (const x of [50, 150]) fill(x - 7, 182, x + 7, 215, SKIN)
        },
        (x, at) => x < 66 && at > from && at < 180,
      )
      expect([at(50, 200), at(53, y), at(100, 120)]).toEqual([LABEL.skin, LABEL.top, LABEL.top])
    },
  )
})
