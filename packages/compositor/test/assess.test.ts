// Each measure of the self-assessment reacts to its fault, shown by spoiling the result of a drawn pair.
import { beforeAll, describe, expect, it } from 'vitest'
import { assess, type Assessment, type Facts } from '../src/assess.ts'
import { newShreds } from '../src/assess/drawing.ts'
import { doubtOf } from '../src/assess/kind.ts'
import { mismatch } from '../src/assess/outline.ts'
import { stretchesOf } from '../src/assess/stretch.ts'
import { verdict } from '../src/assess/verdict.ts'
import { compose, type Composition } from '../src/compose.ts'
import { LABEL } from '../src/parsing.ts'
import { createPerceiver } from '../src/perception.ts'
import type { Plane } from '../src/plane.ts'
import type { Raster } from '../src/raster.ts'
import { createWarpMap } from '../src/warp.ts'
import { perceptionModules } from '../src/worker-modules.ts'
import { figure, garment } from './files.ts'

let photo: Raster
let composition: Composition
let facts: Facts
let sound: Assessment

const copyOf = <T extends { data: { slice(): unknown } }>(picture: T): T => ({
  ...picture,
  data: picture.data.slice(),
})

beforeAll(async () => {
  photo = figure({ width: 420, height: 630, shirt: '#2b6b4a' })
  const perceiver = await createPerceiver(() => Promise.resolve(perceptionModules))
  const cloth = garment({ width: 420, height: 470, kind: 'tshirt', backdrop: '#e4e8ea' })
  composition = await compose(copyOf(photo), cloth, perceiver)
  facts = composition.steps
  sound = composition.assessment
}, 60_000)

/** The assessment after `spoil` has changed copies of the result and of the drawn garment's alpha. */
function spoilt(
  spoil: (result: Raster, covered: Plane) => void,
  changed: Partial<Facts> = {},
): Promise<Assessment> {
  const result = copyOf(composition.picture)
  const covered = copyOf(facts.covered)
  spoil(result, covered)
  return assess(photo, result, { ...facts, covered, ...changed })
}

/** Puts the photo back where `isIn` holds, as if no garment had been drawn there. */
function erase(result: Raster, covered: Plane, isIn: (x: number, y: number) => boolean): void {
  for (let y = 0, i = 0; y < result.height; y++) {
    for (let x = 0; x < result.width; x++, i++) {
      if (!isIn(x, y)) continue
      for (let c = 0; c < 3; c++) result.data[i * 4 + c] = photo.data[i * 4 + c]!
      covered.data[scaled(x, y, result, covered)] = 0
    }
  }
}

/** Draws the garment's red where `isIn` holds. */
function cover(result: Raster, covered: Plane, isIn: (x: number, y: number) => boolean): void {
  for (let y = 0, i = 0; y < result.height; y++) {
    for (let x = 0; x < result.width; x++, i++) {
      if (!isIn(x, y)) continue
      result.data.set([0xd0, 0x28, 0x18], i * 4)
      covered.data[scaled(x, y, result, covered)] = 1
    }
  }
}

function scaled(x: number, y: number, from: Raster, to: Plane): number {
  const column = Math.min(to.width - 1, Math.floor((x * to.width) / from.width))
  const row = Math.min(to.height - 1, Math.floor((y * to.height) / from.height))
  return row * to.width + column
}

/** A point of the body's frame in pixels of the photo; along in lengths of the torso. */
function at(across: number, along: number) {
  const { body } = facts
  const { x, y } = body.frame.toPicture({ x: across * body.size, y: along * body.torso })
  const scale = photo.width / facts.covered.width
  return { x: x * scale, y: y * scale }
}

const torsoLength = () => at(0, 1).y - at(0, 0).y

const LONG_SLEEVES = { reach: [1, 1] } as const

/** The body with an arm across the torso, whose wrist is so far from the middle. */
function withArmTo(across: number): Facts['body'] {
  const joint = (x: number) => ({
    ...facts.body.frame.toPicture({ x: x * facts.body.size, y: 0.6 * facts.body.torso }),
    score: 1,
  })
  const { left } = facts.body
  const joints = [left.arm.joints[0], joint(-0.5), joint(across)] as typeof left.arm.joints
  return { ...facts.body, left: { ...left, arm: { ...left.arm, joints } } }
}

