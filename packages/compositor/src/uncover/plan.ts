// What the old clothing beside the new garment must become.
import { LABEL, type Parsing } from '../parsing.ts'
import { pause } from '../pause.ts'
import type { Pose } from '../perception.ts'
import { median, type Plane } from '../plane.ts'
import { clamp, lerp, type Point } from '../raster.ts'
import { numberPieces } from '../pieces.ts'
import { BECOMES, isClothes, measured, type UncoverPlan } from './becomes.ts'
import { clearBesideSleeves } from './beside-sleeves.ts'
import { labelAt, limbsOf, placeIn, type Limb } from './limbs.ts'
import { reachUnder, roundOutline } from './smooth-plan.ts'
import { withoutStrays } from './strays.ts'
import { bodySize, torsoOf, type Torso } from './torso.ts'

export type GarmentKind = 'top' | 'dress' | 'trousers' | 'skirt'

/** Under the new garment's own edge everything is painted, so that no old cloth shines through. */
const COVERED = 0.97

// Chosen by experiment on the development photographs. Heights and widths of the trunk are those of the span
// between shoulders and hips, lengths without a unit are in units of the body's size.
/** A piece of clothing with a smaller area is noise: squared sizes. */
const SPECK = 0.003
/** The share of an arm's axis under cloth from which on it has a sleeve. */
const SLEEVED = 0.5
/** The least confidence in an ankle, and how far above it a foot begins. */
const SEEN_ANKLE = 0.3
const FOOT = 0.1
/** Where the sides of the bottom are searched: beyond the trunk, and up to a share of its width; then their distance. */
const SIDE = { out: 0.2, inner: 0.4, apart: 0.5 }
/** How many columns must show the bottom: a share of those searched, less some; and how far inside it begins. */
const FOUND = { share: 0.5, less: 0.2, inside: 4 }
/** Above and below the garment, the heights of the trunk down to which bare parts are skin. */
const SKIN_ABOVE = 0.5
const SKIN_BESIDE = 0.45
/** A strip of belly narrower than this height of the trunk is taken for a part of the trousers; pixels more. */
const STRIP = { height: 0.07, more: 2 }
/** The share of the waist's width at its ends whose hem can be that of sleeves. */
const HEM_ENDS = 0.15
/** A bottom that begins above this height of the trunk is none there: its colours are those of the top. New trousers begin below it. */
const HIGHEST_WAIST = 0.6
/** How far beyond the arm the sleeves of a dress reach. */
const LOOSE_SLEEVE = 0.07
/** How far a leg reaches from its axis. */
const LEG_REACH = 0.3
/** Pixels by which edges of the garment are uncertain: of a hem, and of the ends of a lower garment. */
const EDGE = 1
const SOFT_EDGE = 2

/**
 * Decides for each pixel of old clothing that the new garment does not cover what must be shown instead.
 * All arguments are in the size of the parsing. Clothing that stays (trousers under a new top, a top over
 * new trousers, the skirt of a dress under a new top) stays.
 *
 * @param covered the alpha of the new garment
 * @param reach the share of the left and the right arm that its sleeves cover
 */
export async function planUncovering(
  original: Parsing,
  pose: Pose,
  covered: Plane,
  kind: GarmentKind,
  reach: readonly [number, number] = [0, 0],
): Promise<UncoverPlan> {
  const parsing = measured(withoutStrays(original, bodySize(pose)))
  await pause()
  const { width, height, labels } = parsing
  const torso = torsoOf(parsing, pose)
  const limbs = limbsOf(parsing, pose, torso)
  const becomes = new Uint8Array(width * height)
  const plan: UncoverPlan = { width, height, becomes, parsing, torso, limbs }
  const extent = extentOf(covered)
  if (!extent || !Object.values(pose).every((joint) => Number.isFinite(joint.x + joint.y)))
    return plan
  const arms = limbs.filter((limb) => limb.kind === 'arm')
  const scene: Scene = {
    torso,
    arms,
    sleeves: arms.filter((arm) => isSleeved(arm, parsing)),
    legs: limbs.filter((limb) => limb.kind === 'leg'),
    extent,
    lowest: lowestAround(extent, LEG_REACH * torso.size),
    trousers: trouserSides(parsing, torso),
  }
  const { numbers, areas } = numberPieces(parsing, (at) => isClothes(labels[at]))
  const firstRows = areas.map(() => height)
  for (let at = numbers.length - 1; at >= 0; at--) firstRows[numbers[at]!] = Math.floor(at / width)
  const feet = feetFrom(pose, torso.size)
  // Specks of noise and pieces of shoes stay.
  const stays = (piece: number) =>
    areas[piece]! < SPECK * torso.size ** 2 || firstRows[piece]! > feet
  const decide = kind === 'top' ? underTop : kind === 'dress' ? underDress : underLower
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      const label = labels[at]!
      if (!isClothes(label) || covered.data[at]! >= COVERED || stays(numbers[at]!)) continue
      becomes[at] = decide(scene, x + 0.5, y + 0.5, label)
    }
  }
  clearBesideSleeves(plan, covered, reach)
  await pause()
  roundOutline(plan, labels, torso)
  await pause()
  reachUnder(plan, labels, covered)
  return plan
}

