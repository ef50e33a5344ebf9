// The seam of old clothing: pixels that are labelled otherwise but show it.
import { labOf } from '../oklab.ts'
import { LABEL, type Parsing } from '../parsing.ts'
import { ramp } from '../raster.ts'
import { placeIn, type Limb } from './limbs.ts'
import { localColours, roughness } from './local-colours.ts'
import { distanceTo } from '../distance.ts'
import { BECOMES, type UncoverPlan } from './becomes.ts'
import { roundOutline } from './smooth-plan.ts'
import type { SkinModel } from './skin-model.ts'
import type { Small } from './small.ts'
import type { Torso } from './torso.ts'

/** Pixels of the analysis next to old clothing in which it is mixed with its neighbour or casts its shadow. */
const RIM = 3
/** Up to here clothing may be taken for ground or skin. */
const REACH = 12
/** Pixels of a label at this distance from clothing show what they are labelled. */
const SAFE = 5
/** Differences in steps of 255 that mean nothing. */
const NOISE = 5
/** Painted skin blends into real skin over this distance. */
const BLEND = 6

export interface Rim {
  /** What every pixel becomes, as in a plan. */
  becomes: Uint8Array
  /** How much of the photo stays, from 0 to 1: partly where painted skin blends into real skin. */
  stays: Float32Array
}

/** The plan, with ground and skin repainted too where they are next to painted clothing or look like it. */
export function withRim(
  plan: UncoverPlan,
  { labels }: Parsing,
  small: Small,
  skin: SkinModel | null,
  limbs: readonly Limb[],
  torso: Torso,
): Rim {
  const { width, height } = plan
  const becomes = plan.becomes.slice()
  const changes = (at: number) => plan.becomes[at] !== BECOMES.keep
  const isCloth = (at: number) => labels[at] === LABEL.top || labels[at] === LABEL.bottom
  const fromCloth = distanceTo(isCloth, width, height)
  const fromOther = distanceTo((at) => labels[at] !== LABEL.skin, width, height)
  // Strips thinner than a finger are seams of the clothing.
  const fromSolid = distanceTo((at) => fromOther[at]! >= 2, width, height)
  const fromGround = distanceTo((at) => labels[at] === LABEL.ground, width, height)
  const cloth = localColours(small, (at) => changes(at) && isCloth(at), 5)
  const ofLabel = (label: number) =>
    localColours(small, (at) => labels[at] === label && fromCloth[at]! >= SAFE, 7)
  const ground = ofLabel(LABEL.ground)
  const noise =
    NOISE +
    3 * roughness(small, ground, (at) => labels[at] === LABEL.ground && fromCloth[at]! >= SAFE)
  const looksLikeCloth = (at: number) => {
    if (labels[at] === LABEL.skin) {
      if (!skin) return false
      const colour = labAt(small, at)
      if (fromSolid[at]! > 3 && !skin.isLike(colour, 0.022)) return true
      if (skin.isLike(colour, 0.04)) return false
      // At its outline a real arm is mixed with the ground.
      return fromGround[at]! > 2.5 || gap(small, cloth.rgb, at) < 0.5 * gap(small, ground.rgb, at)
    }
    if (labels[at] !== LABEL.ground) return false
    if (ground.share[at]! < 0.005 || cloth.share[at]! < 0.005) return false
    const toGround = gap(small, ground.rgb, at)
    return toGround > noise && gap(small, cloth.rgb, at) < toGround
  }
  const onShoulders = (at: number) => {
    const y = Math.floor(at / width)
    const [left, right] = torso.span(y)
    return y < torso.shoulderY + 0.15 * torso.size && at % width > left && at % width < right
  }
  const onLimb = (at: number) => {
    const [x, y] = [(at % width) + 0.5, Math.floor(at / width) + 0.5]
    return limbs.some((limb) => (placeIn(limb, x, y)?.inside ?? -1) > 0)
  }
  const start: number[] = []
  for (let at = 0; at < becomes.length; at++) if (changes(at)) start.push(at)
  grow(becomes, width, start, REACH, (at, what) => {
    if (!looksLikeCloth(at)) return BECOMES.keep
    if (labels[at] === LABEL.ground && what === BECOMES.skin && !onShoulders(at))
      return BECOMES.ground
    // The dark side of an arm is no clothing.
    if (labels[at] === LABEL.skin && what === BECOMES.ground && onLimb(at)) return BECOMES.keep
    return what
  })
  roundOutline({ width, height, becomes }, labels, torso)
  if (skin) removeStraps(becomes, labels, small, skin, torso)
  addRim(becomes, labels, width, height)
  return { becomes, stays: blendSkin(becomes, labels, width, height) }
}

const labAt = ({ rgb }: Small, at: number) =>
  labOf(Math.round(rgb[0][at]!), Math.round(rgb[1][at]!), Math.round(rgb[2][at]!))

