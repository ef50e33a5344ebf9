// The cost of each label at each pixel, from colour and place. A cost is a negative logarithm of a
// probability, as in `colourCosts`: 3 is unlikely, 8 needs strong colours against it. Places are those of
// `Frame`: shoulder widths, shares of the torso, joints of a limb. All were chosen by experiment.
import { clamp, ramp } from '../raster.ts'
import type { Colours } from './colours.ts'
import type { CoverEnd } from './cover.ts'
import { IMPOSSIBLE } from './expansion.ts'
import type { Frame } from './frame.ts'
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
/** `Frame.face` within which a feature is eye, brow or mouth, and the most that its colour says against a face. */
const FEATURES = 0.85
const MOST_AGAINST_FACE = 5

/** From 0 to 1 over the joints beyond the clothing's end where it may still be. */
const past = (beyond: number) => ramp(beyond, 0.02, 0.12)

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
      noPerson + COLOUR * topColour(frame, i, colours.top[colour]!) + topPlace(frame, i, colours)
    costs[at + LABEL.bottom] =
      noPerson + COLOUR * colours.bottom[colour]! + bottomPlace(frame, i, colours)
    costs[at + LABEL.shoes] = noPerson + COLOUR * UNKNOWN + shoesPlace(frame, i)
    costs[at + LABEL.item] = noPerson + itemColour(colours, colour) + itemPlace(frame, i)
  }
  return costs
}

/** What the mask says against the ground; negative when it excludes a person. */
const maskCost = (p: number) =>
  clamp(Math.log((p + MASK_DOUBT) / (1 - p + MASK_DOUBT)), -MASK_MOST, MASK_MOST)

/** How far a mask that shows a person can be trusted: it fills the gaps between limbs. */
function maskTrust(frame: Frame, i: number, open: boolean): number {
  const { down, across, face, armDistance, legDistance } = frame
  const core = Math.abs(across[i]!) < 0.3 && down[i]! > 0.05 && down[i]! < 1.1
  if (open && !core && face[i]! > 1) return OPEN_TRUST
  const besideTorso = down[i]! > -0.1 && down[i]! < 1.1 ? Math.abs(across[i]!) - 0.25 : 1
  const away = Math.min(besideTorso, armDistance[i]!, legDistance[i]! - 0.05, 0.2 * (face[i]! - 1))
  return MASK_MOST - (MASK_MOST - GAP_TRUST) * ramp(away, 0.06, 0.18)
}

/** Eyes, brows and lips are no skin, yet face. */
const faceColour = ({ face }: Frame, i: number, skin: number) =>
  face[i]! < FEATURES ? Math.min(skin, MOST_AGAINST_FACE) : skin

/** On face, neck and chest what is dark is a brow, hair or a strap rather than shaded skin. */
const isLit = ({ down, armDistance, armAt }: Frame, i: number) =>
  down[i]! < 0.35 && (armDistance[i]! > 0.12 || armAt[i]! < 0.3)

/** On the torso, and where straps run, unusual colours are the top's rather than anything else. */
function topColour({ down, across }: Frame, i: number, cost: number): number {
  const strap = down[i]! > -0.12 && Math.abs(across[i]!) > 0.2
  return (down[i]! > 0 || strap) && down[i]! < 1.1 ? Math.min(ODD, cost) : cost
}

function hairPlace({ face, faceDown, down, across }: Frame, i: number): number {
  const above = ramp(face[i]!, 1.9, 2.6)
  if (down[i]! < -0.35) {
    return 12 * above + (face[i]! < FEATURES ? 3 : 0) + 2.5 * underChin(face[i]!, faceDown[i]!)
  }
  if (down[i]! > 0.8) return IMPOSSIBLE
  const aside = Math.abs(across[i]!) + 0.5 * Math.max(0, down[i]!)
  const throat = 1.5 * ramp(-Math.abs(across[i]!), -0.16, -0.08) * ramp(-down[i]!, -0.1, 0.1)
  const low = 1.5 * ramp(down[i]!, -0.15, 0.05) + 4 * ramp(down[i]!, 0.05, 0.8)
  return 0.3 + low + 8 * ramp(aside, 0.5, 0.75) + throat
}

/** Where the chin shades the neck, from 0 to 1. */
function underChin(face: number, faceDown: number): number {
  const aside = Math.sqrt(Math.max(0, face * face - faceDown * faceDown))
  return ramp(faceDown, 0.7, 0.9) * ramp(-aside, -0.9, -0.6)
}

/** Below, the face ends at the chin; above, all skin is face. */
function facePlace({ face, faceDown }: Frame, i: number): number {
  if (face[i]! > 1.8) return IMPOSSIBLE
  return faceDown[i]! > 0.3 ? 8 * ramp(face[i]!, 0.9, 1.2) : 8 * ramp(face[i]!, 1.4, 1.8)
}

