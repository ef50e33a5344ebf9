// The colours of skin, hair and clothing in one photo.
import type { Lab } from '../oklab.ts'
import type { Plane } from '../plane.ts'
import { pixelsWhere } from '../raster.ts'
import type { Body } from './body.ts'
import { INNER_TORSO, within, type Frame } from './frame.ts'
import { CLOTH, colourCosts, withShade, type ColourCosts } from './mixture.ts'
import { clothInSkinColour, PROBABLE, skinSeeds, surePixels } from './seeds.ts'
import { findCoat, type Coat } from './coat.ts'
import { coverEnds, type CoverEnd } from './cover.ts'
import { findHemline } from './hemline.ts'
import { LABEL, type Label } from './labels.ts'
import { BARE, findWaist, type Waist } from './waist.ts'

export interface Colours {
  skin: ColourCosts
  /** Without what may be skin in the shade. */
  litSkin: ColourCosts
  hair: ColourCosts
  top: ColourCosts
  bottom: ColourCosts
  /** Of a bag or the like; null as long as none is known. */
  item: ColourCosts | null
  waist: Waist
  /** What hangs open below the waist; null for none. */
  coat: Coat | null
  /** Whether the clothes have one colour and no hem at the hips. */
  isWaistGuessed: boolean
  /** A dress or an overall: everything is `top`. */
  onePiece: boolean
  /** Whether a hood lies around the neck. */
  hasHood: boolean
  /** How far the top reaches on each arm, and the lower garment or the dress on each leg. */
  sleeves: CoverEnd[]
  hems: CoverEnd[]
}

/** Up to this cost, see `groundCosts`, a pixel may well be ground. */
const LIKE_GROUND = 2
/** Below this gain, see `Waist`, the clothes have one colour: uneven light gains up to 0.13, two colours at least 0.16. */
const SAME_CLOTH = 0.15
/** From this strength, in lightness, `findHemline` has found a line; else the waist is at the usual place. */
const CLEAR_LINE = 0.02
const USUAL_WAIST = 0.85
/** The numbers of Gaussians for other things than clothes. */
const HAIR_PARTS = 3
const SKIN_PARTS = 4
/** The least deviation of each thing's colours within one Gaussian, in Oklab lightness. By experiment. */
const SKIN_SLACK = 0.03
const HAIR_SLACK = 0.035
/** Fewer pixels of a thing are not learned from again. */
const LEAST_AGAIN = 60
/** The share of the pixels that has to pass a test, or else all are taken. */
const ENOUGH = 0.4
// Where things are learned from, in the units of `Frame`.
/** Cloth is off the arms' bones, and away from where a bag may hang. */
const OFF_ARM = 0.1
const BAG = { at: 1.7, end: 0.55 }
/** The middle of a top from the neckline down, above the waist by `margin`; and where a dress ends. */
const TOP = { from: 0.15, margin: 0.04, endOfDress: 1.3, halfWidth: 0.34 }
/** A lower garment starts below the waist by `margin`, at least at `from`, and is learned up to `end` of the legs. */
const BOTTOM = { margin: 0.1, from: 0.6, end: 0.8 }
const ON_LEG = 0.16
/** Hair by `Frame.face`, above and below its middle, and by `down`: past `noCloth` its cost as cloth is above `cloth`. */
const HAIR = { from: 1.02, above: 1.5, below: 2, end: -0.15, noCloth: -0.4, cloth: 5 }
/** The lowest part of the legs that is seen, above the shoes, and the cost up to which it looks bare. */
const LOWEST_LEG = { distance: 0.08, end: 1.85, length: 0.2, bare: 5 }

/** What the colours are learned from: the picture, its mask and the places of its pixels. */
export interface Evidence {
  lab: Lab
  indices: Uint16Array
  person: Plane
  frame: Frame
  /** See `groundCosts`; null when no ground is seen. */
  ground: Float32Array | null
}

/** Learns from the pixels where the joints say that each thing should be. */
export function learnColours(evidence: Evidence, body: Body): Colours {
  const { lab, indices, person, frame } = evidence
  const { pixels, showsFace } = skinSeeds(lab, person, frame, body)
  const seenSkin = colourCosts(lab, pixels, SKIN_PARTS, SKIN_SLACK)
  const shadedSkin = withShade(seenSkin)
  const likeSkin = clothLikeSkin(evidence, shadedSkin)
  const less = showsFace ? UNLIKE.face : UNLIKE.hands
  const litSkin = unlike(seenSkin, likeSkin, less)
  const skin = unlike(shadedSkin, likeSkin, less)
  const bare = (i: number) => skin[indices[i]!]! < BARE
  const { waist, isWaistGuessed, onePiece } = outfit(evidence, skin)
  const cloth = (test: (i: number) => boolean) => {
    const all = surePixels(person, (i) => test(i) && frame.armDistance[i]! > OFF_ARM)
    const free = preferring(all, (i) => frame.armAt[i]! < BAG.at || frame.armDistance[i]! > BAG.end)
    return preferring(free, (i) => !bare(i))
  }
  const coat = onePiece ? null : findCoat(evidence, waist.down)
  const topSpan = [TOP.from, onePiece ? TOP.endOfDress : waist.down - TOP.margin] as const
  const top = cloth(
    (i) => within(frame.down[i]!, topSpan) && Math.abs(frame.across[i]!) < TOP.halfWidth,
  )
  const start = Math.max(waist.down + BOTTOM.margin, BOTTOM.from)
  const bottom = cloth(
    (i) => frame.down[i]! > start && frame.legDistance[i]! < ON_LEG && frame.legAt[i]! < BOTTOM.end,
  )
  const topColours = colourCosts(lab, top, CLOTH.parts, CLOTH.slack)
  const hair = surePixels(
    person,
    (i) =>
      frame.face[i]! > HAIR.from &&
      frame.face[i]! < (frame.faceDown[i]! < 0 ? HAIR.above : HAIR.below) &&
      frame.down[i]! < HAIR.end &&
      !bare(i) &&
      topColours[indices[i]!]! > (frame.down[i]! < HAIR.noCloth ? 0 : HAIR.cloth),
  )
  return withEnds(evidence, {
    skin,
    litSkin,
    hair: colourCosts(lab, hair, HAIR_PARTS, HAIR_SLACK),
    top: topColours,
    bottom: coat?.under ?? colourCosts(lab, bottom, CLOTH.parts, CLOTH.slack),
    item: null,
    waist,
    coat,
    isWaistGuessed,
    onePiece,
    hasHood: false,
  })
}

