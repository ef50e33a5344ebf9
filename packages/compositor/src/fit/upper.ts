// Where the landmarks of a top or a dress lie on a person.
import type { Body, BodySide } from '../body.ts'
import { pointOn, type UpperShape } from '../garment-chart.ts'
import type { UpperGarment, UpperSide } from '../garment.ts'
import { isSeen } from '../limb.ts'
import { clamp, lerp, type Point } from '../raster.ts'
import type { Scene } from '../scene.ts'
import { distance, lengthOf, middle } from '../lines.ts'
import { smoothLine } from '../smoothing.ts'
import { EASE, hemOf, lengthOn, widthAt } from './cloth-size.ts'
import { waistOf } from './lower.ts'
import { fitSleeve, reachOf } from './sleeve.ts'

const SIDE_POINTS = 24

// Chosen by experiment on the development photographs. Lengths without a unit are relative to the body's size.
/** The height of the chest below the shoulders. */
const CHEST = 0.42
/** The scale by the shoulders, as a share of that by the chest: at least, at most. */
const SCALE = { least: 0.78, most: 1.12 }
/** How much wider or narrower than its outline cloth may be between the sides, as a share of its width. */
const BULGE = { least: -0.25, most: 0.4 }
/** How far the cloth sags between the shoulders. */
const SAG = 0.05
/** How far cloth lies above the outline of the shoulder that it hides. */
const ON_SHOULDER = 0.015
/** How far the cloth on a shoulder rises above a straight line, and falls below it. */
const ARCH = { rise: 0.06, fall: 0.02 }
/** The place on the shoulders' line from which lengths are measured, aside from the middle. */
const LENGTH_FROM = 0.25
/**
 * Off the shoulders: where the cloth begins on the body and as a share of the arm, where lengths are measured from,
 * and what the length lacks in widths.
 */
const OFF_SHOULDER = { top: 0.32, arm: 0.2, start: 0.4, aspect: 0.3, width: 0.98, neckAbove: 0.02 }
/** The armpit below the shoulder's end: off the shoulders, of other garments, and the most of straps. */
const ARMPIT_OFF = { below: 0.05, least: 0.2, most: 0.75 }
const ARMPIT = { least: 0.26, most: 0.62, mostOfStraps: 0.44 }
/** A worn top that ends so near to the end of its picture, as a share of it, ends lower: at least here, in torsos. */
const CUT_OFF = 0.02
const USUAL_HEM = 1.02
/** One that meets trousers or a skirt in its picture ends so far below their waist at least, in torsos: no skin is between. */
const BELOW_WAIST = 0.04
/** The least length of the side below the armpit. */
const LEAST_SIDE = 0.1
/** Where a sleeve is set in, in distances of the shoulder's end from the middle; it hides this share of the side. */
const SET_IN = 0.94
const HIDDEN_SIDE = 0.3
/** The points of a side over which the bumps of the body are evened out. */
const EVENED = 3
/** The shoulder's end above its joint, the neck's least distance from the middle, and its most in shoulders. */
const SHOULDER_ABOVE = 0.01
const NECK = { least: 0.2, most: 0.9 }
/** The end of the hand, in lengths of the forearm. */
const HAND_END = 1.6
/** The least distance of a strap's outer edge from the middle, and the least width of a strap. */
const STRAP = { outer: 0.26, width: 0.02 }

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

/**
 * Sleeves of which an arm that is bent or before the body shortens one: the least length of the longer one, in torsos, and
 * that of the other one in its.
 */
const BENT = { long: 0.7, least: 0.5, most: 0.8 }

/** The garment with the longer sleeve on both arms, where the arm of the person who wears it shortens the other one. */
export function withLongerSleeve(garment: UpperGarment): UpperGarment {
  const { left, right, wearer } = garment
  if (!wearer || !left.sleeve || !right.sleeve) return garment
  const [one, other] = [lengthOf(left.sleeve.outer), lengthOf(right.sleeve.outer)]
  const longer = Math.max(one, other)
  const share = Math.min(one, other) / longer
  const isBent = longer > BENT.long * wearer.torso && share > BENT.least && share < BENT.most
  if (!isBent) return garment
  const { sleeve } = one < other ? right : left
  return { ...garment, left: { ...left, sleeve }, right: { ...right, sleeve } }
}

/** Places a top or a dress. */
export function fitUpper(garment: UpperGarment, body: Body, scene: Scene): FittedShape {
  const measures = measure(garment, body)
  const { scale, shoulder } = measures
  const { left, right } = garment
  const from = sleevesFrom(garment)
  const reach = [left, right].map(({ sleeve, side }) =>
    sleeve
      ? Math.min(1, from + reachOf(sleeve, 2 * shoulder, side.at(-1)!.y, scale, body.size))
      : 0,
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
    const amount = clamp((from * scale) / Math.max(1, to) - 1, BULGE.least, BULGE.most)
    return amount * clamp(along - 1, 0, 1)
  }
  const shape = { ...fitted, bulge, sag: SAG * body.size, reach }
  if (garment.shoulders === 'off-shoulder') return shape
  return {
    ...shape,
    arch: { left: archOf(body, fitted.left, -1), right: archOf(body, fitted.right, 1) },
  }
}

/** The share of the arm at which sleeves begin. */
const sleevesFrom = ({ shoulders }: UpperGarment) =>
  shoulders === 'off-shoulder' ? OFF_SHOULDER.arm : 0

function measure(garment: UpperGarment, body: Body): Measures {
  const { left, right } = garment
  const tips = [body.left, body.right].map((side) => Math.abs(body.frame.toFrame(side.shoulder).x))
  const chestY = CHEST * body.size
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
    scale: hasShoulders ? clamp(byShoulder, SCALE.least * byChest, SCALE.most * byChest) : byChest,
  }
}

