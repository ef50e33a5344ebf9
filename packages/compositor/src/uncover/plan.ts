// What the old clothing beside the new garment must become.
import { LABEL, type Parsing } from '../parsing.ts'
import type { Pose } from '../perception.ts'
import type { Plane } from '../plane.ts'
import { clamp, lerp, type Point } from '../raster.ts'
import { BECOMES, type UncoverPlan } from './becomes.ts'
import { bodySize, labelAt, limbsOf, placeIn, type Limb } from './limbs.ts'
import { componentsOf } from './morphology.ts'
import { reachUnder, roundOutline, tidy } from './smooth-plan.ts'
import { withoutStrays } from './strays.ts'
import { torsoOf, type Torso } from './torso.ts'

export type GarmentKind = 'top' | 'dress' | 'trousers' | 'skirt'

/** Under the new garment's own edge everything is painted, so that no old cloth shines through. */
const COVERED = 0.97

/**
 * Decides for each pixel of old clothing that the new garment does not cover what must be shown instead.
 * All arguments are in the size of the parsing. Clothing that stays (trousers under a new top, a top over
 * new trousers, the skirt of a dress under a new top) stays.
 *
 * @param covered the alpha of the new garment
 */
export function planUncovering(
  original: Parsing,
  pose: Pose,
  covered: Plane,
  kind: GarmentKind,
): UncoverPlan {
  const parsing = withoutStrays(original, bodySize(pose))
  const { width, height, labels } = parsing
  const plan: UncoverPlan = { width, height, becomes: new Uint8Array(width * height) }
  const extent = extentOf(covered)
  if (!extent || !Object.values(pose).every((joint) => Number.isFinite(joint.x + joint.y)))
    return plan
  const torso = torsoOf(parsing, pose)
  const limbs = limbsOf(parsing, pose)
  const arms = limbs.filter((limb) => limb.kind === 'arm')
  const scene: Scene = {
    torso,
    arms,
    sleeves: arms.filter((arm) => isSleeved(arm, parsing)),
    legs: limbs.filter((limb) => limb.kind === 'leg'),
    extent,
    trousers: trouserSides(parsing, torso),
  }
  const isCloth = (at: number) => labels[at] === LABEL.top || labels[at] === LABEL.bottom
  const { numbers, areas } = componentsOf(isCloth, width, height)
  const firstRows = areas.map(() => height)
  for (let at = numbers.length - 1; at >= 0; at--) firstRows[numbers[at]!] = Math.floor(at / width)
  const feet = feetFrom(pose, torso.size)
  // Specks of noise and pieces of shoes stay.
  const stays = (piece: number) =>
    areas[piece]! < 0.003 * torso.size ** 2 || firstRows[piece]! > feet
  const decide = kind === 'top' ? underTop : kind === 'dress' ? underDress : underLower
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      const label = labels[at]!
      if (label !== LABEL.top && label !== LABEL.bottom) continue
      if (covered.data[at]! >= COVERED || stays(numbers[at]!)) continue
      plan.becomes[at] = decide(scene, x + 0.5, y + 0.5, label)
    }
  }
  tidy(plan)
  roundOutline(plan, labels, torso)
  reachUnder(plan, labels, covered)
  return plan
}

function isSleeved(arm: Limb, parsing: Parsing): boolean {
  const cloth = arm.axis.filter(({ x, y }) => labelAt(parsing, x, y) === LABEL.top)
  return cloth.length > 0.5 * arm.axis.length
}