function skinPlace(frame: Frame, i: number, { sleeves, hems }: Colours): number {
  const down = frame.down[i]!
  const across = Math.abs(frame.across[i]!)
  const { armDistance, armAt, legDistance, legAt, face, faceDown } = frame
  if (face[i]! < 0.9 || (face[i]! < 1.4 && faceDown[i]! < 0.2)) return 4
  let cost = 4.5
  if (down < 0) cost = Math.min(cost, 5 * ramp(across, 0.25, 0.6))
  if (down > -0.1 && down < 0.35) cost = Math.min(cost, 0.2 + 3 * ramp(down, 0.05, 0.35))
  if (down > 0.5 && down < 1.1) cost = Math.min(cost, 1.5)
  const reach = armAt[i]! > 1.9 ? 0.2 : 0.13
  const sleeve = sleeves[frame.armSide[i]!]!
  const armCover = COVER * sleeve.certainty * past(sleeve.at - armAt[i]!)
  cost = Math.min(cost, 4 * ramp(armDistance[i]!, reach, reach + 0.15) + armCover)
  const hem = hems[frame.legSide[i]!]!
  const legCover = COVER * hem.certainty * past(hem.at - legAt[i]!)
  const upperThigh = legAt[i]! > 0.4 ? 0 : 2
  cost = Math.min(cost, 4 * ramp(legDistance[i]!, 0.18, 0.35) + Math.max(upperThigh, legCover))
  return armDistance[i]! < 0.1 ? Math.max(cost, armCover) : cost
}

function topPlace(frame: Frame, i: number, { waist, onePiece, sleeves, hems }: Colours): number {
  const down = frame.down[i]!
  if (frame.face[i]! < 0.9) return 8
  let cost = 6 * ramp(-down, 0.1, 0.4) + onFoot(frame, i)
  // Collars are rarer than bare necks.
  if (Math.abs(frame.across[i]!) < 0.2) cost += 1.5 * ramp(-down, 0, 0.1)
  const sleeve = sleeves[frame.armSide[i]!]!
  if (onePiece) cost += belowHem(frame, i, hems)
  else if (!onSleeve(frame, i, sleeves))
    cost += 8 * ramp(down, waist.down - 0.04, waist.down + 0.12)
  const nearArm = ramp(frame.armDistance[i]!, 0.22, 0.3)
  cost += 3 * Math.min(nearArm, ramp(Math.abs(frame.across[i]!), 0.55, 0.75))
  if (frame.armDistance[i]! < 0.14) cost += 1.5 * ramp(frame.armAt[i]!, 1.95, 2.2)
  const bare = past(frame.armAt[i]! - sleeve.at)
  // Where the fingers are is only guessed.
  if (frame.armDistance[i]! < 0.1 && frame.armAt[i]! < 2.1) cost += COVER * sleeve.certainty * bare
  return cost
}

function bottomPlace(frame: Frame, i: number, { waist, onePiece, hems, sleeves }: Colours): number {
  if (onePiece) return IMPOSSIBLE
  const down = frame.down[i]!
  const cost = onFoot(frame, i) + 8 * ramp(-down, 0.04 - waist.down, 0.12 - waist.down)
  return cost + belowHem(frame, i, hems) + (onSleeve(frame, i, sleeves) ? 2.5 : 0)
}

/** Clothing of the legs ends at the hem; away from the bones less exactly so, as hems may be slanted. */
function belowHem({ legSide, legAt, legDistance }: Frame, i: number, hems: CoverEnd[]): number {
  const { at, certainty } = hems[legSide[i]!]!
  const beyond = legAt[i]! - at
  // Away from the bones hems may be slanted.
  return COVER * certainty * (legDistance[i]! < 0.1 ? past(beyond) : ramp(beyond, 0.1, 0.3))
}

function shoesPlace({ legAt, legDistance }: Frame, i: number): number {
  if (legAt[i]! < 1.6) return IMPOSSIBLE
  return 4 * ramp(-legAt[i]!, -2, -1.75) + 3 * ramp(legDistance[i]!, 0.3, 0.5) - 1.5
}

/** Clothing ends above the foot. */
const onFoot = ({ legAt }: Frame, i: number) => 5 * ramp(legAt[i]!, 2.1, 2.5)

/** An item is what no model explains, until it has its own. */
function itemColour({ top, bottom, skin, item }: Colours, colour: number): number {
  const known = Math.min(top[colour]!, bottom[colour]!, skin[colour]!)
  const unknown = COLOUR * UNKNOWN + 3 * ramp(-known, -7, -3)
  return item ? Math.min(unknown, COLOUR * item[colour]!) : unknown
}

function itemPlace({ face, armDistance, armAt }: Frame, i: number): number {
  if (face[i]! < 1.4) return 6
  return armAt[i]! > 1.7 ? 1 + 2 * ramp(armDistance[i]!, 0.4, 0.8) : 3
}

const onSleeve = ({ armDistance, armAt, armSide }: Frame, i: number, sleeves: CoverEnd[]) =>
  armDistance[i]! < 0.12 && armAt[i]! < sleeves[armSide[i]!]!.at + 0.15
