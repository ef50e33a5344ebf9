// Landmarks of a garment for the upper body that a person wears.
import type { UpperSide } from '../garment.ts'
import { distance, resample } from '../lines.ts'
import { lerp, type Point } from '../raster.ts'
import { isSet, topOf, type Mask } from './mask.ts'
import { bestIndex, HEM_WIDTH, type Way } from './contour.ts'
import type { UpperShape } from './upper.ts'
import { limbsAt, type Wearer } from './wearer.ts'
import { wornSleeveOf } from './worn-sleeve.ts'
import { smoothLine } from '../smoothing.ts'

const POINTS = 13
const NECK_POINTS = 25
const HEM_POINTS = 17
/** How far a dress reaches below the hips, in lengths of the torso. By experiment. */
const DRESS_HEM = 0.4
/** Where the neck point is, in half widths of the shoulders; of equally high points the inner one. */
const NECK = { inner: 0.22, usual: 0.5, outer: 0.95, preferInner: 0.25 }
/** Around the joint of the shoulder, in half widths: how far out its end is, and how far below it may be. */
const SHOULDER = { out: 0.16, below: 0.08 }
/** Narrower than this, in half widths, shoulders are straps; off-shoulder tops end so far above the armpits. */
const STRAP = 0.3
const OFF_SHOULDER = 0.2
/** How far cloth hangs beside the torso, and more below the hips for each length of it, in half widths. By experiment. */
const FLARE = { torso: 0.14, below: 6 }
/** From the centre, in usual distances: where cloth ends before, something covers the torso's edge. By experiment. */
const LEAST_REACH = 0.62

/** @returns null when no cloth covers the middle of the torso */
export function wornUpperOf(mask: Mask, wearer: Wearer): UpperShape | null {
  const hemY = hemOf(mask, wearer)
  if (hemY === null) return null
  const [one, other] = [sideOf(mask, wearer, hemY, -1), sideOf(mask, wearer, hemY, 1)]
  // An arm beside sleeveless cloth can look like a sleeve, but hardly on both sides.
  const sleeved = one.sleeve !== null && other.sleeve !== null
  const ended = (side: UpperSide) =>
    sleeved ? { ...side, armhole: [] } : { ...side, sleeve: null }
  const [left, right] = [ended(one), ended(other)]
  const { centre, torso } = wearer
  const corner = (side: UpperSide) => side.side[side.side.length - 1]!
  return {
    kind: isDress(hemY, wearer) ? 'dress' : 'top',
    shoulders: shouldersOf(left, right, wearer),
    neckline: necklineOf(mask, left.neck, right.neck),
    left,
    right,
    hem: lowerEdge(mask, corner(left), corner(right), hemY),
    wearer: { shoulderY: centre.y, torso, meetsBottom: false },
  }
}

const isDress = (hemY: number, { centre, torso }: Wearer) =>
  hemY > centre.y + torso * (1 + DRESS_HEM)

/** The median of the cloth's lowest rows under the middle of the torso. */
function hemOf(mask: Mask, { centre, half, torso }: Wearer): number | null {
  const lows: number[] = []
  const chest = Math.round(centre.y + torso / 2)
  for (let off = -0.5; off <= 0.5; off += 0.1) {
    const x = Math.round(centre.x + off * half)
    for (let y = mask.height - 1; y > chest; y--) {
      if (!isSet(mask, x, y)) continue
      lows.push(y + 1)
      break
    }
  }
  if (lows.length < 4) return null
  return lows.sort((one, other) => one - other)[Math.floor(lows.length / 2)]!
}

function sideOf(mask: Mask, wearer: Wearer, hemY: number, way: Way): UpperSide {
  const { half } = wearer
  const limbs = limbsAt(wearer, way)
  const armpitY = armpitRow(mask, wearer, way)
  const neck = neckOf(mask, wearer, armpitY, way)
  const shoulder = shoulderOf(mask, wearer, neck, armpitY, way)
  const side = torsoEdge(mask, wearer, armpitY, hemY, way)
  // A hem curves upwards to its corners.
  side.length = bestIndex(side, ({ x, y }) => y + HEM_WIDTH * way * x) + 1
  const armpit = side[0]!
  return {
    neck,
    shoulder,
    armpit,
    side: resample(smoothLine(side, 6), POINTS),
    armhole: resample(armholeOf(mask, shoulder, armpit, way), POINTS),
    sleeve: wornSleeveOf(mask, limbs, shoulder, armpit, half, way),
  }
}

/** The highest point of cloth between the middle and the shoulder; of equally high ones the inner. */
function neckOf(mask: Mask, { centre, half }: Wearer, lowest: number, way: Way): Point {
  let best = { x: centre.x + way * half * NECK.usual, y: lowest }
  let most = Infinity
  for (let off = NECK.inner; off <= NECK.outer; off += 1 / half) {
    const x = centre.x + way * half * off
    const y = topOf(mask, x, lowest)
    if (y === null) continue
    const score = y + NECK.preferInner * off * half
    if (score >= most) continue
    most = score
    best = { x, y }
  }
  return best
}

/** The outermost cloth that is still about as high as the shoulder. */
function shoulderOf(mask: Mask, wearer: Wearer, neck: Point, lowest: number, way: Way): Point {
  const joint = limbsAt(wearer, way).shoulder
  const end = joint.x + way * wearer.half * SHOULDER.out
  // The joint is inside the shoulder: cloth lower than it belongs to the armhole or the sleeve.
  const limit = joint.y + wearer.half * SHOULDER.below
  let found = neck
  for (let x = neck.x; way * (end - x) >= 0; x += way) {
    const y = topOf(mask, x, lowest)
    if (y === null || y > limit) break
    found = { x, y }
  }
  return found
}

