// The colour of painted skin in the size of the parsing.
import { LABEL } from '../parsing.ts'
import { labOf, rgbOf } from '../oklab.ts'
import { pause } from '../pause.ts'
import { clamp, lerp, ramp } from '../raster.ts'
import type { Measured, UncoverPlan } from './becomes.ts'
import { placeIn, type Limb } from './limbs.ts'
import { localColours } from './local-colours.ts'
import { membrane } from './membrane.ts'
import { distanceTo } from '../distance.ts'
import { limbShade, type SkinModel } from './skin-model.ts'
import { createChannels, type Channels, type Small } from './small.ts'
import type { Torso } from './torso.ts'

/** Real skin nearer than this to clothing lies in its shadow or is mixed with it. */
const FROM_CLOTH = 5
const FROM_OTHERS = 2
// Chosen by experiment on the development photographs, like the shades below.
/** How near to what is painted real skin is used, and over what distance it loses its influence: body sizes. */
const FROM_PAINTED = 0.6
const DECAY = 0.35
/** How far from what is painted colours are solved: in shadowed skin, the bridge to clear skin, and elsewhere. */
const BRIDGE = 2 * FROM_CLOTH
const AROUND = 4
/** The distance in Oklab's a and b up to which a colour is this person's skin. */
const ALIKE = 0.028
/** How much lighter or darker than the model real skin may be, in Oklab. */
const MOST_OFFSET = 0.2

/** Tells which pixels show skin, or a face, that stays, without the shadow of clothing and edges. */
export function clearSkin(parsing: Measured, keeps: (at: number) => boolean) {
  const { labels, fromCloth } = parsing
  const isSkin = (at: number) => labels[at] === LABEL.skin || labels[at] === LABEL.face
  const fromOthers = distanceTo(parsing, (at) => !isSkin(at))
  const isClear = (label: number) => (at: number) =>
    labels[at] === label &&
    keeps(at) &&
    fromCloth[at]! >= FROM_CLOTH &&
    fromOthers[at]! >= FROM_OTHERS
  return { isClear: isClear(LABEL.skin), isFace: isClear(LABEL.face) }
}

/**
 * The colours of the skin for the pixels of `painted`, from the real skin of `isClear`.
 *
 * @returns red, green and blue from 0 to 255, 0 elsewhere
 */
export async function skinField(
  { width, height, parsing: { labels }, limbs, torso }: UncoverPlan,
  small: Small,
  painted: Uint8Array,
  isClear: (at: number) => boolean,
  model: SkinModel,
): Promise<Channels> {
  // Means, because spots and hairs at the seam would spread.
  const seen = localColours(small, isClear, 1)
  const known = new Uint8Array(width * height)
  const domain = new Uint8Array(width * height)
  const offsets = createChannels(width * height)
  const prior = new Float32Array(width * height)
  const near = distanceTo(small, (at) => painted[at] === 1)
  await pause()
  for (let at = 0; at < width * height; at++) {
    const isNear = near[at]! < FROM_PAINTED * torso.size && isClear(at)
    const lab = isNear && labOf(seen.rgb[at * 3]!, seen.rgb[at * 3 + 1]!, seen.rgb[at * 3 + 2]!)
    const real = lab && model.isLike(lab, ALIKE)
    if (!real && near[at]! > (labels[at] === LABEL.skin ? BRIDGE : AROUND)) continue
    domain[at] = 1
    const L = model.tone + shadeAt(limbs, torso, (at % width) + 0.5, Math.floor(at / width) + 0.5)
    prior[at] = L
    if (!real) continue
    known[at] = 1
    const [a, b] = model.chroma(L)
    offsets[0][at] = clamp(lab[0] - L, -MOST_OFFSET, MOST_OFFSET)
    offsets[1][at] = lab[1] - a
    offsets[2][at] = lab[2] - b
  }
  await pause()
  await membrane({ width, height, planes: offsets, known, domain }, DECAY * torso.size)
  for (let at = 0; at < width * height; at++) {
    if (!domain[at]) continue
    const [a, b] = model.chroma(prior[at]!)
    const rgb = rgbOf(prior[at]! + offsets[0][at]!, a + offsets[1][at]!, b + offsets[2][at]!)
    for (let c = 0; c < 3; c++) offsets[c]![at] = clamp(rgb[c]!, 0, 255)
  }
  return offsets
}