describe('the assessment', () => {
  it('finds no fault in a sound result', () => {
    expect(verdict(sound)).toBeNull()
    expect(sound.coverage).toBeGreaterThan(0.9)
    expect(sound.oldLeft).toBeLessThan(0.02)
    expect(sound.identity).toBeGreaterThan(0.6)
  })

  it('notices a result without the garment', async () => {
    const { coverage } = await spoilt((result, covered) => erase(result, covered, () => true))
    expect(coverage).toBe(0)
    expect(verdict({ ...sound, coverage })).toMatchObject({ code: 'generation_failed' })
  })

  it('knows the colours of a pattern that is too fine for the picture', async () => {
    const { picture } = facts.garment
    const data = picture.data.map((value, i) => {
      const pixel = Math.floor(i / 4)
      const isDark = (pixel + Math.floor(pixel / picture.width)) % 2 === 0
      return i % 4 === 3 ? value : isDark ? 20 : 235
    })
    const { identity } = await spoilt(
      (result, covered) => {
        for (let i = 0; i < result.data.length / 4; i++) {
          const [x, y] = [i % result.width, Math.floor(i / result.width)]
          if (covered.data[scaled(x, y, result, covered)]! > 0.5)
            result.data.fill(128, i * 4, i * 4 + 3)
        }
      },
      { garment: { ...facts.garment, picture: { ...picture, data } } },
    )
    expect(identity).toBeGreaterThan(0.55)
  })

  it('notices a garment on one half of the body', async () => {
    const middle = at(0, 0.4).x
    const { halfCoverage } = await spoilt((result, covered) =>
      erase(result, covered, (x) => x > middle),
    )
    expect(halfCoverage).toBeLessThan(0.1)
    expect(verdict({ ...sound, halfCoverage })).not.toBeNull()
  })

  it('notices old clothing beside the garment', async () => {
    const [left, top, low] = [at(-0.25, 0).x, at(0, 0.2).y, at(0, 0.8).y]
    const { oldLeft } = await spoilt((result, covered) =>
      erase(result, covered, (x, y) => x < left && y > top && y < low),
    )
    expect(oldLeft).toBeGreaterThan(0.05)
    expect(verdict({ ...sound, oldLeft })?.message).toContain('old clothing')
  })

  it('does not expect a short top to cover what its sleeves reach beside', async () => {
    const [hem, end] = [at(0, 0.7).y, at(0, 1).y]
    const isBeside = (x: number) => Math.abs(x - at(0, 0.8).x) > at(0.62, 0.8).x - at(0, 0.8).x
    const { oldLeft } = await spoilt((result, covered) => {
      erase(result, covered, (_, y) => y > hem)
      cover(result, covered, (x, y) => y > hem && y < end && isBeside(x))
    })
    expect(oldLeft).toBeLessThan(0.05)
  })

  it('notices a garment that lies beside the body', async () => {
    const shift = Math.round(torsoLength())
    const moved = await spoilt((result, covered) => {
      erase(result, covered, () => true)
      const { x, y } = at(0, 0.5)
      cover(result, covered, (px, py) => Math.abs(px - x - shift) < 60 && Math.abs(py - y) < 60)
    })
    expect(moved.spill).toBeGreaterThan(sound.spill + 0.3)
    expect(moved.farthest).toBeGreaterThan(sound.farthest + 0.3)
    expect(verdict(moved)).not.toBeNull()
  })

  it('notices paint on the face', async () => {
    const { width, labels } = facts.parsing
    const scale = photo.width / width
    const { faceChange } = await spoilt((result) => {
      for (let y = 0, i = 0; y < result.height; y++) {
        for (let x = 0; x < result.width; x++, i++) {
          const label = labels[Math.floor(y / scale) * width + Math.floor(x / scale)]
          if (label === LABEL.face && x % 3 === 0) result.data.set([0, 200, 0], i * 4)
        }
      }
    })
    expect(sound.faceChange).toBeLessThan(1)
    expect(faceChange).toBeGreaterThan(6)
    expect(verdict({ ...sound, faceChange })?.message).toBe('The face changed.')
  })

  it('notices a changed background', async () => {
    const { groundChange } = await spoilt((result) => {
      for (let i = 0; i < result.data.length / 4; i++) {
        if (i % result.width < 30) result.data[i * 4] = result.data[i * 4]! - 90
      }
    })
    expect(sound.groundChange).toBeLessThan(0.5)
    expect(groundChange).toBeGreaterThan(1)
  })

  it('notices loose pieces and shreds', async () => {
    const top = at(0, 0.1).y
    const torn = await spoilt((result, covered) =>
      erase(result, covered, (x, y) => y > top && (x % 14 < 8 || y % 60 < 8)),
    )
    expect(torn.scattered).toBeGreaterThan(0.1)
    expect(torn.shreds).toBeGreaterThan(0.05)
    expect(verdict(torn)).not.toBeNull()
  })

  it('does not count straps that the product has as shreds', async () => {
    const size = { width: 100, height: 100 }
    const isBody = (i: number) => i >= 4000 && i % 100 >= 20 && i % 100 < 80
    const isStrap = (i: number) => i % 100 === 30 || i % 100 === 70
    const product = { ...size, data: new Uint8ClampedArray(40_000) }
    for (let i = 0; i < 10_000; i++) if (isBody(i) || isStrap(i)) product.data[i * 4 + 3] = 255
    const shredsOf = (isDrawn: (i: number) => boolean, whole = 1_000) =>
      newShreds(product, size, isDrawn, 2, whole)
    expect(await shredsOf((i) => isBody(i) || isStrap(i))).toBeLessThan(0.001)
    const torn = (i: number) => isBody(i) || i % 10 === 0
    expect(await shredsOf(torn)).toBeGreaterThan(0.02)
    // The picture cuts off most of the garment.
    expect(await shredsOf(torn, 100_000)).toBeLessThan(0.01)
  })

  it('notices a forearm before the body that was painted over a sleeve', async () => {
    const body = withArmTo(0.4)
    const paint = (result: Raster, covered: Plane) => {
      const isArm = (_: number, y: number) => Math.abs(y / at(0, 0.6).y - 1) < 0.06
      cover(result, covered, isArm)
      for (let i = 0; i < covered.data.length; i++) {
        const y = (Math.floor(i / covered.width) * photo.width) / covered.width
        if (isArm(0, y)) covered.data[i] = 0
      }
    }
    const { paintedForearms, coverage } = await spoilt(paint, { body })
    expect(verdict({ ...sound, paintedForearms })).not.toBeNull()
    expect(coverage).toBeGreaterThan((await spoilt(paint)).coverage + 0.05)
  })

  it('notices a tear', async () => {
    const centre = at(0, 0.4)
    const holed = await spoilt((result, covered) =>
      erase(result, covered, (x, y) => Math.abs(x - centre.x) < 4 && Math.abs(y - centre.y) < 50),
    )
    expect(holed.gaps).toBeGreaterThan(sound.gaps + 0.005)
    expect(holed.coverage).toBeLessThan(sound.coverage)
  })

  it('notices a hole that shows the background', async () => {
    const centre = at(0, 0.5)
    const inHole = (x: number, y: number) => Math.hypot(x - centre.x, y - centre.y) < 30
    const { width } = facts.covered
    const scale = photo.width / width
    const holed = await spoilt((result, covered) => erase(result, covered, inHole), {
      showsGround: (i) => inHole((i % width) * scale, Math.floor(i / width) * scale),
    })
    expect(sound.windows).toBeLessThan(0.01)
    expect(holed.windows).toBeGreaterThan(0.05)
  })

  it('notices a long sleeve that begins at the elbow, other than where both do or of a garment without shoulders', async () => {
    const spoil = (result: Raster, covered: Plane) => {
      const scale = photo.width / facts.covered.width
      const [, elbow, wrist] = facts.body.left.arm.joints
      const near = (x: number, y: number, point: { x: number; y: number }) =>
        Math.hypot(x - point.x * scale, y - point.y * scale) < 18
      erase(result, covered, (x) => x < at(-0.42, 0).x)
      cover(result, covered, (x, y) => near(x, y, elbow) || near(x, y, wrist))
    }
    const { brokenSleeves } = await spoilt(spoil, LONG_SLEEVES)
    expect(sound.brokenSleeves).toBeLessThan(0.1)
    expect(brokenSleeves).toBeGreaterThan(0.26)
    const alike = { ...facts.body, right: facts.body.left }
    expect((await spoilt(spoil, { ...LONG_SLEEVES, body: alike })).brokenSleeves).toBe(0)
    const garment = { ...facts.garment, shoulders: 'off-shoulder' } as Facts['garment']
    expect((await spoilt(spoil, { ...LONG_SLEEVES, garment })).brokenSleeves).toBe(0)
  })

  it('notices cloth on one arm, of a garment without sleeves only on a bare one', async () => {
    const isLeft = (x: number) => x < at(-0.3, 0).x
    const spoil = (result: Raster, covered: Plane) => {
      erase(result, covered, () => true)
      cover(result, covered, isLeft)
    }
    const { parsing } = facts
    const unevenOn = async (label: number, reach: Facts['reach']) => {
      const labels = parsing.labels.map((old) => (old === LABEL.ground ? old : label))
      return (await spoilt(spoil, { reach, parsing: { ...parsing, labels } })).unevenSleeves
    }
    expect(await unevenOn(LABEL.top, [1, 1])).toBeGreaterThan(0.5)
    expect(await unevenOn(LABEL.skin, [0, 0])).toBeGreaterThan(0.5)
    expect(await unevenOn(LABEL.top, [0, 0])).toBe(0)
  })

  it('notices a bare arm before the torso without a hand, as in the pocket of an old top', async () => {
    const bare = (_: Raster, covered: Plane) => void covered.data.fill(0)
    const stumpsOf = async (body: Facts['body']) => (await spoilt(bare, { body })).stumps
    expect(await stumpsOf(facts.body)).toBe(0)
    const stumps = await stumpsOf(withArmTo(0.1))
    expect(verdict({ ...sound, stumps })).toMatchObject({ code: 'generation_failed' })
  })

  it('notices hidden hands, but not the wrist above a pocket', async () => {
    const all = (_: Raster, covered: Plane) => void covered.data.fill(1)
    expect(sound.hiddenHands).toBeLessThan(0.1)
    expect((await spoilt(all)).hiddenHands).toBe(1)
    const labels = facts.parsing.labels.map((label, i) =>
      label === LABEL.skin && i % 16 > 0 ? LABEL.bottom : label,
    )
    const parsing = { ...facts.parsing, labels }
    expect((await spoilt(all, { parsing })).hiddenHands).toBe(0)
  })

  it('asks only that cloth is drawn where a bag hides all that it covers for certain', async () => {
    const labels = facts.parsing.labels.map((label) =>
      label === LABEL.top || label === LABEL.bottom ? LABEL.item : label,
    )
    const parsing = { ...facts.parsing, labels }
    expect((await spoilt(() => {}, { parsing })).coverage).toBe(1)
    const none = (_: Raster, covered: Plane) => void covered.data.fill(0)
    expect((await spoilt(none, { parsing })).coverage).toBe(0)
  })

  it('notices other colours than the product has', async () => {
    const { identity, coverage } = await spoilt((result, covered) => {
      for (let y = 0, i = 0; y < result.height; y++) {
        for (let x = 0; x < result.width; x++, i++) {
          if (covered.data[scaled(x, y, result, covered)]! > 0.5) {
            result.data.set([20, 60, 220], i * 4)
          }
        }
      }
    })
    expect(identity).toBeLessThan(0.3)
    expect(coverage).toBeLessThan(0.3)
  })

  it('reports the stretches of the warp', async () => {
    const { stretch } = await spoilt(() => {}, { stretches: [1, 1, 1, 3, 3, 8] })
    expect(stretch).toBe(8)
  })

  /** Paints over what is below the waist. */
  const repaintBottom = (result: Raster) => {
    const { width, labels } = facts.parsing
    const scale = photo.width / width
    for (let y = 0, i = 0; y < result.height; y++) {
      for (let x = 0; x < result.width; x++, i++) {
        const label = labels[Math.floor(y / scale) * width + Math.floor(x / scale)]
        if (label === LABEL.bottom) result.data.set([220, 170, 140], i * 4)
      }
    }
  }

  it('notices trousers taken off under a new top', async () => {
    const { undressed } = await spoilt(repaintBottom)
    expect(sound.undressed).toBeLessThan(0.1)
    expect(undressed).toBeGreaterThan(0.9)
  })

  it('notices trousers that had to be painted where a longer top was', async () => {
    const labels = facts.parsing.labels.map((old) => (old === LABEL.bottom ? LABEL.top : old))
    const parsing = { ...facts.parsing, labels }
    const { invented } = await spoilt(repaintBottom, { parsing })
    expect(verdict({ ...sound, invented })?.message).toBe(
      'Most of the trousers or skirt had to be invented.',
    )
    expect((await spoilt(repaintBottom, { parsing, showsGround: () => true })).invented).toBe(0)
    expect((await spoilt(repaintBottom)).invented).toBe(sound.invented)
    expect(sound.invented).toBeLessThan(0.05)
  })

  it('does not fail on a single pixel or without a person', async () => {
    const black = { width: 64, height: 64, data: new Uint8ClampedArray(64 * 64 * 4) }
    const perceiver = await createPerceiver(() => Promise.resolve(perceptionModules))
    const pixel = { width: 1, height: 1, data: new Uint8ClampedArray(4) }
    for (const picture of [black, pixel]) {
      const { width, height } = picture
      const assessment = await assess(picture, picture, {
        ...facts,
        parsing: { width, height, labels: new Uint8Array(width * height) },
        perception: await perceiver.perceive(picture),
        covered: { width, height, data: new Float32Array(width * height) },
      })
      expect(verdict(assessment)).not.toBeNull()
    }
  })
})

