// Pixels that most likely show a given thing, to learn its colours from.
import { isLike, medianColour, type Lab, type LabColour } from '../oklab.ts'
import { median, type Plane } from '../plane.ts'
import { pixelsWhere } from '../raster.ts'
import type { Body } from './body.ts'
import { HAND, within, type Frame, type Span } from './frame.ts'

/** Above the first probability of the mask a pixel is surely the person's, above the second probably. */
const SURE = 0.8
export const PROBABLE = 0.6

/** The pixels that are surely the person's and pass a test. */
export const surePixels = ({ data }: Plane, test: (i: number) => boolean): number[] =>
  pixelsWhere(data.length, (i) => data[i]! > SURE && test(i))

/** Lightness and chroma in Oklab, and hue in radians, that skin can have. */
const SKIN = { light: [0.12, 0.97], chroma: [0.018, 0.17], hue: [0.1, 1.5] } as const

/**
 * Skin of any shade: reddish to yellowish, never grey, blue or green.
 * @param colours a smaller range of them, for where nothing else says that there is skin
 */
export const couldBeSkin = (
  [L, a, b]: LabColour,
  colours: Record<keyof typeof SKIN, Span> = SKIN,
): boolean =>
  within(L, colours.light) &&
  within(Math.hypot(a, b), colours.chroma) &&
  within(Math.atan2(b, a), colours.hue)

/** How far the tint of a pixel is from the median of the given ones, in Oklab. */
function tintFrom(lab: Lab, pixels: number[]) {
  const [, a, b] = medianColour(lab, pixels)
  return (i: number) => Math.hypot(lab.a[i]! - a, lab.b[i]! - b)
}

/** Whether a pixel is within `light` and `tint` of the median of the given ones. */
function likeThose(lab: Lab, pixels: number[], most: { light: number; tint: number }) {
  const usual = medianColour(lab, pixels)
  return (i: number) => isLike([lab.L[i]!, lab.a[i]!, lab.b[i]!], usual, most)
}

/** How far skin differs from its median in one photo, in Oklab; on the shaded side lightness differs more. */
const CORE = { light: 0.2, tint: 0.2 / 3 }
const SHADED = { light: 0.25, tint: 0.045 }
/** The share of the face that has to look like skin, and the least pixels of it, to learn from it alone. */
const SEEN_FACE = 0.4
/** The inside of the face, see `Frame.face`, and its share of the face's area. */
const INNER_FACE = { end: 0.7, share: 0.5 }
/** Where limbs are often bare, and a neck is, in the units of `Frame`. */
const FOREARM = { distance: 0.1, at: [1.2, 2.7] } as const
const LOWER_LEG = { distance: 0.12, from: 1.1 }
const NECK = { down: [-0.3, -0.02], halfWidth: 0.14 } as const
const LEAST_FACE = 20
/** Fewer pixels than this have no median worth comparing with. */
const LEAST_BASE = 12

export interface SkinSeeds {
  pixels: number[]
  /** Whether they look like a face; otherwise what is like hands may be cloth. */
  showsFace: boolean
}

/** Pixels of bare skin: the face's, and those of neck, hands, arms and legs that look like it. */
export function skinSeeds(lab: Lab, person: Plane, frame: Frame, body: Body): SkinSeeds {
  const size = lab.L.length
  const sure = (i: number) =>
    person.data[i]! > SURE && couldBeSkin([lab.L[i]!, lab.a[i]!, lab.b[i]!])
  const faceSize = Math.PI * body.head.halfWidth * body.head.halfHeight * INNER_FACE.share
  const face = pixelsWhere(size, (i) => frame.face[i]! < INNER_FACE.end && sure(i))
  const limbs = pixelsWhere(
    size,
    (i) =>
      sure(i) &&
      ((frame.armDistance[i]! < FOREARM.distance && within(frame.armAt[i]!, FOREARM.at)) ||
        (frame.legDistance[i]! < LOWER_LEG.distance && frame.legAt[i]! > LOWER_LEG.from) ||
        isNeck(frame, i)),
  )
  const showsFace = face.length > SEEN_FACE * faceSize && face.length > LEAST_FACE
  const base = showsFace
    ? face
    : [...face, ...limbs.filter((i) => frame.armAt[i]! > HAND || isNeck(frame, i))]
  if (base.length < LEAST_BASE) return { pixels: base, showsFace }
  const core = base.filter(likeThose(lab, base, CORE))
  const alike = limbs.filter(likeThose(lab, core, SHADED))
  const own = showsFace ? alike.filter(unlikeClothes(lab, person, frame, core)) : alike
  const pixels = [...core, ...(own.length < MOSTLY_SKIN * alike.length ? own : alike)]
  return { pixels, showsFace }
}