/** How far beyond its edge, in pixels, and from where on, as on its axis, a limb shades the skin. */
const OUTSIDE = 3
const ROOT = { from: 0.02, to: 0.45 }

/** The lightness of a place relative to the tone: round limbs, a flatter trunk. */
function shadeAt(limbs: readonly Limb[], torso: Torso, x: number, y: number): number {
  let L = trunkShade(torso, x, y)
  let nearest = -Infinity
  for (const limb of limbs) {
    const place = placeIn(limb, x, y)
    if (!place || place.inside < Math.max(nearest, -OUTSIDE)) continue
    nearest = place.inside
    const share = ramp(place.at, ROOT.from, ROOT.to) * ramp(place.inside, -OUTSIDE, 1)
    L = lerp(L, limbShade(limb, place.across) + alongShade(place.at), share)
  }
  return L
}

/** A bell around 0, about twice as wide as the reach. */
const bump = (away: number, reach: number) => Math.exp(-((away / reach) ** 2))

// The numbers of the shades are differences of Oklab's lightness, at places in units of the body's size or as on
// a limb's axis. Those of the trunk are means over photographs, the others were chosen by eye.

/** Muscles catch light, and the elbow or knee is darker. */
const alongShade = (at: number) =>
  0.01 * bump(at - 0.3, 0.2) - 0.016 * bump(at - 1, 0.13) + 0.009 * bump(at - 1.35, 0.2)

/** Means over photographs: the chest is lighter than the arms, the neck and the sides are darker. */
function trunkShade(torso: Torso, x: number, y: number): number {
  const { size, shoulderY, span } = torso
  const [left, right] = span(Math.max(y, shoulderY))
  if (Number.isNaN(left)) return -0.06
  const t = (y - shoulderY) / size
  const u = (x - (left + right) / 2) / size
  const round = ((2 * Math.abs(u) * size) / Math.max(1, right - left)) ** 4
  const side = Math.min(1, lerp(ramp(Math.abs(u), 0.2, 0.5), 1.5 * round, ramp(t, 0.4, 0.8)))
  const neck = ramp(-t, 0.08, 0.28) * (1 - side)
  return (
    lerp(0.035 - 0.075 * side, -0.05, neck) +
    collarBones(t, Math.abs(u)) +
    belly(torso, y, Math.abs(u))
  )
}

/** A faint ridge from the pit of the neck to each shoulder, with the hollow above it. */
function collarBones(t: number, u: number): number {
  const ridge = 0.03 - 0.2 * u
  const length = ramp(u, 0.03, 0.1) * (1 - ramp(u, 0.25, 0.4))
  const bone =
    0.014 * bump(t - ridge, 0.025) -
    0.012 * bump(t - (ridge - 0.055), 0.03) -
    0.008 * bump(t - (ridge + 0.05), 0.03)
  const pit = -0.02 * bump(t, 0.035) * bump(u, 0.04)
  return bone * length + pit
}

/** The line down the middle of the belly and, where the waistband leaves room for it, the navel. */
function belly({ size, shoulderY, hipY, waistY }: Torso, y: number, u: number): number {
  const t = (y - shoulderY) / (hipY - shoulderY)
  const line = -0.012 * bump(u, 0.025) * ramp(t, 0.4, 0.55)
  const flanks = -0.01 * bump(u - 0.2, 0.05) * ramp(t, 0.4, 0.55)
  const navelY = Math.min(shoulderY + 0.72 * (hipY - shoulderY), waistY - 0.12 * size)
  const away = ((y - navelY) / size / 0.026) ** 2 + (u / 0.017) ** 2
  const below = ((y - navelY - 0.03 * size) / size / 0.02) ** 2 + (u / 0.03) ** 2
  return line + flanks - 0.13 * Math.exp(-away) + 0.015 * Math.exp(-below)
}
