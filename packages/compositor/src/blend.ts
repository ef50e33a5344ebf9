// Blends the draped garment into the photo, pixel by pixel: skin where the old clothes would show, the
// garment in the light of the scene, and hair and hands in front of it.
import { labOf, rgbOf, type LabColour } from './oklab.ts'
import { blur, createPlane, resize, sample, type Plane } from './plane.ts'
import { ramp, type Raster } from './raster.ts'
import { off } from './silhouette.ts'
import { preference, type Wearer } from './wearer.ts'

/**
 * Changes `model` in place.
 * @param layer the garment as draped on the person, at the photo's size
 * @param scale photo pixels for one pixel of the wearer's planes
 * @param highest the garment is drawn only below this row, which protects the face
 */
export function blendIn(
  model: Raster,
  layer: Raster,
  wearer: Wearer,
  scale: number,
  highest: number,
): void {
  const { width, height } = model
  const { contact, edge } = coverOf(layer, wearer.figure)
  const grain = wearer.exposure ** 1.36
  for (let y = 0, i = 0; y < height; y++) {
    const smallY = (y + 0.5) / scale
    const open = ramp(y, highest - scale, highest + scale * 2)
    for (let x = 0; x < width; x++, i++) {
      const smallX = (x + 0.5) / scale
      const alpha = (layer.data[i * 4 + 3]! / 255) * open
      const bare = sample(wearer.bareZone, smallX, smallY)
      const touch = sample(contact, smallX, smallY)
      if (alpha === 0 && bare === 0 && touch < 0.02) continue
      const figure = sample(wearer.figure, smallX, smallY)
      if (alpha === 0 && figure < 0.02) continue
      const at = i * 4
      const colour = labOf(model.data[at]!, model.data[at + 1]!, model.data[at + 2]!)
      if (bare > 0 && alpha < 1) undress(model, at, colour, wearer, bare * ramp(figure, 0.35, 0.75))
      const front = frontOf(colour, wearer, smallX, smallY)
      if (alpha < 1) darken(model, at, 1 - 0.3 * touch * figure * (1 - front * 0.7))
      const cover = alpha * (1 - front)
      if (cover === 0) continue
      const light = sample(wearer.shade, smallX, smallY) ** 1.36 * grain
      const rim = 1 - 0.16 * (1 - sample(edge, smallX, smallY)) ** 2
      for (let c = 0; c < 3; c++) {
        model.data[at + c] =
          model.data[at + c]! * (1 - cover) + layer.data[at + c]! * light * rim * cover
      }
    }
  }
}

/** The garment's coverage at the small size: its shadow and its rounded edge. */
function coverOf(layer: Raster, figure: Plane): { contact: Plane; edge: Plane } {
  const alpha = createPlane(layer.width, layer.height)
  for (let i = 0; i < alpha.data.length; i++) alpha.data[i] = layer.data[i * 4 + 3]! / 255
  const small = resize(blur(alpha, 1), figure.width, figure.height)
  const wide = blur(small, Math.max(1, Math.round(figure.height * 0.006)))
  const contact = createPlane(figure.width, figure.height)
  const drop = Math.max(1, Math.round(figure.height * 0.006))
  for (let y = 0, i = 0; y < figure.height; y++) {
    for (let x = 0; x < figure.width; x++, i++) {
      contact.data[i] = wide.data[Math.max(0, y - drop) * figure.width + x]!
    }
  }
  const edge = { ...wide, data: wide.data.map((value) => ramp(value, 0.3, 1)) }
  return { contact, edge }
}

/** Recolours visible parts of the old top as skin, with their shading. */
function undress(model: Raster, at: number, colour: LabColour, wearer: Wearer, zone: number): void {
  const { skin, top, hair } = wearer
  if (!skin || !top || off(skin.colour, top.colour) < 0.03) return
  let share = zone * (1 - preference(colour, skin, top))
  if (hair) share *= 1 - preference(colour, hair, top)
  share *= 1 - ramp(off(colour, top.colour), 0.05 + top.spread, 0.12 + top.spread)
  if (share < 0.01) return
  const lightness =
    skin.colour[0] + Math.max(-0.25, Math.min(0.12, (colour[0] - top.colour[0]) * 0.9))
  const bare = rgbOf(lightness, skin.colour[1], skin.colour[2])
  for (let c = 0; c < 3; c++)
    model.data[at + c] = model.data[at + c]! * (1 - share) + bare[c]! * share
}

/** The share of the pixel that is hair in front of the garment. */
function frontOf(colour: LabColour, wearer: Wearer, x: number, y: number): number {
  if (!wearer.hair) return 0
  const zone = sample(wearer.hairZone, x, y)
  return zone > 0 ? zone * preference(colour, wearer.hair, wearer.top) : 0
}

/** Removes the garment's torso where a hand or forearm is in front of it, in place. */
export function hideBehindHands(layer: Raster, model: Raster, wearer: Wearer, scale: number): void {
  const { skin, top, handZone } = wearer
  if (!skin) return
  for (let y = 0, at = 0; y < layer.height; y++) {
    for (let x = 0; x < layer.width; x++, at += 4) {
      if (layer.data[at + 3] === 0) continue
      const zone = sample(handZone, (x + 0.5) / scale, (y + 0.5) / scale)
      if (zone === 0) continue
      const colour = labOf(model.data[at]!, model.data[at + 1]!, model.data[at + 2]!)
      layer.data[at + 3] = layer.data[at + 3]! * (1 - zone * preference(colour, skin, top))
    }
  }
}

function darken(model: Raster, at: number, light: number): void {
  for (let c = 0; c < 3; c++) model.data[at + c] = model.data[at + c]! * light
}