/** Where clothes are most often, in the units of `Frame`. */
const TORSO = { down: [0.15, 0.85], halfWidth: 0.34 } as const
const THIGH = { distance: 0.1, at: [0.2, 0.6] } as const
/** Clothes whose tint is nearer than this to that of the face are no other colour; how much nearer to them cloth is. */
const SAME_TINT = 0.02
const NEARER = 0.005
/** Where less than this share of what looks like skin is nearer to the face than to clothes, the rest is cloth. By experiment. */
const MOSTLY_SKIN = 0.6

/** Whether a pixel's tint is nearer to that of the face than to that of beige clothes. */
function unlikeClothes(lab: Lab, person: Plane, frame: Frame, core: number[]) {
  const places = [
    (i: number) => isTorso(frame, i),
    (i: number) => frame.legDistance[i]! < THIGH.distance && within(frame.legAt[i]!, THIGH.at),
  ]
  const fromSkin = tintFrom(lab, core)
  const clothes = places
    .map((isThere) => surePixels(person, isThere))
    .filter((pixels) => pixels.length >= LEAST_BASE && median(pixels.map(fromSkin)) > SAME_TINT)
    .map((pixels) => tintFrom(lab, pixels))
  return (i: number) => clothes.every((fromCloth) => fromSkin(i) < fromCloth(i) + NEARER)
}

/**
 * Cloth in a colour that skin can have: its least share of the torso off the arms, which is seen from the chest on, by
 * `Frame.down`; how far its pixels differ from its median, and the shares of them and of the face that do not. By experiment.
 */
const SKIN_COLOURED = {
  torso: 0.35,
  offArm: 0.1,
  chest: 0.25,
  light: 0.06,
  tint: 0.02,
  own: 0.55,
  face: 0.25,
}

/** The pixels of a top that looks like skin, but has one colour, which a face that is seen has not; none without such a top. */
export function clothInSkinColour(
  lab: Lab,
  person: Plane,
  frame: Frame,
  isBare: (i: number) => boolean,
): number[] {
  const torso = surePixels(
    person,
    (i) => isTorso(frame, i) && frame.armDistance[i]! > SKIN_COLOURED.offArm,
  )
  const alike = torso.filter(isBare)
  const showsChest = torso.some((i) => frame.down[i]! < SKIN_COLOURED.chest)
  if (!showsChest || alike.length < SKIN_COLOURED.torso * torso.length) return []
  const isUsual = likeThose(lab, alike, SKIN_COLOURED)
  const cloth = alike.filter(isUsual)
  const face = surePixels(person, (i) => frame.face[i]! < INNER_FACE.end)
  const ofFace = face.filter(isUsual)
  return cloth.length > SKIN_COLOURED.own * alike.length &&
    ofFace.length <= SKIN_COLOURED.face * face.length
    ? cloth
    : []
}

const isTorso = ({ down, across }: Frame, i: number) =>
  within(down[i]!, TORSO.down) && Math.abs(across[i]!) < TORSO.halfWidth

const isNeck = (frame: Frame, i: number) =>
  within(frame.down[i]!, NECK.down) &&
  Math.abs(frame.across[i]!) < NECK.halfWidth &&
  frame.face[i]! > 1
