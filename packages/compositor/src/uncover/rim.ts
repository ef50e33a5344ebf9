// The seam of old clothing: pixels that are labelled otherwise but show it.
import { distanceTo } from '../distance.ts'
import { LABEL } from '../parsing.ts'
import { pause } from '../pause.ts'
import { pixelsWhere, ramp } from '../raster.ts'
import { BECOMES, isClothes, type Decisions, type Measured, type UncoverPlan } from './becomes.ts'
import { placeIn } from './limbs.ts'
import { localColours, roughness } from './local-colours.ts'
import type { SkinModel } from './skin-model.ts'
import { labAt, type Small } from './small.ts'
import { roundOutline } from './smooth-plan.ts'

// Pixels of the analysis, unless a line says otherwise; chosen by experiment on the development photographs.
/** The rim of old clothing in which it is mixed with its neighbour or casts its shadow. */
const RIM = 3
/** Up to here clothing may be taken for ground or skin. */
const REACH = 12
/** Pixels of a label at this distance from clothing show what they are labelled. */
const SAFE = 5
/** The reach within which the colours of clothing and of the ground are learned. */
const CLOTH_REACH = 5
const GROUND_REACH = 7
/** The least share of a label around that says something about its colour. */
const LEAST_SHARE = 0.005
/** Differences in steps of 255 that mean nothing, and how much more of them a rough ground has. */
const NOISE = 5
const ROUGH = 3
/** Strips of skin thinner than a finger are seams of the clothing: half a strip, and the distance from wider skin. */
const STRIP = { half: 2, away: 3 }
/** The distance in Oklab's a and b up to which a colour is skin: of a strip, and of anything. */
const LIKE_STRIP = 0.022
const LIKE_SKIN = 0.04
/** At its outline a real arm is mixed with the ground; the cloth must be this many times nearer in colour there. */
const OUTLINE = 2.5
const MUCH_NEARER = 0.5
/** How far below the shoulders clothing reaches over the ground, in units of the body's size. */
const SHOULDERS = 0.15
/** Painted skin blends into real skin over this distance, at the outline of real skin over the second. */
const BLEND = { from: 1, to: 6 }
const BLEND_AT_OUTLINE = { from: 2, to: 4 }

export interface Rim {
  /** What every pixel becomes, as in a plan. */
  becomes: Uint8Array
  /** How much of the photo stays, from 0 to 1: partly where painted skin blends into real skin. */
  stays: Float32Array
}

/** The plan, with ground and skin repainted too where they are next to painted clothing or look like it. */
export async function withRim(
  plan: UncoverPlan,
  small: Small,
  skin: SkinModel | null,
): Promise<Rim> {
  const { width, height, parsing, torso, limbs } = plan
  const { labels } = parsing
  const becomes = plan.becomes.slice()
  const looksLikeCloth = clothTest(plan, small, skin)
  await pause()
  const onShoulders = (at: number) => {
    const y = Math.floor(at / width)
    const [left, right] = torso.span(y)
    return y < torso.shoulderY + SHOULDERS * torso.size && at % width > left && at % width < right
  }
  const onLimb = (at: number) => {
    const [x, y] = [(at % width) + 0.5, Math.floor(at / width) + 0.5]
    return limbs.some((limb) => (placeIn(limb, x, y)?.inside ?? -1) > 0)
  }
  const start = pixelsWhere(becomes.length, (at) => becomes[at] !== BECOMES.keep)
  grow(becomes, width, start, REACH, (at, what) => {
    if (!looksLikeCloth(at)) return BECOMES.keep
    if (labels[at] === LABEL.ground && what === BECOMES.skin && !onShoulders(at))
      return BECOMES.ground
    // The dark side of an arm is no clothing.
    if (labels[at] === LABEL.skin && what === BECOMES.ground && onLimb(at)) return BECOMES.keep
    return what
  })
  await pause()
  const grown = { width, height, becomes }
  roundOutline(grown, labels, torso)
  await pause()
  addRim(grown, labels)
  await pause()
  return { becomes, stays: blendSkin(grown, parsing) }
}

