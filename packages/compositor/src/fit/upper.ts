// Where the landmarks of a top or a dress lie on a person.
import type { Body } from '../body.ts'
import { pointOn, type UpperShape } from '../garment-chart.ts'
import type { UpperGarment, UpperSide } from '../garment.ts'
import { clamp, lerp, type Point } from '../raster.ts'
import type { Scene } from '../scene.ts'
import { hemOf, lengthOn } from './length.ts'
import { distance } from '../lines.ts'
import { fitSleeve, reachOf } from './sleeve.ts'
import { EASE, widthAt } from './width.ts'

const SIDE_POINTS = 24

export interface FittedShape extends UpperShape {
  /** The share of the left and the right arm that the sleeves cover. */
  reach: readonly [number, number]
}

/** Half-widths and heights of a product photo, and their scale on the person. */
interface Measures {
  garment: UpperGarment
  body: Body
  /** Half the garment's width at the shoulders, and its middle. */
  shoulder: number
  centre: number
  /** The mean height of its hem. */
  hem: number
  /** Pixels of the parsed photo for one pixel of the product photo. */
  scale: number
}

/** Places a top or a dress. */
export function fitUpper(garment: UpperGarment, body: Body, scene: Scene): FittedShape {
  const measures = measure(garment, body)
  const { scale, shoulder } = measures
  const { left, right } = garment
  const reach = [left, right].map(({ sleeve }) =>
    sleeve ? reachOf(sleeve, 2 * shoulder, scale, body.size) : 0,
  ) as [number, number]
  const hemY = hemHeight(measures, scene)
  const fitted = {
    left: fitSide(measures, -1, hemY, reach[0]),
    right: fitSide(measures, 1, hemY, reach[1]),
  }
  const bulge = (along: number) => {
    const share = clamp(along - 2, 0, 1)
    const from = pointOn(right.side, share).x - pointOn(left.side, share).x
    const to = distance(pointOn(fitted.right.side, share), pointOn(fitted.left.side, share))
    const amount = clamp((from * scale) / Math.max(1, to) - 1, -0.25, 0.4)
    return amount * clamp(along - 1, 0, 1)
  }
  const shape = { ...fitted, bulge, sag: 0.05 * body.size, reach }
  if (garment.shoulders === 'off-shoulder') return shape
  return {
    ...shape,
    arch: { left: archOf(body, fitted.left, -1), right: archOf(body, fitted.right, 1) },
  }
}

function measure(garment: UpperGarment, body: Body): Measures {
  const { left, right } = garment
  const tips = [body.left, body.right].map((side) => Math.abs(body.frame.toFrame(side.shoulder).x))
  const chestY = 0.42 * body.size
  const chest = (body.edgeAt(1, chestY) - body.edgeAt(-1, chestY)) / 2
  const shoulder = Math.max(1, (right.shoulder.x - left.shoulder.x) / 2)
  const byChest = (2 * chest * EASE) / Math.max(2, right.armpit.x - left.armpit.x)
  const byShoulder = (tips[0]! + tips[1]!) / 2 / shoulder
  const hasShoulders = garment.shoulders === 'sleeves'
  return {
    garment,
    body,
    shoulder,
    centre: (left.armpit.x + right.armpit.x + left.neck.x + right.neck.x) / 4,
    hem: (left.side.at(-1)!.y + right.side.at(-1)!.y) / 2,
    scale: hasShoulders ? clamp(byShoulder, 0.78 * byChest, 1.12 * byChest) : byChest,
  }
}

/** The height of the shoulder's line. Cloth lies on the shoulder and hides its outline. */
const ridgeY = (body: Body, sign: -1 | 1, x: number) =>
  body.ridgeAt(sign, Math.abs(x)) - 0.015 * body.size

/** How far the outline of the shoulder is off the straight line between the ends of the cloth on it. */
function archOf(body: Body, { neck, shoulder }: UpperSide, sign: -1 | 1): Point {
  const { frame, size } = body
  const middle = frame.toFrame({ x: (neck.x + shoulder.x) / 2, y: (neck.y + shoulder.y) / 2 })
  const rise = clamp(ridgeY(body, sign, middle.x) - middle.y, -0.06 * size, 0.02 * size)
  const [from, to] = [frame.toPicture(middle), frame.toPicture({ x: middle.x, y: middle.y + rise })]
  return { x: to.x - from.x, y: to.y - from.y }
}

