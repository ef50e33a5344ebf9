// The cost of each label at each pixel, from colour and place. A cost is a negative logarithm of a
// probability, as in `colourCosts`: 3 is unlikely, 8 needs strong colours against it. Places are those of
// `Frame`: shoulder widths, shares of the torso, joints of a limb. Two of them are a span along which a cost
// rises or falls, and the number before it is the most that it adds. All were chosen by experiment.
import { clamp, ramp } from '../raster.ts'
import { isOuter } from './coat.ts'
import type { Colours } from './colours.ts'
import type { CoverEnd } from './cover.ts'
import { IMPOSSIBLE } from './expansion.ts'
import { HAND, INNER_TORSO, NEAR_ARM, onArm, within, type Frame, type Span } from './frame.ts'
import { LABEL, LABEL_COUNT } from './labels.ts'

/** How much a colour counts beside the place: neighbouring pixels are no independent witnesses. */
const COLOUR = 0.5
/** The cost of a colour that no model has learned. */
const UNKNOWN = 7
/** The cost of a colour of the top that was not learned: a print, a button, a strap. */
const ODD = 8
/** What it costs to call a limb covered beyond the clothing's end, or bare before it. */
const COVER = 3
/** The cost of the ground where none was seen, and the most that a colour may say against skin or ground. */
const UNSEEN_GROUND = 3
const MOST_AGAINST = 12
/** The mask's probabilities are believed up to this distance from 0 and 1, and count at most so much. */
const MASK_DOUBT = 0.003
const MASK_MOST = 5
/** How much a mask counts that may show a gap between limbs, and ground that can be followed. */
const GAP_TRUST = 1.5
const OPEN_TRUST = 2
/** The most that the colour of eyes, brows and mouth says against a face. */
const MOST_AGAINST_FACE = 5

/** By `Frame.face`: eyes, brows and mouth; nothing but face; its ends; where hair ends; where no bag is. */
const FACE = { features: 0.85, inner: 0.9, chin: [0.9, 1.2], hairline: [1.4, 1.8] } as const
const HEAD = { hair: [1.9, 2.6], noItem: 1.4 } as const
/** By `Frame.faceDown`: all skin above is face; the chin ends it below, and shades the neck (aside: half widths). */
const FACE_DOWN = { allFace: 0.2, chin: 0.3, shade: [0.7, 0.9], shadeAside: [0.6, 0.9] } as const
/** By `Frame.down`: the torso; gaps and straps beside it; necklines; few tops; how far garments pass the waist. */
const TORSO_END = 1.1
const TORSO = { whole: [0, TORSO_END], core: [0.05, TORSO_END], belly: [0.5, TORSO_END] } as const
const BESIDE = { straps: [-0.12, TORSO_END], gaps: [-0.1, TORSO_END] } as const
const CHEST = { all: [-0.1, 0.35], low: [0.05, 0.35] } as const
const ABOVE_TOP = { collar: [-0.1, 0], neck: [-0.4, -0.1], hood: [-0.5, -0.25] } as const
const WAIST = { free: 0.04, never: 0.12, coat: 1 }
/** By the size of `Frame.across`: the sides of neck and torso, a bare shoulder's end, a neck's in a hood, a top's. */
const ASIDE = {
  neck: 0.2,
  torso: 0.25,
  shoulder: [0.25, 0.6],
  hood: [0.15, 0.3],
  top: [0.55, 0.75],
} as const
/** Hair by `Frame.down`; by `Frame.across`, where it counts as farther aside the lower it is; over the throat. */
const HAIR = { head: -0.35, shoulders: [-0.15, 0.05], long: [0.05, 0.8] } as const
const HAIR_ASIDE = { slant: 0.5, end: [0.5, 0.75] } as const
const THROAT = { down: [-0.1, 0.1], aside: [0.08, 0.16] } as const
/** The slope from neck to shoulder: its end by `Frame.across`, its height at the neck in torsos, and a torso in shoulders. */
const SLOPE = { end: 0.5, height: 0.14, torso: 1.6 } as const
/** Away from the body the mask fills gaps: from torso or arm, a leg's thickness, the share of `Frame.face`. */
const GAP = { away: [0.06, 0.18], leg: 0.05, face: 0.2, bone: 0.06 } as const
/** By the distance from bones: surely the limb; bare arms and hands, cuffs, sleeves; bags at a hand; legs. */
const ON_BONES = 0.1
const ARM = { bare: 0.13, hand: 0.2, fading: 0.15, cuff: 0.14, sleeve: [0.22, 0.3] } as const
const BAG = [0.4, 0.8] as const
const LEG = { bare: [0.18, 0.35], shoe: [0.3, 0.5] } as const
/** In joints: along arms and legs, and beyond the clothing's end, where it may still be. */
const ARM_AT = { cuff: [1.95, 2.2], fingers: 2.1, bag: 1.7 } as const
const LEG_AT = { thigh: 0.4, noShoe: 1.6, shoe: [1.75, 2], foot: [2.2, 2.6] } as const
const PAST = { end: [0.02, 0.12], slantedHem: [0.1, 0.3], sleeve: 0.15 } as const
/** A wide cuff: where sleeves are long, in joints; from the bones; from the sleeve's end, in joints. */
const CUFF = { from: 1.5, aside: 0.2, along: 0.4 }
/** The cost of a colour from which on no model explains it. */
const UNEXPLAINED = [3, 7] as const