/** Tells which pixels of ground and skin have the colour of the clothing that goes. */
function clothTest(
  { becomes, parsing: { labels, fromCloth, fromGround } }: UncoverPlan,
  small: Small,
  skin: SkinModel | null,
): (at: number) => boolean {
  const fromOther = distanceTo(small, (at) => labels[at] !== LABEL.skin)
  const fromSolid = distanceTo(small, (at) => fromOther[at]! >= STRIP.half)
  const isGone = (at: number) => becomes[at] !== BECOMES.keep && isClothes(labels[at])
  const cloth = localColours(small, isGone, CLOTH_REACH)
  const isSafeGround = (at: number) => labels[at] === LABEL.ground && fromCloth[at]! >= SAFE
  const ground = localColours(small, isSafeGround, GROUND_REACH)
  const noise = NOISE + ROUGH * roughness(small, ground, isSafeGround)
  return (at) => {
    if (labels[at] !== LABEL.skin && labels[at] !== LABEL.ground) return false
    const toCloth = gap(small, cloth.rgb, at)
    const toGround = gap(small, ground.rgb, at)
    if (labels[at] === LABEL.skin) {
      if (!skin) return false
      const colour = labAt(small, at)
      if (fromSolid[at]! > STRIP.away && !skin.isLike(colour, LIKE_STRIP)) return true
      if (skin.isLike(colour, LIKE_SKIN)) return false
      return fromGround[at]! > OUTLINE || toCloth < MUCH_NEARER * toGround
    }
    if (ground.share[at]! < LEAST_SHARE || cloth.share[at]! < LEAST_SHARE) return false
    return toGround > noise && toCloth < toGround
  }
}

function gap({ rgb }: Small, other: Uint8ClampedArray, at: number): number {
  const red = rgb[0][at]! - other[at * 3]!
  const green = rgb[1][at]! - other[at * 3 + 1]!
  const blue = rgb[2][at]! - other[at * 3 + 2]!
  return Math.sqrt(red * red + green * green + blue * blue)
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

/** Ground and visible bottoms next to painted pixels are mixed with the old cloth. */
function addRim(plan: Decisions, labels: Uint8Array): void {
  const { becomes } = plan
  const isOther = (at: number) => labels[at] !== LABEL.ground && becomes[at] === BECOMES.keep
  const near = distanceTo(plan, (at) => becomes[at] !== BECOMES.keep)
  const nearBottom = distanceTo(plan, (at) => becomes[at] === BECOMES.bottom)
  const nearOthers = distanceTo(plan, isOther)
  for (let at = 0; at < becomes.length; at++) {
    if (becomes[at] !== BECOMES.keep) continue
    if (labels[at] === LABEL.ground && near[at]! <= RIM && near[at]! <= nearOthers[at]!) {
      becomes[at] = BECOMES.ground
    }
    if (labels[at] === LABEL.bottom && nearBottom[at]! <= RIM) becomes[at] = BECOMES.bottom
  }
}

/** Lets painted skin reach into real skin, and returns how much of the photo stays there. */
function blendSkin(plan: Decisions, { labels, fromGround }: Measured): Float32Array {
  const { becomes } = plan
  const near = distanceTo(plan, (at) => becomes[at] === BECOMES.skin)
  const stays = new Float32Array(becomes.length)
  for (let at = 0; at < becomes.length; at++) {
    if (becomes[at] !== BECOMES.keep) continue
    stays[at] = 1
    // The outline of real skin stays: there skin is mixed with the ground.
    const { from, to } = fromGround[at]! < OUTLINE ? BLEND_AT_OUTLINE : BLEND
    if (labels[at] !== LABEL.skin || near[at]! > to) continue
    stays[at] = ramp(near[at]!, from, to)
    becomes[at] = BECOMES.skin
  }
  return stays
}