/** The row below which only feet are; Infinity when no ankle is seen. */
function feetFrom(pose: Pose, size: number): number {
  const ankles = [pose.leftAnkle, pose.rightAnkle].filter(({ score }) => score > 0.3)
  return Math.min(Infinity, ...ankles.map(({ y }) => y - 0.1 * size))
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

/** The sides of the trousers or skirt just below where the old top ends, which may be aslant; null without one. */
function trouserSides(parsing: Parsing, torso: Torso): Scene['trousers'] {
  const [left, right] = torso.span(torso.hipY)
  const out = 0.2 * torso.size
  const leftEnd = trouserSide(parsing, torso, left - out, lerp(left, right, 0.4), 1)
  const rightEnd = trouserSide(parsing, torso, right + out, lerp(left, right, 0.6), -1)
  return leftEnd && rightEnd && rightEnd.x - leftEnd.x > 0.5 * torso.size
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
  if (starts.length < 0.5 * Math.abs(inner - outer) - 0.2 * torso.size) return null
  const sorted = starts.toSorted((a, b) => a - b)
  const y = Math.min(height - 1, (sorted[sorted.length >> 1] ?? height) + 4)
  let x = clamp(Math.round(outer), 0, width - 1)
  while (x !== Math.round(inner) && labels[y * width + x] !== LABEL.bottom) x += step
  return { x: step > 0 ? x : x + 1, y }
}

function underTop(scene: Scene, x: number, y: number, label: number): number {
  if (label !== LABEL.top) return BECOMES.keep
  const { torso } = scene
  if (scene.arms.some((arm) => isIn(arm, x, y))) return BECOMES.skin
  // Below the new hem a dress serves as the skirt.
  if (torso.dressed && y > hemAt(scene, x) - 1) return BECOMES.keep
  return trunk(scene, x, y)
}

/** The trunk beside, above and below the new garment. */
function trunk(scene: Scene, x: number, y: number): number {
  const { torso, extent } = scene
  const [left, right] = torso.span(y)
  const below = y > hemAt(scene, x) - 1 && y > torso.shoulderY
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
  if (below || Number.isNaN(first) || y < first + 1) {
    if (!below && y > torso.shoulderY + 0.5 * (torso.hipY - torso.shoulderY)) return BECOMES.ground
    return BECOMES.skin
  }
  return y < torso.shoulderY + 0.45 * (torso.hipY - torso.shoulderY) ? BECOMES.skin : BECOMES.ground
}

/** A strip of belly narrower than this is taken for a part of the trousers. */
function gapAllowed({ torso, extent }: Scene): number {
  const strip = torso.waistY - extent.bottom
  return strip < 0.07 * (torso.hipY - torso.shoulderY) ? Math.max(0, strip) + 2 : 0
}

/** The height of the garment's hem at the column, without its sleeves. */
function hemAt(scene: Scene, x: number): number {
  const { torso } = scene
  const [left, right] = torso.span(torso.waistY)
  const inner = Math.min(Math.max(x, left + 0.15 * (right - left)), right - 0.15 * (right - left))
  return hemNear(scene, inner)
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
    const shown = y > hemNear(scene, x) - 2 && scene.legs.some((leg) => isIn(leg, x, y))
    return shown ? BECOMES.skin : BECOMES.ground
  }
  if (label === LABEL.bottom) return BECOMES.ground
  const part = trunk(scene, x, y)
  return part === BECOMES.bottom ? BECOMES.ground : part
}

function underLower(scene: Scene, x: number, y: number, label: number): number {
  const { torso, extent } = scene
  if (label === LABEL.top && !(torso.dressed && y > extent.top + 2)) return BECOMES.keep
  // The sleeves of a dress end below its waist.
  const sleeve = 0.07 * torso.size
  if (label === LABEL.top && scene.sleeves.some((arm) => isIn(arm, x, y, sleeve)))
    return BECOMES.keep
  const last = extent.last[Math.floor(x)]!
  if (y < extent.top + 2) {
    const [left, right] = torso.span(y)
    return x > left && x < right ? BECOMES.skin : BECOMES.ground
  }
  const below = Number.isNaN(last) ? y > extent.bottom - 2 : y > last - 2
  if (below && scene.legs.some((leg) => isIn(leg, x, y))) return BECOMES.skin
  return BECOMES.ground
}

function isIn(limb: Limb, x: number, y: number, margin = 0): boolean {
  const place = placeIn(limb, x, y)
  return place !== null && place.inside >= -margin
}