const rising = (value: number, span: Span) => ramp(value, span[0], span[1])
const falling = (value: number, span: Span) => ramp(-value, -span[1], -span[0])
const past = (beyond: number) => rising(beyond, PAST.end)

/** What is known of each pixel of a list. */
export interface Clues {
  frame: Frame
  /** The place of its colour in the tables. */
  indices: Uint16Array
  /** The probability of a person. */
  person: Float32Array
  /** See `groundCosts`; null when no ground is seen. */
  ground: Float32Array | null
  /** See `openGround`. */
  open: Uint8Array
}

/** The costs of the listed pixels, see `Energy.costs`. */
export function labelCosts(clues: Clues, colours: Colours): Float32Array {
  const { frame, indices, person, ground, open } = clues
  const costs = new Float32Array(indices.length * LABEL_COUNT)
  for (let i = 0; i < indices.length; i++) {
    const at = i * LABEL_COUNT
    const colour = indices[i]!
    const inside = Math.min(maskCost(person[i]!), maskTrust(frame, i, open[i] === 1))
    const noPerson = Math.max(0, -inside)
    const skin = Math.min(
      isLit(frame, i) ? colours.litSkin[colour]! : colours.skin[colour]!,
      MOST_AGAINST,
    )
    costs[at + LABEL.ground] =
      Math.max(0, inside) + COLOUR * Math.min(ground?.[i] ?? UNSEEN_GROUND, MOST_AGAINST)
    costs[at + LABEL.hair] = noPerson + COLOUR * colours.hair[colour]! + hairPlace(frame, i)
    costs[at + LABEL.face] = noPerson + COLOUR * faceColour(frame, i, skin) + facePlace(frame, i)
    costs[at + LABEL.skin] = noPerson + COLOUR * skin + skinPlace(frame, i, colours)
    costs[at + LABEL.top] =
      noPerson +
      COLOUR * topColour(frame, i, topCost(colours, colour)) +
      topPlace(frame, i, colours, colour)
    costs[at + LABEL.bottom] =
      noPerson + COLOUR * colours.bottom[colour]! + bottomPlace(frame, i, colours)
    costs[at + LABEL.shoes] =
      noPerson + COLOUR * UNKNOWN + shoesPlace(frame, i, colours.bottom[colour]!)
    costs[at + LABEL.item] = noPerson + itemColour(colours, colour) + itemPlace(frame, i, colours)
  }
  return costs
}

/** The label with the least cost of its own at each pixel. */
export function cheapest(costs: Float32Array): Uint8Array {
  const labels = new Uint8Array(costs.length / LABEL_COUNT)
  for (let i = 0; i < labels.length; i++) labels[i] = cheapestAt(costs, i)
  return labels
}

/** The label with the least cost at one of them. */
export function cheapestAt(costs: Float32Array, i: number): number {
  let best = 0
  for (let label = 1; label < LABEL_COUNT; label++) {
    if (costs[i * LABEL_COUNT + label]! < costs[i * LABEL_COUNT + best]!) best = label
  }
  return best
}

/** What the mask says against the ground; negative when it excludes a person. */
const maskCost = (p: number) =>
  clamp(Math.log((p + MASK_DOUBT) / (1 - p + MASK_DOUBT)), -MASK_MOST, MASK_MOST)

/** How far a mask that shows a person can be trusted: it fills the gaps between limbs. */
function maskTrust(frame: Frame, i: number, open: boolean): number {
  const { down, across, face, armDistance, legDistance } = frame
  const aside = Math.abs(across[i]!)
  const core = aside < INNER_TORSO && within(down[i]!, TORSO.core)
  if (open && !core && face[i]! > 1 && armDistance[i]! > GAP.bone) return OPEN_TRUST
  const besideTorso = within(down[i]!, BESIDE.gaps) ? aside - ASIDE.torso : 1
  const slope = clamp((SLOPE.end - aside) / (SLOPE.end - ASIDE.neck), 0, 1) * SLOPE.height
  const aboveSlope = aside < SLOPE.end && down[i]! < 0 ? SLOPE.torso * (-down[i]! - slope) : 1
  const besideLeg = legDistance[i]! - GAP.leg
  const away = Math.min(
    besideTorso,
    aboveSlope,
    armDistance[i]!,
    besideLeg,
    GAP.face * (face[i]! - 1),
  )
  return MASK_MOST - (MASK_MOST - GAP_TRUST) * rising(away, GAP.away)
}