describe('the measures of the product', () => {
  it('doubts a skirt with the outline of a T-shirt', () => {
    const { picture } = facts.garment
    const line = [{ x: 0, y: 0 }]
    const skirt = {
      kind: 'skirt',
      picture,
      waist: line,
      left: line,
      right: line,
      legs: null,
      wearer: null,
    } as const
    expect(doubtOf(skirt)).toBeGreaterThan(0.38)
    expect(doubtOf(facts.garment)).toBe(0)
  })

  it('expects no landmarks along the curved hem of a skirt', () => {
    const [width, height] = [200, 200]
    const data = new Uint8ClampedArray(width * height * 4)
    const skirtFrom = (hem: (x: number) => number) => {
      for (let i = 0; i < width * height; i++) {
        const [x, y] = [i % width, Math.floor(i / width)]
        data[i * 4 + 3] = x >= 50 && x < 150 && y >= 40 && y < hem(x) ? 255 : 0
      }
      const line = (x: number) => [40, 150].map((y) => ({ x, y }))
      const waist = [50, 150].map((x) => ({ x, y: 40 }))
      const picture = { width, height, data }
      const sides = { left: line(50), right: line(150), legs: null }
      return { kind: 'skirt', picture, waist, ...sides, wearer: null } as const
    }
    expect(
      mismatch(skirtFrom((x) => 150 + 20 * Math.sin((Math.PI * (x - 50)) / 100))),
    ).toBeLessThan(0.02)
    expect(mismatch(skirtFrom(() => 130))).toBeGreaterThan(0.15)
  })

  it('notices landmarks that miss the sleeves', () => {
    const { garment: shirt } = facts
    if (shirt.kind !== 'top') throw new Error('the drawn T-shirt is a top')
    const missing = {
      ...shirt,
      left: { ...shirt.left, sleeve: null, armhole: [] },
      right: { ...shirt.right, sleeve: null, armhole: [] },
    }
    expect(mismatch(shirt)).toBeLessThan(0.05)
    expect(mismatch(missing)).toBeGreaterThan(0.08)
  })
})

describe('stretchesOf', () => {
  it('is 1 for any plain scale and turn', () => {
    const map = createWarpMap(20, 20)
    for (let i = 0; i < 400; i++) {
      const [x, y] = [i % 20, Math.floor(i / 20)]
      map.x[i] = 2 * x - y
      map.y[i] = x + 2 * y
    }
    for (const stretch of stretchesOf(map, 3)) expect(stretch).toBeCloseTo(1)
  })

  it('is 3 where the cloth is drawn three times as long as usual', () => {
    const map = createWarpMap(60, 20)
    for (let i = 0; i < 1200; i++) {
      const [x, y] = [i % 60, Math.floor(i / 60)]
      map.x[i] = x < 40 ? x : 40 + (x - 40) / 3
      map.y[i] = y
    }
    const stretches = stretchesOf(map, 2)
    expect(Math.max(...stretches)).toBeCloseTo(3)
    expect(Math.min(...stretches)).toBeCloseTo(1)
  })

  it('has no values without cloth', () => {
    expect(stretchesOf(createWarpMap(10, 10), 2)).toEqual([])
  })
})
