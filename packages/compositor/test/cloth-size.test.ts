import { describe, expect, it } from 'vitest'
import { readBody } from '../src/body.ts'
import { lengthOn, widthAt } from '../src/fit/cloth-size.ts'
import { waistOf } from '../src/fit/lower.ts'
import { createPlane } from '../src/plane.ts'
import { poseAt } from './pose.ts'

const [WIDTH, HEIGHT] = [200, 400]

/** A body 120 pixels wide, with a torso of 118. */
function body() {
  const pose = poseAt({
    rightShoulder: [62, 82],
    leftShoulder: [138, 82],
    rightHip: [82, 200],
    leftHip: [118, 200],
  })
  const person = createPlane(WIDTH, HEIGHT)
  for (let y = 70; y < HEIGHT; y++) person.data.fill(1, y * WIDTH + 40, y * WIDTH + 160)
  const parsing = { width: WIDTH, height: HEIGHT, labels: new Uint8Array(WIDTH * HEIGHT) }
  return readBody({ pose, person, face: null, box: null }, parsing)
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
