import { describe, expect, it } from 'vitest'
import { readBody } from '../src/body.ts'
import { lengthOn, widthAt } from '../src/fit/cloth-size.ts'
import { fitLower, waistOf } from '../src/fit/lower.ts'
import { fitUpper, withLongerSleeve } from '../src/fit/upper.ts'
import type { LowerGarment, UpperGarment, UpperSide } from '../src/garment.ts'
import { createPlane } from '../src/plane.ts'
import { poseAt } from './pose.ts'

const [WIDTH, HEIGHT] = [200, 400]

/** A body 120 pixels wide, with a torso of 118, and with legs whose knees and ankles are so far from the middle. */
function body(legs?: number) {
  const pose = poseAt({
    rightShoulder: [62, 82],
    leftShoulder: [138, 82],
    rightHip: [82, 200],
    leftHip: [118, 200],
    ...(legs && {
      rightKnee: [100 - legs, 290],
      leftKnee: [100 + legs, 290],
      rightAnkle: [100 - legs, 380],
      leftAnkle: [100 + legs, 380],
    }),
  })
  const person = createPlane(WIDTH, HEIGHT)
  for (let y = 70; y < HEIGHT; y++) person.data.fill(1, y * WIDTH + 40, y * WIDTH + 160)
  const parsing = { width: WIDTH, height: HEIGHT, labels: new Uint8Array(WIDTH * HEIGHT) }
  return readBody({ pose, person, face: null }, parsing)
}

describe('widthAt', () => {
  it.each([
    ['narrower than the body', 20],
    ['wider than the body', 200],
  ])('has no step at the hips when the cloth is %s', (_, natural) => {
    const widths = Array.from({ length: 200 }, (_, y) => widthAt(body(), 1, y, natural))
    const steps = widths.slice(1).map((width, y) => Math.abs(width - widths[y]!))
    expect(Math.max(...steps)).toBeLessThan(6)
  })

  it('returns the own width of cloth that hangs freely', () => {
    expect(widthAt(body(), 1, 199, 200)).toBe(200)
  })

  it('covers legs that stand apart with narrow cloth, and is narrower over legs that do not', () => {
    const hemOver = (legs: number) => widthAt(body(legs), -1, 260, 30)
    expect(hemOver(70)).toBeGreaterThan(74)
    expect(hemOver(15)).toBeLessThan(50)
  })
})

describe('fitLower', () => {
  /** Trousers of which each leg is so wide at its hem. */
  const trousers = (hem: number, wearer: LowerGarment['wearer'] = null): LowerGarment => ({
    kind: 'trousers',
    wearer,
    picture: { width: 1, height: 1, data: new Uint8ClampedArray(4) },
    waist: [
      { x: 60, y: 0 },
      { x: 140, y: 0 },
    ],
    left: [
      { x: 60, y: 0 },
      { x: 96 - hem, y: 200 },
    ],
    right: [
      { x: 140, y: 0 },
      { x: 104 + hem, y: 200 },
    ],
    legs: {
      crotch: { x: 100, y: 60 },
      leftInner: [
        { x: 100, y: 60 },
        { x: 96, y: 200 },
      ],
      rightInner: [
        { x: 100, y: 60 },
        { x: 104, y: 200 },
      ],
    },
  })
  /** How far the cloth that is drawn ends from the inner edge of the left leg of the trousers, at its hem. */
  const leftOut = (hem: number) =>
    96 - fitLower(trousers(hem), body(18), { hemY: NaN, waistY: NaN })[0]!.from.inner.at(-1)!.x

  it('leaves no slit of two soft edges where wide legs meet, and the whole of legs that are apart', () => {
    expect(leftOut(60)).toBeGreaterThan(1)
    expect(leftOut(12)).toBe(0)
  })

  it('ends worn trousers and skirts where they end on the legs of their wearer', () => {
    const scene = { hemY: NaN, waistY: NaN }
    const hemOf = (garment: LowerGarment) =>
      fitLower(garment, body(18), scene)[0]!.to.outer.at(-1)!.y
    const shorts = (hipY: number, thigh: number) => hemOf(trousers(12, { hipY, thigh }))
    // The hips of the body are at 200, its knees at 290.
    expect(shorts(40, 320)).toBeCloseTo(245, -1)
    expect(shorts(40, 160)).toBeCloseTo(290, -1)
    expect(shorts(40, 80)).toBe(hemOf(trousers(12)))
    const skirt = (wearer: LowerGarment['wearer']) =>
      hemOf({ ...trousers(60, wearer), kind: 'skirt', legs: null })
    expect(skirt({ hipY: 40, thigh: 160 })).toBeCloseTo(290, 0)
    expect(skirt({ hipY: 40, thigh: 80 })).toBeCloseTo(380, 0)
    expect(skirt({ hipY: 240, thigh: 80 })).toBeCloseTo(200, 0)
  })
})

