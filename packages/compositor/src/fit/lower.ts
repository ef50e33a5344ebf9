// Where trousers and skirts lie on a person.
import type { Body, BodySide } from '../body.ts'
import { between, pointOn } from '../garment-chart.ts'
import type { LowerGarment, Sleeve } from '../garment.ts'
import { clamp, lerp, type Point } from '../raster.ts'
import { isSeen } from '../limb.ts'
import type { Scene } from '../scene.ts'
import { distance, resample } from './lines.ts'
import { EASE, widthAt } from './width.ts'

const SIDE_POINTS = 24

/** Where the upper edge of trousers or a skirt lies, in the body's frame: at the waist, also under a top. */
export function waistOf(body: Body, scene: Scene): number {
  const usual = 0.8 * body.torso
  return Number.isNaN(scene.waistY) ? usual : clamp(scene.waistY, 0.62 * body.torso, usual)
}

/** Trousers are two tubes whose inner edges start at the middle of the waist; a skirt is one. */
export function fitLower(
  garment: LowerGarment,
  body: Body,
  scene: Scene,
): { from: Sleeve; to: Sleeve }[] {
  const { frame, size, torso } = body
  const top = waistOf(body, scene)
  const crotchY = 1.17 * torso
  const own = (sign: -1 | 1, y: number) => Math.abs(body.edgeAt(sign, y))
  const centre = (garment.waist[0]!.x + garment.waist.at(-1)!.x) / 2
  const waistY = garment.waist.reduce((sum, point) => sum + point.y, 0) / garment.waist.length
  const hipHalf = (own(1, torso) + own(-1, torso)) / 2
  if (!garment.legs) {
    const hipLine = [garment.left, garment.right].map((line) => widest(line, waistY))
    const natural = Math.max(1, (hipLine[1]! - hipLine[0]!) / 2)
    const scale = (hipHalf * EASE) / natural
    const edge = (line: readonly Point[], sign: -1 | 1) =>
      resample(line, SIDE_POINTS).map((point) => {
        const y = top + (point.y - waistY) * scale
        return frame.toPicture({
          x: sign * widthAt(body, sign, y, sign * (point.x - centre) * scale),
          y,
        })
      })
    return [
      {
        from: {
          outer: resample(garment.left, SIDE_POINTS),
          inner: resample(garment.right, SIDE_POINTS),
        },
        to: { outer: edge(garment.left, -1), inner: edge(garment.right, 1) },
      },
    ]
  }
  const { crotch, leftInner, rightInner } = garment.legs
  const width = Math.max(1, widest(garment.right, waistY) - widest(garment.left, waistY))
  const widthScale = (2 * hipHalf * EASE) / width
  const isLong = garment.left.at(-1)!.y - waistY > 1.75 * width
  const leg = (line: readonly Point[], innerLine: readonly Point[], side: BodySide) => {
    const { sign } = side
    const split = clamp((crotch.y - waistY) / Math.max(1, line.at(-1)!.y - waistY), 0.1, 0.8)
    const outerLine = resample(line, SIDE_POINTS)
    const innerPoints = resample(innerLine, SIDE_POINTS)
    const from: Sleeve = { outer: outerLine, inner: [] }
    const to: Sleeve = { outer: [], inner: [] }
    const start = frame.toPicture({ x: sign * 0.27 * size, y: crotchY })
    const legLength = lengthOfLeg(side, start)
    const natural = (line.at(-1)!.y - waistY) * widthScale - (crotchY - top)
    const length = isLong ? legLength * 1.02 : clamp(natural, 0.15 * legLength, legLength)
    for (let i = 0; i < SIDE_POINTS; i++) {
      const share = i / (SIDE_POINTS - 1)
      if (share <= split) {
        const y = lerp(top, crotchY, share / split)
        from.inner.push({
          x: lerp(centre, crotch.x, share / split),
          y: lerp(waistY, crotch.y, share / split),
        })
        to.outer.push(frame.toPicture({ x: sign * own(sign, y) * EASE, y }))
        to.inner.push(frame.toPicture({ x: 0, y }))
        continue
      }
      const local = (share - split) / (1 - split)
      const innerPoint = pointOn(innerPoints, local)
      from.inner.push(innerPoint)
      const { point, across, radius } = legAt(side, start, local * length)
      const half = clamp(
        (distance(outerLine[i]!, innerPoint) / 2) * widthScale,
        radius,
        radius * 2.4,
      )
      // The hips pass into the leg gradually.
      const share2 = clamp(local / 0.3, 0, 1)
      const y = frame.toFrame(point).y
      const hip = frame.toPicture({ x: sign * own(sign, Math.min(y, crotchY)) * EASE, y })
      const fork = frame.toPicture({ x: 0, y })
      to.outer.push(
        between(hip, { x: point.x + across.x * half, y: point.y + across.y * half }, share2),
      )
      to.inner.push(
        between(
          fork,
          { x: point.x - across.x * half, y: point.y - across.y * half },
          Math.sqrt(share2),
        ),
      )
    }
    return { from, to }
  }
  return [leg(garment.left, leftInner, body.left), leg(garment.right, rightInner, body.right)]
}

/** x of the line at the height of the hips, a fifth of the way down from the waist of a knee-length skirt. */
function widest(line: readonly Point[], waistY: number): number {
  const end = line.at(-1)!
  const y = waistY + 0.3 * (end.y - waistY)
  return line.reduce((best, point) => (Math.abs(point.y - y) < Math.abs(best.y - y) ? point : best))
    .x
}

function lengthOfLeg(side: BodySide, start: Point): number {
  const [hip, knee, ankle] = side.leg.joints
  const thigh = isSeen(knee) ? distance(start, knee) : 1.6 * distance(hip, start)
  return isSeen(ankle) && isSeen(knee) ? thigh + distance(knee, ankle) : 2.1 * thigh
}

/** A point on the leg's axis at a distance below the crotch. */
function legAt(side: BodySide, start: Point, along: number) {
  const [, knee, ankle] = side.leg.joints
  const [thigh, kneeHalf, ankleHalf] = side.leg.radii
  const below = isSeen(knee) ? knee : { x: start.x, y: start.y + 5 * thigh }
  const end = isSeen(ankle) ? ankle : { x: 2 * below.x - start.x, y: 2 * below.y - start.y }
  const first = distance(start, below)
  const inThigh = along < first
  const from = inThigh ? start : below
  const to = inThigh ? below : end
  const local = inThigh
    ? along / Math.max(1, first)
    : (along - first) / Math.max(1, distance(below, end))
  const length = Math.max(1e-6, distance(from, to))
  const direction = { x: (to.x - from.x) / length, y: (to.y - from.y) / length }
  return {
    point: { x: lerp(from.x, to.x, local), y: lerp(from.y, to.y, local) },
    across: { x: side.sign * direction.y, y: -side.sign * direction.x },
    radius: inThigh
      ? lerp(thigh * 0.9, kneeHalf, local)
      : lerp(kneeHalf, ankleHalf, clamp(local, 0, 1)),
  }
}