function isSleeved(arm: Limb, parsing: Parsing): boolean {
  const cloth = arm.axis.filter((point) => labelAt(parsing, point) === LABEL.top)
  return cloth.length > SLEEVED * arm.axis.length
}

/** The row below which only feet are; Infinity when no ankle is seen. */
function feetFrom(pose: Pose, size: number): number {
  const ankles = [pose.leftAnkle, pose.rightAnkle].filter(({ score }) => score > SEEN_ANKLE)
  return Math.min(Infinity, ...ankles.map(({ y }) => y - FOOT * size))
}

interface Extent {
  /** The garment's first and last row of each column, the nearest column's where there is none. */
  first: Float32Array
  last: Float32Array
  top: number
  bottom: number
}

interface Scene {
  torso: Torso
  arms: Limb[]
  /** The arms in sleeves down to the elbow or further. */
  sleeves: Limb[]
  legs: Limb[]
  extent: Extent
  /** The garment's lowest row around each column: beside a narrow leg of trousers, the hips end above it. */
  lowest: Float32Array
  /** The left and the right end of the visible bottom's upper edge. */
  trousers: [Point, Point] | null
}

function extentOf(covered: Plane): Extent | null {
  const { width, height, data } = covered
  const first = new Float32Array(width).fill(NaN)
  const last = new Float32Array(width).fill(NaN)
  let top = Infinity
  let bottom = -1
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      if (data[at]! < 0.5) continue
      if (Number.isNaN(first[x]!)) first[x] = y
      last[x] = y + 1
      top = Math.min(top, y)
      bottom = Math.max(bottom, y + 1)
    }
  }
  if (bottom < 0) return null
  return { first, last, top, bottom }
}

/** The last row of the garment's columns within the reach; its last one where there are none. */
function lowestAround({ last, bottom }: Extent, reach: number): Float32Array {
  return last.map((_, x) => {
    const around = last.subarray(Math.max(0, Math.ceil(x - reach)), Math.floor(x + reach) + 1)
    const rows = around.filter((row) => !Number.isNaN(row))
    return rows.length > 0 ? Math.max(...rows) : bottom
  })
}

/** The sides of the trousers or skirt just below where the old top ends, which may be aslant; null without one. */
function trouserSides(parsing: Parsing, torso: Torso): Scene['trousers'] {
  const [left, right] = torso.span(torso.hipY)
  const out = SIDE.out * torso.size
  const leftEnd = trouserSide(parsing, torso, left - out, lerp(left, right, SIDE.inner), 1)
  const rightEnd = trouserSide(parsing, torso, right + out, lerp(left, right, 1 - SIDE.inner), -1)
  return leftEnd && rightEnd && rightEnd.x - leftEnd.x > SIDE.apart * torso.size
    ? [leftEnd, rightEnd]
    : null
}

/** The outer end of the bottom's upper edge, searched from `outer` to `inner`. */
function trouserSide(
  { width, height, labels }: Parsing,
  torso: Torso,
  outer: number,
  inner: number,
  step: 1 | -1,
): Point | null {
  const starts: number[] = []
  for (let x = Math.round(outer); step > 0 ? x < inner : x > inner; x += step) {
    if (x < 0 || x >= width) continue
    let y = Math.max(0, Math.round(torso.waistY))
    while (y < height && labels[y * width + x] !== LABEL.bottom) y++
    if (y < height) starts.push(y)
  }
  const wanted = FOUND.share * Math.abs(inner - outer) - FOUND.less * torso.size
  if (starts.length < wanted) return null
  const start = starts.length > 0 ? median(starts) : height
  const y = Math.min(height - 1, start + FOUND.inside)
  let x = clamp(Math.round(outer), 0, width - 1)
  while (x !== Math.round(inner) && labels[y * width + x] !== LABEL.bottom) x += step
  return { x: step > 0 ? x : x + 1, y }
}

function underTop(scene: Scene, x: number, y: number, label: number): number {
  if (label !== LABEL.top) return BECOMES.keep
  const { torso } = scene
  if (scene.arms.some((arm) => isIn(arm, x, y))) return BECOMES.skin
  // Below the new hem a dress serves as the skirt.
  if (torso.dressed && y > hemAt(scene, x) - EDGE) return BECOMES.keep
  return trunk(scene, x, y)
}

