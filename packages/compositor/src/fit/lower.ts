// Where trousers and skirts lie on a person.
import type { Body, BodySide } from '../body.ts'
import { pointOn } from '../garment-chart.ts'
import type { LowerGarment, Sleeve } from '../garment.ts'
import { mean } from '../plane.ts'
import { clamp, lerp, type Point } from '../raster.ts'
import { isSeen } from '../limb.ts'
import type { Scene } from '../scene.ts'
import { between, directionOf, distance, pointBeside, resample } from '../lines.ts'
import { EASE, widthAt } from './cloth-size.ts'

const SIDE_POINTS = 24

// Chosen by experiment on the development photographs, unless a line says otherwise.
/**
 * The waist below the shoulders, in lengths of the torso: usual, and the highest one. It lies above that of the current
 * bottom, which is seen only below the top.
 */
const WAIST = { usual: 0.8, highest: 0.62, above: 0.04 }
/** The crotch below the shoulders, in lengths of the torso; its distance from a leg's axis, in body sizes. */
const CROTCH = { below: 1.17, aside: 0.27 }
/** The height of the hips as a share of the garment's length. */
const HIPS = 0.3

/** Where the upper edge of trousers or a skirt lies, in the body's frame: at the waist, also under a top. */
export function waistOf(body: Body, scene: Scene): number {
  const usual = WAIST.usual * body.torso
  const seen = scene.waistY - WAIST.above * body.torso
  return Number.isNaN(seen) ? usual : clamp(seen, WAIST.highest * body.torso, usual)
}

/** A tube of cloth in the product photo and on the person. */
export interface FittedTube {
  from: Sleeve
  to: Sleeve
}

/** Trousers are two tubes whose inner edges start at the middle of the waist; a skirt is one. */
export function fitLower(garment: LowerGarment, body: Body, scene: Scene): FittedTube[] {
  const measures = measure(garment, body, scene)
  if (!garment.legs) return [fitSkirt(measures)]
  const { crotch, leftInner, rightInner } = garment.legs
  return [
    fitLeg(measures, { outer: garment.left, inner: leftInner, crotch }, body.left),
    fitLeg(measures, { outer: garment.right, inner: rightInner, crotch }, body.right),
  ]
}

/** Heights of the product photo end in `OfPhoto`; the others are in the body's frame. */
interface Measures {
  garment: LowerGarment
  body: Body
  /** The upper edge. */
  waistY: number
  crotchY: number
  waistYOfPhoto: number
  hemYOfPhoto: number
  /** x of the garment's middle in the product photo. */
  centre: number
  /** The garment's width at the hips in the product photo. */
  width: number
  /** Pixels of the parsed photo for one pixel of the product photo. */
  scale: number
  /** Where the hem is on the person in the product photo, in thighs below the hips; null where none wears it. */
  worn: number | null
}

function measure(garment: LowerGarment, body: Body, scene: Scene): Measures {
  const { torso } = body
  const { waist, left, right, wearer } = garment
  const waistYOfPhoto = mean(waist.map(({ y }) => y))
  const hemYOfPhoto = (left.at(-1)!.y + right.at(-1)!.y) / 2
  const width = Math.max(2, hipX(right, waistYOfPhoto) - hipX(left, waistYOfPhoto))
  return {
    garment,
    body,
    waistY: waistOf(body, scene),
    crotchY: CROTCH.below * torso,
    waistYOfPhoto,
    hemYOfPhoto,
    centre: (waist[0]!.x + waist.at(-1)!.x) / 2,
    width,
    scale: ((body.edgeAt(1, torso) - body.edgeAt(-1, torso)) * EASE) / width,
    worn: wearer && Math.max(0, (hemYOfPhoto - wearer.hipY) / wearer.thigh),
  }
}

/** The height of a hem in the body's frame that is so many thighs below the hips. */
function hemAt(below: number, { torso, left, right }: Body): number {
  const thighs = [left, right].map(({ leg: { joints } }) =>
    isSeen(joints[1]) ? distance(joints[0], joints[1]) : torso,
  )
  return torso + below * mean(thighs)
}

function fitSkirt(measures: Measures): FittedTube {
  const { garment, body, waistY, waistYOfPhoto, hemYOfPhoto, centre, scale, worn } = measures
  const length = Math.max(1, hemYOfPhoto - waistYOfPhoto)
  const down = worn === null ? scale : (hemAt(worn, body) - waistY) / length
  const from = {
    outer: resample(garment.left, SIDE_POINTS),
    inner: resample(garment.right, SIDE_POINTS),
  }
  const edge = (line: readonly Point[], sign: -1 | 1) =>
    line.map((point) => {
      const y = waistY + (point.y - waistYOfPhoto) * down
      const x = sign * widthAt(body, sign, y, sign * (point.x - centre) * scale)
      return body.frame.toPicture({ x, y })
    })
  return { from, to: { outer: edge(from.outer, -1), inner: edge(from.inner, 1) } }
}

interface Leg {
  outer: readonly Point[]
  inner: readonly Point[]
  crotch: Point
}