/** Eyes, brows and lips are no skin, yet face. */
const faceColour = ({ face }: Frame, i: number, skin: number) =>
  face[i]! < FACE.features ? Math.min(skin, MOST_AGAINST_FACE) : skin

/** On face, neck and chest what is dark is a brow, hair or a strap rather than shaded skin. */
const isLit = (frame: Frame, i: number) => frame.down[i]! < CHEST.all[1] && !onArm(frame, i)

/** On the torso, and where straps run, unusual colours are the top's rather than anything else. */
function topColour({ down, across }: Frame, i: number, cost: number): number {
  const strap = within(down[i]!, BESIDE.straps) && Math.abs(across[i]!) > ASIDE.neck
  return strap || within(down[i]!, TORSO.whole) ? Math.min(ODD, cost) : cost
}

function hairPlace({ face, faceDown, down, across }: Frame, i: number): number {
  const above = rising(face[i]!, HEAD.hair)
  if (down[i]! < HAIR.head) {
    return 12 * above + (face[i]! < FACE.features ? 3 : 0) + 2.5 * underChin(face[i]!, faceDown[i]!)
  }
  if (down[i]! > HAIR.long[1]) return IMPOSSIBLE
  const aside = Math.abs(across[i]!) + HAIR_ASIDE.slant * Math.max(0, down[i]!)
  const throat = 1.5 * falling(Math.abs(across[i]!), THROAT.aside) * falling(down[i]!, THROAT.down)
  const low = 0.6 * rising(down[i]!, HAIR.shoulders) + 2 * rising(down[i]!, HAIR.long)
  return 0.3 + low + 8 * rising(aside, HAIR_ASIDE.end) + throat
}

/** Where the chin shades the neck, from 0 to 1. */
function underChin(face: number, faceDown: number): number {
  const aside = Math.sqrt(Math.max(0, face * face - faceDown * faceDown))
  return rising(faceDown, FACE_DOWN.shade) * falling(aside, FACE_DOWN.shadeAside)
}

/** Below, the face ends at the chin; above, all skin is face. */
function facePlace({ face, faceDown }: Frame, i: number): number {
  if (face[i]! > FACE.hairline[1]) return IMPOSSIBLE
  return 8 * rising(face[i]!, faceDown[i]! > FACE_DOWN.chin ? FACE.chin : FACE.hairline)
}

function skinPlace(frame: Frame, i: number, { sleeves, hems, hasHood }: Colours): number {
  const down = frame.down[i]!
  const across = Math.abs(frame.across[i]!)
  const { armDistance, armAt, legDistance, legAt, face, faceDown } = frame
  const allFace = face[i]! < FACE.hairline[0] && faceDown[i]! < FACE_DOWN.allFace
  if (face[i]! < FACE.inner || allFace) return 4
  let cost = 4.5
  if (down < 0) cost = Math.min(cost, 5 * rising(across, hasHood ? ASIDE.hood : ASIDE.shoulder))
  if (within(down, CHEST.all)) cost = Math.min(cost, 0.2 + 3 * rising(down, CHEST.low))
  if (within(down, TORSO.belly)) cost = Math.min(cost, 1.5)
  const reach = armAt[i]! > HAND ? ARM.hand : ARM.bare
  const sleeve = sleeves[frame.armSide[i]!]!
  const armCover = COVER * sleeve.certainty * past(sleeve.at - armAt[i]!)
  cost = Math.min(cost, 4 * ramp(armDistance[i]!, reach, reach + ARM.fading) + armCover)
  const hem = hems[frame.legSide[i]!]!
  const legCover = COVER * hem.certainty * past(hem.at - legAt[i]!)
  const upperThigh = legAt[i]! > LEG_AT.thigh ? 0 : 2
  cost = Math.min(cost, 4 * rising(legDistance[i]!, LEG.bare) + Math.max(upperThigh, legCover))
  return armDistance[i]! < ON_BONES ? Math.max(cost, armCover) : cost
}

/** Of an open coat little may be seen where tops are learned from. */
const topCost = ({ top, coat }: Colours, colour: number) =>
  coat ? Math.min(top[colour]!, coat.outer[colour]!) : top[colour]!