/** The trunk beside, above and below the new garment. */
function trunk(scene: Scene, x: number, y: number): number {
  const { torso, extent } = scene
  const [left, right] = torso.span(y)
  const below = y > hemAt(scene, x) - EDGE && y > torso.shoulderY
  if (below && y >= torso.waistY - gapAllowed(scene)) {
    const sides = scene.trousers
    if (!sides) return x > left && x < right ? BECOMES.bottom : BECOMES.ground
    const [waistLeft, waistRight] = torso.span(torso.waistY)
    const at = (end: Point, waist: number) =>
      lerp(waist, end.x, clamp((y - torso.waistY) / Math.max(1, end.y - torso.waistY), 0, 1))
    const from = at(sides[0], waistLeft)
    const to = at(sides[1], waistRight)
    return x > from && x < to ? BECOMES.bottom : BECOMES.ground
  }
  if (!(x > left && x < right)) return BECOMES.ground
  const first = extent.first[Math.floor(x)]!
  if (below || Number.isNaN(first) || y < first + EDGE) {
    return !below && y > heightAt(torso, SKIN_ABOVE) ? BECOMES.ground : BECOMES.skin
  }
  return y < heightAt(torso, SKIN_BESIDE) ? BECOMES.skin : BECOMES.ground
}

/** The row at a height of the trunk: 0 at the shoulders, 1 at the hips. */
const heightAt = ({ shoulderY, hipY }: Torso, height: number) =>
  shoulderY + height * (hipY - shoulderY)

/** The strip of belly, in pixels, that is taken for a part of the trousers. */
function gapAllowed({ torso, extent }: Scene): number {
  const strip = torso.waistY - extent.bottom
  return strip < STRIP.height * (torso.hipY - torso.shoulderY) ? Math.max(0, strip) + STRIP.more : 0
}

/** The height of the garment's hem at the column, without its sleeves. It can be higher at the hips. */
function hemAt(scene: Scene, x: number): number {
  const { torso } = scene
  const [left, right] = torso.span(torso.waistY)
  const ends = HEM_ENDS * (right - left)
  const inner = hemNear(scene, Math.min(Math.max(x, left + ends), right - ends))
  const [leftHip, rightHip] = torso.span(torso.hipY)
  if (!(x > leftHip && x < rightHip)) return inner
  return Math.min(inner, Math.max(torso.waistY, hemNear(scene, x)))
}

/** The garment's last row in the column, or in the nearest one that it reaches. */
function hemNear({ extent }: Scene, x: number): number {
  for (let step = 0; step < extent.last.length; step++) {
    for (const column of [Math.floor(x) - step, Math.floor(x) + step]) {
      const last = extent.last[column]
      if (last !== undefined && !Number.isNaN(last)) return last
    }
  }
  return extent.bottom
}

function underDress(scene: Scene, x: number, y: number, label: number): number {
  const { torso } = scene
  if (label === LABEL.top && scene.arms.some((arm) => isIn(arm, x, y))) return BECOMES.skin
  if (y > torso.hipY) {
    // Beside the skirt of the dress nothing of the legs is to be seen.
    const shown = y > hemNear(scene, x) - SOFT_EDGE && scene.legs.some((leg) => isIn(leg, x, y))
    return shown ? BECOMES.skin : BECOMES.ground
  }
  if (label === LABEL.bottom) return BECOMES.ground
  const part = trunk(scene, x, y)
  return part === BECOMES.bottom ? BECOMES.ground : part
}

function underLower(scene: Scene, x: number, y: number, label: number): number {
  const { torso, extent } = scene
  if (label === LABEL.top && !(torso.dressed && y > extent.top + SOFT_EDGE)) return BECOMES.keep
  // The sleeves of a dress end below its waist.
  const sleeve = LOOSE_SLEEVE * torso.size
  if (label === LABEL.top && scene.sleeves.some((arm) => isIn(arm, x, y, sleeve)))
    return BECOMES.keep
  if (y < extent.top + SOFT_EDGE) {
    if (torso.waistY < heightAt(torso, HIGHEST_WAIST)) return BECOMES.keep
    const [left, right] = torso.span(y)
    return x > left && x < right ? BECOMES.skin : BECOMES.ground
  }
  const below = y > scene.lowest[Math.floor(x)]! - SOFT_EDGE
  if (below && scene.legs.some((leg) => isIn(leg, x, y))) return BECOMES.skin
  return BECOMES.ground
}

function isIn(limb: Limb, x: number, y: number, margin = 0): boolean {
  const place = placeIn(limb, x, y)
  return place !== null && place.inside >= -margin
}