function gap({ rgb }: Small, other: Uint8ClampedArray, at: number): number {
  return Math.hypot(
    rgb[0][at]! - other[at * 3]!,
    rgb[1][at]! - other[at * 3 + 1]!,
    rgb[2][at]! - other[at * 3 + 2]!,
  )
}

/** Spreads from pixel to pixel, up to `reach` steps, what pixels become; `decide` returns `keep` where it ends. */
function grow(
  becomes: Uint8Array,
  width: number,
  start: readonly number[],
  reach: number,
  decide: (at: number, what: number) => number,
): void {
  let front = start
  for (let round = 0; round < reach && front.length > 0; round++) {
    const next: number[] = []
    for (const at of front) {
      const x = at % width
      // Diagonally too: a strap can be one pixel wide.
      for (const step of [-width - 1, -width, -width + 1, -1, 1, width - 1, width, width + 1]) {
        const other = at + step
        if (Math.abs((other % width) - x) > 1) continue
        if (other < 0 || other >= becomes.length || becomes[other] !== BECOMES.keep) continue
        const what = decide(other, becomes[at]!)
        if (what === BECOMES.keep) continue
        becomes[other] = what
        next.push(other)
      }
    }
    front = next
  }
}

/** Straps are thin enough to be labelled skin: from the top upwards, what is darker or of another hue than skin. */
function removeStraps(
  becomes: Uint8Array,
  labels: Uint8Array,
  small: Small,
  skin: SkinModel,
  { size, shoulderY, span }: Torso,
): void {
  const { width, height } = small
  const inZone = (at: number) => {
    const y = Math.floor(at / width)
    if (y < shoulderY - 0.2 * size || y > shoulderY + 0.9 * size) return false
    const [left, right] = span(Math.max(y, shoulderY))
    const aside = Math.abs((at % width) + 0.5 - (left + right) / 2)
    return aside > 0.17 * size && aside < 0.6 * size
  }
  const start: number[] = []
  for (let at = 0; at < becomes.length; at++) {
    if (labels[at] === LABEL.top && becomes[at] === BECOMES.skin && inZone(at)) start.push(at)
  }
  if (start.length === 0) return
  const fromOther = distanceTo(
    (at) => labels[at] !== LABEL.skin && labels[at] !== LABEL.top,
    width,
    height,
  )
  const usual = localColours(small, (at) => labels[at] === LABEL.skin, 10)
  grow(becomes, width, start, Math.round(1.1 * size), (at) => {
    if (labels[at] !== LABEL.skin || fromOther[at]! < 2 || !inZone(at)) return BECOMES.keep
    const colour = labAt(small, at)
    const around = labOf(usual.rgb[at * 3]!, usual.rgb[at * 3 + 1]!, usual.rgb[at * 3 + 2]!)
    const isStrap = !skin.isLike(colour, 0.04) || colour[0] < around[0] - 0.06
    return isStrap ? BECOMES.skin : BECOMES.keep
  })
}

/** Ground and visible bottoms next to painted pixels are mixed with the old cloth. */
function addRim(becomes: Uint8Array, labels: Uint8Array, width: number, height: number): void {
  const near = distanceTo((at) => becomes[at] !== BECOMES.keep, width, height)
  const nearBottom = distanceTo((at) => becomes[at] === BECOMES.bottom, width, height)
  const nearOthers = distanceTo(
    (at) => labels[at] !== LABEL.ground && becomes[at] === BECOMES.keep,
    width,
    height,
  )
  for (let at = 0; at < becomes.length; at++) {
    if (becomes[at] !== BECOMES.keep) continue
    if (labels[at] === LABEL.ground && near[at]! <= RIM && near[at]! <= nearOthers[at]!) {
      becomes[at] = BECOMES.ground
    }
    if (labels[at] === LABEL.bottom && nearBottom[at]! <= RIM) becomes[at] = BECOMES.bottom
  }
}

function blendSkin(
  becomes: Uint8Array,
  labels: Uint8Array,
  width: number,
  height: number,
): Float32Array {
  const near = distanceTo((at) => becomes[at] === BECOMES.skin, width, height)
  const fromGround = distanceTo((at) => labels[at] === LABEL.ground, width, height)
  const stays = new Float32Array(becomes.length)
  for (let at = 0; at < becomes.length; at++) {
    if (becomes[at] !== BECOMES.keep) continue
    stays[at] = 1
    if (labels[at] !== LABEL.skin || near[at]! > BLEND) continue
    // The outline of real skin stays: there skin is mixed with the ground.
    const blend = fromGround[at]! < 2.5 ? 4 : BLEND
    if (near[at]! > blend) continue
    stays[at] = ramp(near[at]!, blend < BLEND ? 2 : 1, blend)
    becomes[at] = BECOMES.skin
  }
  return stays
}