/** The height of the shoulder's line. Cloth lies on the shoulder and hides its outline. */
const ridgeY = (body: Body, sign: -1 | 1, x: number) =>
  body.ridgeAt(sign, Math.abs(x)) - ON_SHOULDER * body.size

/** How far the outline of the shoulder is off the straight line between the ends of the cloth on it. */
function archOf(body: Body, { neck, shoulder }: UpperSide, sign: -1 | 1): Point {
  const { frame, size } = body
  const { x, y } = frame.toFrame(middle(neck, shoulder))
  const rise = clamp(ridgeY(body, sign, x) - y, -ARCH.rise * size, ARCH.fall * size)
  const [from, to] = [frame.toPicture({ x, y }), frame.toPicture({ x, y: y + rise })]
  return { x: to.x - from.x, y: to.y - from.y }
}

/** The mean height of the hem in the body's frame. */
function hemHeight({ garment, body, hem, scale }: Measures, scene: Scene): number {
  const { left, right, shoulders, wearer, picture } = garment
  if (wearer) {
    const seen = ((hem - wearer.shoulderY) / wearer.torso) * body.torso
    const isCutOff = hem > (1 - CUT_OFF) * picture.height
    const usual = isCutOff ? USUAL_HEM * body.torso : 0
    const waist = wearer.meetsBottom ? waistOf(body, scene) + BELOW_WAIST * body.torso : 0
    return hemOf(Math.max(seen, usual, waist), garment, body, scene)
  }
  const length = hem - (left.neck.y + right.neck.y) / 2
  const { size } = body
  // What an off-shoulder garment leaves bare is missing from its length.
  const isOff = shoulders === 'off-shoulder'
  const start = isOff
    ? OFF_SHOULDER.start * size
    : (ridgeY(body, -1, LENGTH_FROM * size) + ridgeY(body, 1, LENGTH_FROM * size)) / 2
  const aspect =
    length / Math.max(1, right.armpit.x - left.armpit.x) + (isOff ? OFF_SHOULDER.aspect : 0)
  return hemOf(lengthOn(body, garment.kind, aspect, start + length * scale), garment, body, scene)
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
  const lowestPit = garment.shoulders === 'straps' ? ARMPIT.mostOfStraps : ARMPIT.most
  const pitY = isOff
    ? Math.max(
        top.y + ARMPIT_OFF.below * size,
        clamp(drop, ARMPIT_OFF.least * size, ARMPIT_OFF.most * size),
      )
    : clamp(drop, ARMPIT.least * size, lowestPit * size)
  const hemY = Math.max(pitY + LEAST_SIDE * size, meanHem + (side.side.at(-1)!.y - hem) * scale)
  // A sleeve is set in almost straight below the shoulder, where the arm hides the side.
  const seam = Math.abs(tip.x)
  const reachesOut = side.sleeve !== null && !isOff
  const pitX = (width: number) =>
    reachesOut
      ? clamp(natural(side.armpit), Math.max(width, SET_IN * seam), Math.max(width, seam))
      : width
  const sides: Point[] = []
  for (let i = 0; i < SIDE_POINTS; i++) {
    const share = i / (SIDE_POINTS - 1)
    const y = lerp(pitY, hemY, share)
    const free = natural(pointOn(side.side, share))
    // A top hangs behind an arm, not on its other side.
    const most = garment.kind === 'top' ? armXAt(body, bodySide, y) : Infinity
    const width = widthAt(body, sign, y, Math.min(free, most))
    const x = sign * lerp(pitX(width), width, clamp(share / HIDDEN_SIDE, 0, 1))
    sides.push(frame.toPicture({ x, y }))
  }
  // Cloth does not follow each of the body's bumps.
  const edge = smoothLine(sides, EVENED)
  const shoulder = frame.toPicture(top)
  const armpit = edge[0]!
  const { sleeve } = side
  return {
    neck: frame.toPicture(neck),
    shoulder,
    armpit,
    side: edge,
    armhole: [],
    sleeve:
      sleeve &&
      fitSleeve({
        sleeve,
        side: bodySide,
        shoulder,
        armpit,
        from: sleevesFrom(garment),
        reach,
        scale,
        size,
      }),
  }
}

/** How far beside the middle the arm's axis is at a height below the elbow; Infinity where no forearm is. */
function armXAt({ frame }: Body, { arm, sign }: BodySide, y: number): number {
  const [, elbow, wrist] = arm.joints
  if (!isSeen(elbow) || !isSeen(wrist)) return Infinity
  const [from, to] = [frame.toFrame(elbow), frame.toFrame(wrist)]
  const share = (y - from.y) / (to.y - from.y)
  return from.y < to.y && share > 0 && share < HAND_END
    ? sign * lerp(from.x, to.x, share)
    : Infinity
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
    const y = tip.y + OFF_SHOULDER.top * size
    const x = Math.max(natural(side.shoulder), width * OFF_SHOULDER.width)
    return {
      top: { x: sign * x, y },
      neck: { x: sign * Math.min(natural(side.neck), x), y: y - OFF_SHOULDER.neckAbove * size },
    }
  }
  if (garment.shoulders === 'sleeves') {
    const share = clamp(natural(side.neck) / Math.max(1, natural(side.shoulder)), 0, NECK.most)
    return {
      top: { x: tip.x, y: tip.y - SHOULDER_ABOVE * size },
      neck: onRidge(Math.max(share * width, NECK.least * size)),
    }
  }
  const outer = clamp(natural(side.shoulder), STRAP.outer * size, width)
  return {
    top: onRidge(outer),
    neck: onRidge(clamp(natural(side.neck), NECK.least * size, outer - STRAP.width * size)),
  }
}