/** The mean height of the hem in the body's frame. */
function hemHeight({ garment, body, hem, scale }: Measures, scene: Scene): number {
  const { left, right, shoulders } = garment
  const length = hem - (left.neck.y + right.neck.y) / 2
  const { size } = body
  // What an off-shoulder garment leaves bare is missing from its length.
  const isOff = shoulders === 'off-shoulder'
  const start = isOff
    ? 0.4 * size
    : (ridgeY(body, -1, 0.25 * size) + ridgeY(body, 1, 0.25 * size)) / 2
  const aspect = length / Math.max(1, right.armpit.x - left.armpit.x) + (isOff ? 0.3 : 0)
  return hemOf(lengthOn(body, aspect, start + length * scale), garment, body, scene)
}

function fitSide(measures: Measures, sign: -1 | 1, meanHem: number, reach: number): UpperSide {
  const { garment, body, centre, scale, hem } = measures
  const { frame, size } = body
  const side = sign < 0 ? garment.left : garment.right
  const bodySide = sign < 0 ? body.left : body.right
  const tip = frame.toFrame(bodySide.shoulder)
  const natural = (point: Point) => sign * (point.x - centre) * scale
  const { neck, top } = fitTop(measures, side, sign, tip)
  const isOff = garment.shoulders === 'off-shoulder'
  const drop = top.y + (side.armpit.y - side.shoulder.y) * scale
  const pitY = isOff
    ? Math.max(top.y + 0.05 * size, clamp(drop, 0.2 * size, 0.75 * size))
    : clamp(drop, 0.26 * size, (garment.shoulders === 'straps' ? 0.44 : 0.62) * size)
  const hemY = Math.max(pitY + 0.1 * size, meanHem + (side.side.at(-1)!.y - hem) * scale)
  // A sleeve is set in almost straight below the shoulder, where the arm hides the side.
  const reachesOut = side.sleeve !== null && !isOff
  const pitX = (width: number) =>
    reachesOut
      ? clamp(
          natural(side.armpit),
          Math.max(width, 0.94 * Math.abs(tip.x)),
          Math.max(width, Math.abs(tip.x)),
        )
      : width
  const edge: Point[] = []
  for (let i = 0; i < SIDE_POINTS; i++) {
    const share = i / (SIDE_POINTS - 1)
    const y = lerp(pitY, hemY, share)
    const width = widthAt(body, sign, y, natural(pointOn(side.side, share)))
    edge.push(frame.toPicture({ x: sign * lerp(pitX(width), width, clamp(share / 0.3, 0, 1)), y }))
  }
  const shoulder = frame.toPicture(top)
  const armpit = edge[0]!
  const { sleeve } = side
  return {
    neck: frame.toPicture(neck),
    shoulder,
    armpit,
    side: edge,
    armhole: [],
    sleeve: sleeve && fitSleeve({ sleeve, side: bodySide, shoulder, armpit, reach, scale, size }),
  }
}

/** The neck point and the shoulder's end, in the body's frame. */
function fitTop(
  { garment, body, centre, scale }: Measures,
  side: UpperSide,
  sign: -1 | 1,
  tip: Point,
) {
  const { size } = body
  const natural = (point: Point) => sign * (point.x - centre) * scale
  const onRidge = (x: number): Point => ({ x: sign * x, y: ridgeY(body, sign, x) })
  const width = Math.abs(tip.x)
  if (garment.shoulders === 'off-shoulder') {
    const y = tip.y + 0.32 * size
    const x = Math.max(natural(side.shoulder), width * 0.98)
    return {
      top: { x: sign * x, y },
      neck: { x: sign * Math.min(natural(side.neck), x), y: y - 0.02 * size },
    }
  }
  if (garment.shoulders === 'sleeves') {
    const share = clamp(natural(side.neck) / Math.max(1, natural(side.shoulder)), 0, 0.9)
    return {
      top: { x: tip.x, y: tip.y - 0.01 * size },
      neck: onRidge(Math.max(share * width, 0.2 * size)),
    }
  }
  const outer = clamp(natural(side.shoulder), 0.26 * size, width)
  return {
    top: onRidge(outer),
    neck: onRidge(clamp(natural(side.neck), 0.2 * size, outer - 0.02 * size)),
  }
}