function topPlace(frame: Frame, i: number, colours: Colours, colour: number): number {
  const { waist, coat, onePiece, sleeves, hems, hasHood } = colours
  const down = frame.down[i]!
  const across = Math.abs(frame.across[i]!)
  const [armDistance, armAt] = [frame.armDistance[i]!, frame.armAt[i]!]
  if (frame.face[i]! < FACE.inner) return 8
  const isCoat = coat !== null && isOuter(coat, colour)
  const isHood = hasHood && across > ASIDE.neck
  let cost = 6 * falling(down, isHood ? ABOVE_TOP.hood : ABOVE_TOP.neck) + onFoot(frame, i)
  // Collars are rarer than bare necks.
  if (across < ASIDE.neck) cost += 1.5 * falling(down, ABOVE_TOP.collar)
  const sleeve = sleeves[frame.armSide[i]!]!
  if (onePiece) cost += belowHem(frame, i, hems)
  else if (!onSleeve(frame, i, sleeve) && !onCuff(frame, i, sleeve))
    cost +=
      (isCoat ? WAIST.coat : 8) * ramp(down, waist.down - WAIST.free, waist.down + WAIST.never)
  if (!isCoat) cost += 3 * Math.min(rising(armDistance, ARM.sleeve), rising(across, ASIDE.top))
  if (armDistance < ARM.cuff) cost += 1.5 * rising(armAt, ARM_AT.cuff)
  // Where the fingers are is only guessed.
  if (armDistance < ON_BONES && armAt < ARM_AT.fingers)
    cost += COVER * sleeve.certainty * past(armAt - sleeve.at)
  return cost
}

function bottomPlace(frame: Frame, i: number, { waist, onePiece, hems, sleeves }: Colours): number {
  if (onePiece) return IMPOSSIBLE
  const above = ramp(-frame.down[i]!, WAIST.free - waist.down, WAIST.never - waist.down)
  const cost = onFoot(frame, i) + 8 * above
  const sleeve = sleeves[frame.armSide[i]!]!
  return cost + belowHem(frame, i, hems) + (onSleeve(frame, i, sleeve) ? 2.5 : 0)
}

/** Clothing of the legs ends at the hem; away from the bones less exactly so, as hems may be slanted. */
function belowHem({ legSide, legAt, legDistance }: Frame, i: number, hems: CoverEnd[]): number {
  const { at, certainty } = hems[legSide[i]!]!
  const end = legDistance[i]! < ON_BONES ? PAST.end : PAST.slantedHem
  return COVER * certainty * rising(legAt[i]! - at, end)
}

/** @param bottom the cost of the colour as that of trousers, which cover the upper part of the shoes */
function shoesPlace({ legAt, legDistance }: Frame, i: number, bottom: number): number {
  if (legAt[i]! < LEG_AT.noShoe) return IMPOSSIBLE
  const covered = 3 * falling(legAt[i]!, LEG_AT.foot) * falling(bottom, UNEXPLAINED)
  return covered + 4 * falling(legAt[i]!, LEG_AT.shoe) + 3 * rising(legDistance[i]!, LEG.shoe) - 1.5
}

/** Clothing ends above the foot. */
const onFoot = ({ legAt }: Frame, i: number) => 5 * rising(legAt[i]!, LEG_AT.foot)

/** An item is what no model explains, until it has its own. */
function itemColour({ top, bottom, skin, item }: Colours, colour: number): number {
  const known = Math.min(top[colour]!, bottom[colour]!, skin[colour]!)
  const unknown = COLOUR * UNKNOWN + 3 * falling(known, UNEXPLAINED)
  return item ? Math.min(unknown, COLOUR * item[colour]!) : unknown
}

function itemPlace(frame: Frame, i: number, { hasHood }: Colours): number {
  const { face, down, armDistance, armAt } = frame
  if (face[i]! < HEAD.noItem || (hasHood && down[i]! < 0)) return 6
  return armAt[i]! > ARM_AT.bag ? 1 + 2 * rising(armDistance[i]!, BAG) : 3
}

const onSleeve = ({ armDistance, armAt }: Frame, i: number, { at }: CoverEnd) =>
  armDistance[i]! < NEAR_ARM && armAt[i]! < at + PAST.sleeve

/** Whether a wide cuff of a long sleeve may be there. It can hide a part of the hand. */
const onCuff = ({ armDistance, armAt }: Frame, i: number, { at }: CoverEnd) =>
  at > CUFF.from && armDistance[i]! < CUFF.aside && Math.abs(armAt[i]! - at) < CUFF.along