/** Trousers whose length is this many times their width at the hips end at the ankle. */
const LONG = 1.75
/** Worn ones end there whose hem is so many thighs below the hips. */
const TO_ANKLE = 1.75
/** How far long trousers reach, in lengths of the leg, and the shortest ones. */
const LONG_REACH = 1.02
const LEAST_REACH = 0.15
/** The share of the garment's length above the crotch. */
const RISE = { least: 0.1, most: 0.8 }
/** The most that trousers hang loosely, in half-widths of the leg; below the knee, in those of the knee. */
const LOOSE = 2.4
/** Where legs meet, and less and less below the crotch, this share of their width at the inner edge is left out. */
const SEAM = 0.04
/** The share of the leg over which the hips pass into it. */
const PASSAGE = 0.3
/** Lengths of a leg whose joints are not seen: thigh and whole in what is seen, thigh in its half-widths. */
const UNSEEN = { thigh: 1.6, leg: 2.1, knee: 5 }
/** The half-width of the thigh at its upper end, in that at the hip. */
const UPPER_THIGH = 0.9

function fitLeg(measures: Measures, { outer, inner, crotch }: Leg, side: BodySide): FittedTube {
  const { body, waistY, crotchY, waistYOfPhoto, centre, width, scale, worn } = measures
  const { frame, size } = body
  const { sign } = side
  const length = outer.at(-1)!.y - waistYOfPhoto
  const rise = clamp((crotch.y - waistYOfPhoto) / Math.max(1, length), RISE.least, RISE.most)
  const start = frame.toPicture({ x: sign * CROTCH.aside * size, y: crotchY })
  const legLength = lengthOfLeg(side, start)
  const isLong =
    worn === null ? measures.garment.left.at(-1)!.y - waistYOfPhoto > LONG * width : worn > TO_ANKLE
  const end = worn === null ? waistY + length * scale : hemAt(worn, body)
  const reach = isLong
    ? legLength * LONG_REACH
    : clamp(end - crotchY, LEAST_REACH * legLength, legLength)
  const hipAt = (y: number): Point => {
    const x = Math.abs(body.edgeAt(sign, Math.min(y, crotchY))) * EASE
    return frame.toPicture({ x: sign * x, y })
  }
  const middleAt = (y: number): Point => frame.toPicture({ x: 0, y })
  const outerPoints = resample(outer, SIDE_POINTS)
  const innerPoints = resample(inner, SIDE_POINTS)
  const from: Sleeve = { outer: outerPoints, inner: [] }
  const to: Sleeve = { outer: [], inner: [] }
  for (let i = 0; i < SIDE_POINTS; i++) {
    const share = i / (SIDE_POINTS - 1)
    if (share <= rise) {
      const y = lerp(waistY, crotchY, share / rise)
      from.inner.push(between({ x: centre, y: waistYOfPhoto }, crotch, share / rise))
      to.outer.push(hipAt(y))
      to.inner.push(middleAt(y))
      continue
    }
    const down = (share - rise) / (1 - rise)
    const innerPoint = pointOn(innerPoints, down)
    const { point, across, radius } = legAt(side, start, down * reach)
    const natural = (distance(outerPoints[i]!, innerPoint) / 2) * scale
    const half = clamp(natural, radius, Math.max(radius, side.leg.radii[1]) * LOOSE)
    const { x, y } = frame.toFrame(point)
    // Wide legs meet in the middle and do not cross it.
    const inwards = Math.min(half, Math.max(radius, sign * x))
    // The hips pass into the leg gradually.
    const isLeg = clamp(down / PASSAGE, 0, 1)
    // Two soft edges that meet would leave a slit.
    const seam = inwards < half ? SEAM : SEAM * (1 - isLeg)
    from.inner.push(between(innerPoint, outerPoints[i]!, seam))
    to.outer.push(between(hipAt(y), pointBeside(point, across, half), isLeg))
    to.inner.push(between(middleAt(y), pointBeside(point, across, -inwards), Math.sqrt(isLeg)))
  }
  return { from, to }
}

/** x of the line at about the height of the hips. */
function hipX(line: readonly Point[], waistY: number): number {
  const end = line.at(-1)!
  const y = waistY + HIPS * (end.y - waistY)
  return line.reduce((best, point) => (Math.abs(point.y - y) < Math.abs(best.y - y) ? point : best))
    .x
}

function lengthOfLeg(side: BodySide, start: Point): number {
  const [hip, knee, ankle] = side.leg.joints
  const thigh = isSeen(knee) ? distance(start, knee) : UNSEEN.thigh * distance(hip, start)
  return isSeen(ankle) && isSeen(knee) ? thigh + distance(knee, ankle) : UNSEEN.leg * thigh
}

/** A point on the leg's axis at a distance below the crotch. */
function legAt(side: BodySide, start: Point, along: number) {
  const [, knee, ankle] = side.leg.joints
  const [thigh, kneeHalf, ankleHalf] = side.leg.radii
  const below = isSeen(knee) ? knee : { x: start.x, y: start.y + UNSEEN.knee * thigh }
  const end = isSeen(ankle) ? ankle : { x: 2 * below.x - start.x, y: 2 * below.y - start.y }
  const first = distance(start, below)
  const inThigh = along < first
  const from = inThigh ? start : below
  const to = inThigh ? below : end
  const local = inThigh
    ? along / Math.max(1, first)
    : (along - first) / Math.max(1, distance(below, end))
  const direction = directionOf(from, to)
  return {
    point: between(from, to, local),
    across: { x: side.sign * direction.y, y: -side.sign * direction.x },
    radius: inThigh
      ? lerp(thigh * UPPER_THIGH, kneeHalf, local)
      : lerp(kneeHalf, ankleHalf, clamp(local, 0, 1)),
  }
}