/** Where the armpit usually is, between shoulder and hip, and the range in which it is sought. */
const ARMPIT = { usual: 0.3, highest: 0.16, lowest: 0.38 }

/** The highest row below the shoulder at which the torso has an edge of its own. */
function armpitRow(mask: Mask, wearer: Wearer, way: Way): number {
  const { shoulder, hip } = limbsAt(wearer, way)
  const tall = hip.y - shoulder.y
  const isFree = (y: number) => {
    const { reached, most } = edgeAt(mask, wearer, y, way)
    return reached < most - 1
  }
  const lowest = shoulder.y + tall * ARMPIT.lowest
  for (let y = Math.round(shoulder.y + tall * ARMPIT.highest); y < lowest; y++) {
    if (isFree(y) && isFree(y + 2) && isFree(y + 4)) return y
  }
  return shoulder.y + tall * ARMPIT.usual
}

/** The torso's edge from the armpit to the hem; where an arm covers it, where it has to be. */
function torsoEdge(mask: Mask, wearer: Wearer, from: number, to: number, way: Way): Point[] {
  const { centre } = wearer
  const hipY = limbsAt(wearer, way).hip.y
  const points: Point[] = []
  for (let y = Math.round(from); y < Math.max(to, from + 2); y++) {
    const { reached, usual } = edgeAt(mask, wearer, y, way)
    let x = centre.x + way * reached
    if (reached < usual * LEAST_REACH) {
      // Below the hips there is no arm, but a slit or a hem that slants.
      if (y > hipY && points.length > 1) continue
      // Below a curved hem there is no cloth at the sides; elsewhere, an arm is in front of it.
      const last = points[points.length - 1]
      x = last && y > to - (to - from) * 0.15 ? last.x : centre.x + way * usual
    }
    points.push({ x, y: y + 0.5 })
  }
  return points
}

/**
 * How far from the centre the torso's cloth reaches on a row, at most `most`, and how far it usually
 * does.
 */
function edgeAt(mask: Mask, wearer: Wearer, y: number, way: Way) {
  const { half, centre } = wearer
  const { shoulder, hip } = limbsAt(wearer, way)
  const middle = (wearer.left.hip.x + wearer.right.hip.x) / 2
  const share = (y - shoulder.y) / Math.max(1, hip.y - shoulder.y)
  const above = Math.min(1, share)
  // The hip joints are inside the hips.
  const side = lerp(shoulder.x, hip.x + way * half * 0.3, above)
  const usual = Math.abs(side - centre.x)
  const most = usual + half * (FLARE.torso + FLARE.below * Math.max(0, share - 1))
  let x = lerp(centre.x, middle, above) + way * usual * 0.5
  while (way * (x - centre.x) < most && isSet(mask, Math.round(x + way), y)) x += way
  return { reached: way * (x - centre.x), usual, most }
}

/** The outer edge of the cloth from the shoulder down to the armpit. */
function armholeOf(mask: Mask, shoulder: Point, armpit: Point, way: Way): Point[] {
  const points = [shoulder]
  for (let y = Math.ceil(shoulder.y) + 2; y < armpit.y; y++) {
    const share = (y - shoulder.y) / (armpit.y - shoulder.y)
    const straight = shoulder.x + (armpit.x - shoulder.x) * share
    const slack = Math.abs(armpit.x - shoulder.x) * 0.5 + 4
    let x = straight + way * slack
    while (way * (x - straight) > -slack && !isSet(mask, Math.round(x), y)) x -= way
    points.push({ x, y })
  }
  points.push(armpit)
  return smoothLine(points, 3)
}

function shouldersOf(left: UpperSide, right: UpperSide, wearer: Wearer): UpperShape['shoulders'] {
  if (left.sleeve || right.sleeve) return 'sleeves'
  const low = [left, right].every(
    ({ neck, armpit }) => neck.y > armpit.y - wearer.half * OFF_SHOULDER,
  )
  if (low) return 'off-shoulder'
  const width = (distance(left.neck, left.shoulder) + distance(right.neck, right.shoulder)) / 2
  return width < wearer.half * STRAP ? 'straps' : 'none'
}

/** The cloth's upper edge between the neck points. */
function necklineOf(mask: Mask, left: Point, right: Point): Point[] {
  const points = [left]
  const lowest = Math.max(left.y, right.y) + (right.x - left.x) * 2
  for (let x = Math.ceil(left.x) + 1; x < right.x; x++) {
    const y = topOf(mask, x, lowest)
    if (y !== null) points.push({ x, y })
  }
  points.push(right)
  return resample(smoothLine(points, 3), NECK_POINTS)
}

/** The cloth's lower edge between the hem's corners. */
function lowerEdge(mask: Mask, left: Point, right: Point, hemY: number): Point[] {
  const points: Point[] = [left]
  const slack = Math.max(4, (right.x - left.x) * 0.3)
  const highest = Math.min(hemY, left.y, right.y) - slack
  for (let x = Math.ceil(left.x) + 1; x < right.x; x++) {
    let y = Math.min(mask.height - 1, Math.round(hemY + slack))
    while (y > highest && !isSet(mask, x, y)) y--
    if (y > highest) points.push({ x, y: y + 1 })
  }
  points.push(right)
  return resample(smoothLine(points, 4), HEM_POINTS)
}