/** A top with these sides, photographed alone or on a person. */
function top(sideOf: (sign: -1 | 1) => UpperSide, wearer: UpperGarment['wearer']): UpperGarment {
  const [left, right] = [sideOf(-1), sideOf(1)]
  return {
    kind: 'top',
    picture: { width: 200, height: 300, data: new Uint8ClampedArray(240_000) },
    shoulders: left.sleeve ? 'sleeves' : 'none',
    neckline: [],
    hem: [],
    left,
    right,
    wearer,
  }
}

describe('fitUpper', () => {
  /** A side of a vest that ends in the middle of the body of the person who wears it in its picture. */
  const side = (sign: -1 | 1): UpperSide => {
    const at = (x: number, y: number) => ({ x: 100 + sign * x, y })
    const armhole = [at(50, 0), at(46, 40)]
    return {
      neck: at(25, -5),
      shoulder: armhole[0]!,
      armpit: armhole[1]!,
      side: [armhole[1]!, at(46, 60)],
      armhole,
      sleeve: null,
    }
  }
  /** Where it ends on a person, in lengths of the torso. */
  const hemOf = (meetsBottom: boolean) => {
    const person = body()
    const vest = top(side, { shoulderY: 0, torso: 100, meetsBottom })
    const { left } = fitUpper(vest, person, { hemY: NaN, waistY: NaN })
    return person.frame.toFrame(left.side.at(-1)!).y / person.torso
  }

  it('leaves no skin above the trousers where none is seen in the product photo', () => {
    expect(hemOf(true)).toBeGreaterThan(0.8)
    expect(hemOf(false)).toBeCloseTo(0.6, 1)
  })
})

describe('withLongerSleeve', () => {
  const at = { x: 0, y: 0 }
  /** The lengths of both sleeves, read from such ones. */
  const sleeves = (lengths: readonly [number, number], isWorn = true) => {
    const side = (sign: -1 | 1): UpperSide => {
      const edge = [at, { x: 0, y: lengths[sign < 0 ? 0 : 1] }]
      const sleeve = { outer: edge, inner: edge }
      return { neck: at, shoulder: at, armpit: at, side: [], armhole: [], sleeve }
    }
    const garment = top(side, isWorn ? { shoulderY: 0, torso: 100, meetsBottom: false } : null)
    const { left, right } = withLongerSleeve(garment)
    return [left, right].map(({ sleeve }) => sleeve!.outer[1]!.y)
  }

  it('lays the longer sleeve of a wearer on both arms where a bent arm shortens the other one', () => {
    expect(sleeves([60, 100])).toEqual([100, 100])
    expect(sleeves([100, 60])).toEqual([100, 100])
  })

  it('leaves those that are alike or short, those of which one was not read, and those without a wearer', () => {
    expect(sleeves([90, 100])).toEqual([90, 100])
    expect(sleeves([30, 100])).toEqual([30, 100])
    expect(sleeves([30, 50])).toEqual([30, 50])
    expect(sleeves([60, 100], false)).toEqual([60, 100])
  })
})

describe('lengthOn', () => {
  it('lets only dresses reach far below the hips, however long a garment seems', () => {
    const lengths = (kind: 'top' | 'dress') =>
      [2.6, 3.5].map((aspect) => lengthOn(body(), kind, aspect, 130))
    const [[top, longTop], [dress, longDress]] = [lengths('top'), lengths('dress')]
    expect(longTop).toBe(top)
    expect(longDress! / dress!).toBeGreaterThan(1.3)
  })
})

describe('waistOf', () => {
  const waistAt = (waistY: number) => waistOf(body(), { hemY: NaN, waistY })

  it('lies a little above the end of the trousers that the top leaves visible', () => {
    expect(waistAt(85)).toBeLessThan(83)
    expect(waistAt(85)).toBeGreaterThan(75)
  })

  it('is the usual one under a long top, or where no trousers are seen', () => {
    expect(waistAt(115)).toBe(waistAt(NaN))
  })
})