/**
 * How much less a colour costs as such cloth than as skin, when that is like a face or only like hands, if it is to cost `more`
 * as skin. By experiment.
 */
const UNLIKE = { face: 1.5, hands: -1, more: 6 }

/** The costs of skin beside cloth that looks like it. */
const unlike = (skin: ColourCosts, cloth: ColourCosts | null, less: number): ColourCosts =>
  cloth ? skin.map((cost, c) => (cloth[c]! < cost - less ? cost + UNLIKE.more : cost)) : skin

/** The colours of a top that looks like skin; null where none does. */
function clothLikeSkin(
  { lab, indices, person, frame }: Evidence,
  skin: ColourCosts,
): ColourCosts | null {
  const pixels = clothInSkinColour(lab, person, frame, (i) => skin[indices[i]!]! < BARE)
  return pixels.length > 0 ? colourCosts(lab, pixels, 1, CLOTH.slack) : null
}

/** The share of that part that has to be bare for a dress. */
const BARE_LEGS = 0.5
/** A picture that shows less of the thighs ends at the hips. */
const AT_HIPS = 0.25

/**
 * Clothes of one colour are a dress when the legs are bare below them. Otherwise they may as well be
 * two pieces: then the waist is where the strongest line runs.
 */
function outfit({ lab, indices, person, frame }: Evidence, skin: ColourCosts) {
  const waist = findWaist(lab, person, frame, indices, skin)
  if (waist.gain >= SAME_CLOTH) return { waist, isWaistGuessed: false, onePiece: false }
  const onLegs = pixelsWhere(
    lab.L.length,
    (i) =>
      frame.legDistance[i]! < LOWEST_LEG.distance &&
      frame.legAt[i]! < LOWEST_LEG.end &&
      person.data[i]! > PROBABLE,
  )
  const lowest = onLegs.reduce((most, i) => Math.max(most, frame.legAt[i]!), 0)
  const legs = onLegs.filter((i) => frame.legAt[i]! > lowest - LOWEST_LEG.length)
  const bare = legs.filter((i) => skin[indices[i]!]! < LOWEST_LEG.bare)
  const onePiece = bare.length > BARE_LEGS * legs.length
  const line = findHemline(lab, frame)
  // Where the picture ends at the hips, a higher line is a pattern of the top.
  const isHem = line.strength > CLEAR_LINE && (line.down > USUAL_WAIST || lowest > AT_HIPS)
  return {
    waist: { ...waist, down: isHem ? line.down : USUAL_WAIST },
    isWaistGuessed: !isHem,
    onePiece,
  }
}

/** The pixels with a label that are the person's with more than this probability. */
const labelled = (labels: Uint8Array, label: Label, person: Plane, probability: number) =>
  pixelsWhere(labels.length, (i) => labels[i] === label && person.data[i]! > probability)

/** Learns again from a first labelling, where that shows enough of a thing. */
export function relearnColours(evidence: Evidence, colours: Colours, labels: Uint8Array): Colours {
  const { lab, person } = evidence
  const again = (label: Label, before: ColourCosts, components: number, slack: number) => {
    const own = preferring(labelled(labels, label, person, PROBABLE), noGap(evidence))
    return own.length < LEAST_AGAIN ? before : colourCosts(lab, own, components, slack)
  }
  const items = pixelsWhere(labels.length, (i) => labels[i] === LABEL.item)
  return withEnds(evidence, {
    ...colours,
    item: items.length > 0 ? colourCosts(lab, items, HAIR_PARTS, CLOTH.slack) : null,
    hair: again(LABEL.hair, colours.hair, HAIR_PARTS, HAIR_SLACK),
    top: again(LABEL.top, colours.top, CLOTH.parts, CLOTH.slack),
    bottom: again(LABEL.bottom, colours.bottom, CLOTH.parts, CLOTH.slack),
  })
}

function withEnds(evidence: Evidence, colours: Omit<Colours, 'sleeves' | 'hems'>): Colours {
  const { person, frame, indices } = evidence
  const { skin, top, bottom, onePiece } = colours
  return {
    ...colours,
    sleeves: coverEnds('arm', person, frame, indices, skin, top),
    hems: coverEnds('leg', person, frame, indices, skin, onePiece ? top : bottom),
  }
}

/** The mask takes gaps between limbs for the person: nothing should be learned there. */
const noGap =
  ({ ground, frame }: Evidence) =>
  (i: number) =>
    !ground ||
    ground[i]! > LIKE_GROUND ||
    Math.abs(frame.across[i]!) < INNER_TORSO ||
    frame.legDistance[i]! < ON_LEG

/** Those that pass the test, unless they are too few. */
function preferring(pixels: number[], test: (i: number) => boolean): number[] {
  const passed = pixels.filter(test)
  return passed.length > ENOUGH * pixels.length ? passed : pixels
}
