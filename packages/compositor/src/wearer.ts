// Finds what is in front of the garment, which parts of the old clothes would show beside it, and the
// light on the body. All planes have the size of the small copy.
import type { BodyShape } from './body-shape.ts'
import type { LabColour } from './oklab.ts'
import { blur, blurWithin, createPlane, percentile, type Plane } from './plane.ts'
import { clamp, ramp, type Point } from './raster.ts'
import { regions, type Mask } from './regions.ts'
import { colourOf, isSkinLike, off, type ColourModel, type Silhouette } from './silhouette.ts'

export interface Wearer {
  skin: ColourModel | null
  hair: ColourModel | null
  /** The main colour of the old top. */
  top: ColourModel | null
  /** The row where the old top ends; null when it looks like the clothes below. */
  oldHemY: number | null
  /** The person, soft-edged. */
  figure: Plane
  /** Where hair may be in front of the garment. */
  hairZone: Plane
  /** Where hands and forearms may be in front of the garment. */
  handZone: Plane
  /** Where bare skin is expected unless the garment covers it: neck, shoulders, arms. */
  bareZone: Plane
  /** The light at each pixel relative to the average; 1 is average. */
  shade: Plane
  /** The brightness of the scene; 1 is well exposed. */
  exposure: number
}

export function studyWearer(silhouette: Silhouette, body: BodyShape): Wearer {
  const { mask, lab } = silhouette
  const { axis, head, neckY } = body
  const shoulderY = (body.left.shoulder.y + body.right.shoulder.y) / 2
  const half = (body.right.shoulder.x - body.left.shoulder.x) / 2
  const chestBox = {
    left: axis - half * 0.45,
    right: axis + half * 0.45,
    top: shoulderY + head * 0.5,
    bottom: shoulderY + head * 1.7,
  }
  const top = colourOf(silhouette, chestBox, () => true, 12)
  const skin = body.skin
  const crown = {
    left: axis - head * 0.25,
    right: axis + head * 0.25,
    top: body.top,
    bottom: body.top + head * 0.16,
  }
  const notSkin = (L: number, a: number, b: number) =>
    !isSkinLike(L, a, b) || (skin !== null && off([L, a, b], skin.colour) > 0.045)
  const crownColour = colourOf(silhouette, crown, notSkin, head * head * 0.02)
  // A bald head in shadow is not hair.
  const bald = crownColour && skin && off(crownColour.colour, skin.colour) < 0.045
  const hair = bald ? null : crownColour
  const figure = blur(planeOf(mask), 1)
  const exposure = exposureOf(lab.L)
  return {
    skin,
    hair,
    top,
    oldHemY: top ? hemOf(silhouette, body, top, shoulderY) : null,
    figure,
    hairZone: hairZoneOf(silhouette, body, hair, top, shoulderY),
    handZone: handZoneOf(silhouette, body, skin, top),
    bareZone: bareZoneOf(mask, body, shoulderY, neckY),
    shade: shadeOf(silhouette, body, [top, skin]),
    exposure,
  }
}

const at = ({ lab }: Silhouette, i: number): LabColour => [lab.L[i]!, lab.a[i]!, lab.b[i]!]

const planeOf = ({ width, height, data }: Mask): Plane => ({
  width,
  height,
  data: new Float32Array(data),
})

/** Well-lit photos have some pixels near white; in a dark scene the garment is darkened. */
function exposureOf(lightness: Float32Array): number {
  const step = Math.max(1, Math.floor(lightness.length / 20_000))
  const bright = percentile(
    lightness.filter((_, i) => i % step === 0),
    0.97,
  )
  return clamp(bright / 0.86, 0.55, 1)
}

/** Finds the row in the middle from which on the colour differs from that of the top. */
function hemOf(
  silhouette: Silhouette,
  body: BodyShape,
  top: ColourModel,
  shoulderY: number,
): number | null {
  const { axis, head } = body
  const limit = Math.max(0.055, top.spread * 3)
  const end = Math.min(silhouette.lab.height, Math.round(shoulderY + head * 3.4))
  const like = (y: number) => {
    let same = 0
    let seen = 0
    for (let x = Math.round(axis - head * 0.3); x <= axis + head * 0.3; x++) {
      const i = y * silhouette.lab.width + x
      if (silhouette.mask.data[i] !== 1) continue
      seen++
      const [L, a, b] = at(silhouette, i)
      if (Math.hypot(L - top.colour[0], a - top.colour[1], b - top.colour[2]) < limit) same++
    }
    return seen > 0 && same > seen * 0.5
  }
  let last = -1
  for (let y = Math.round(shoulderY + head); y < end; y++) {
    if (like(y)) last = y
    else if (last >= 0 && y - last > head * 0.35) break
  }
  return last < 0 || last >= end - 2 ? null : last + 1
}

function hairZoneOf(
  silhouette: Silhouette,
  body: BodyShape,
  hair: ColourModel | null,
  top: ColourModel | null,
  shoulderY: number,
): Plane {
  const { mask, lab } = silhouette
  const { axis, head } = body
  const zone = createPlane(mask.width, mask.height)
  if (!hair || (top && off(hair.colour, top.colour) < 0.045)) return zone
  const found = { width: mask.width, height: mask.height, data: new Uint8Array(mask.data.length) }
  for (let y = Math.floor(body.top); y < Math.min(lab.height, shoulderY + head * 1.6); y++) {
    for (
      let x = Math.max(0, Math.floor(axis - head * 0.85));
      x < Math.min(lab.width, axis + head * 0.85);
      x++
    ) {
      const i = y * lab.width + x
      const colour = at(silhouette, i)
      if (mask.data[i] === 1 && preference(colour, hair, top) > 0.4) found.data[i] = 1
    }
  }
  for (const region of regions(found, 1, head * head * 0.03)) {
    // Only regions connected to the head are hair.
    if (region.pixels.some((i) => Math.floor(i / mask.width) < body.top + head * 0.6)) {
      for (const i of region.pixels) zone.data[i] = 1
    }
  }
  return spread(zone, Math.max(1, Math.round(head * 0.03)))
}

function handZoneOf(
  silhouette: Silhouette,
  body: BodyShape,
  skin: ColourModel | null,
  top: ColourModel | null,
): Plane {
  const { mask } = silhouette
  const zone = createPlane(mask.width, mask.height)
  if (!skin || (top && off(skin.colour, top.colour) < 0.03)) return zone
  const found = { width: mask.width, height: mask.height, data: new Uint8Array(mask.data.length) }
  // Trousers in the colour of skin look like hands, so only hands above them count.
  const { axis, head } = body
  const hips = (body.left.shoulder.y + body.right.shoulder.y) / 2 + head * 2.1
  const lap = {
    left: axis - head * 0.3,
    right: axis + head * 0.3,
    top: hips + head * 0.4,
    bottom: hips + head * 0.8,
  }
  const lower = colourOf(silhouette, lap, () => true, 8)
  const fleshy = lower && off(lower.colour, skin.colour) < 0.09
  const end = fleshy ? Math.floor(hips) * mask.width : found.data.length
  for (let i = body.chestY * mask.width; i < Math.min(end, found.data.length); i++) {
    if (mask.data[i] === 1 && preference(at(silhouette, i), skin, top) > 0.5) found.data[i] = 1
  }
  for (const region of regions(found, 1, body.head * body.head * 0.02)) {
    // A region larger than a forearm with its hand is trousers in the colour of skin.
    if (region.size > body.head * body.head * 1.1) continue
    for (const i of region.pixels) zone.data[i] = 1
  }
  return spread(zone, 1)
}

/** Grows a zone slightly and softens it. The test at full size decides its edge. */
function spread(zone: Plane, reach: number): Plane {
  const soft = blur(zone, reach)
  return { ...soft, data: soft.data.map((value) => clamp(value * 4, 0, 1)) }
}

function bareZoneOf(mask: Mask, body: BodyShape, shoulderY: number, neckY: number): Plane {
  const zone = createPlane(mask.width, mask.height)
  const { head } = body
  const low = shoulderY + head * 0.75
  for (let y = Math.floor(neckY); y < Math.min(mask.height, low); y++) {
    for (let x = 0; x < mask.width; x++) zone.data[y * mask.width + x] = 1
  }
  // Below, the torso is covered or wears something other than the old top.
  for (const { arm } of [body.left, body.right]) {
    // To the wrist: the last third of the path is the hand.
    for (let i = 0; i < arm.outer.length * 0.86; i++)
      fillBetween(zone, arm.outer[i]!, arm.inner[i]!, head * 0.12)
  }
  for (let i = 0; i < body.left.edge.length; i++) {
    const row = (body.chestY + i) * mask.width
    if (body.chestY + i < low) continue
    zone.data.fill(
      0,
      row + Math.max(0, Math.ceil(body.left.edge[i]!)),
      row + Math.floor(body.right.edge[i]!),
    )
  }
  return blur(zone, 1)
}

function fillBetween(zone: Plane, from: Point, to: Point, reach: number): void {
  const steps = Math.ceil(Math.hypot(to.x - from.x, to.y - from.y)) + 1
  for (let step = 0; step <= steps; step++) {
    const x = from.x + ((to.x - from.x) * step) / steps
    const y = from.y + ((to.y - from.y) * step) / steps
    for (let dy = -reach; dy <= reach; dy++) {
      const row = Math.round(y + dy)
      const column = Math.round(x)
      if (row >= 0 && row < zone.height && column >= 0 && column < zone.width) {
        zone.data[row * zone.width + column] = 1
      }
    }
  }
}

/**
 * Lightness relative to the average of the surface, top or skin, so that a dark shirt does not count as
 * shadow. Blurred, so that its pattern does not count as folds.
 */
function shadeOf(silhouette: Silhouette, body: BodyShape, models: (ColourModel | null)[]): Plane {
  const { mask, lab } = silhouette
  const relative = createPlane(mask.width, mask.height)
  const weight = createPlane(mask.width, mask.height)
  const from = Math.floor(body.neckY) * mask.width
  // The light of the legs does not apply to a skirt in front of them.
  const hips = Math.min(mask.height, Math.round(body.left.shoulder.y + body.head * 2.5))
  for (let i = from; i < hips * mask.width; i++) {
    if (mask.data[i] !== 1) continue
    const colour = at(silhouette, i)
    const surface = models.find((model) => model && off(colour, model.colour) < 0.06 + model.spread)
    if (!surface) continue
    // Nearly black pixels show noise, not light.
    const usual = surface.colour[0]
    weight.data[i] = ramp(usual, 0.12, 0.4)
    relative.data[i] = clamp(lab.L[i]! / Math.max(usual, 0.01), 0.6, 1.3)
  }
  const reach = Math.max(1, Math.round(body.head * 0.045))
  const soft = blurWithin(relative, weight, reach)
  const known = blur(weight, reach)
  const shade = soft.data.map((value, i) => {
    if (Number.isNaN(value)) return 1
    return 1 + (clamp(value, 0.75, 1.15) - 1) * ramp(known.data[i]!, 0, 0.6)
  })
  return blur({ ...soft, data: shade }, Math.max(1, Math.round(reach / 2)))
}

/** 1 for colours like `wanted`; falls to 0 with distance and where `rival` is nearer. */
export function preference(
  colour: LabColour,
  wanted: ColourModel,
  rival: ColourModel | null,
): number {
  const near = off(colour, wanted.colour)
  const like = 1 - ramp(near, 0.035 + wanted.spread, 0.075 + wanted.spread)
  if (like === 0 || !rival) return like
  const other = off(colour, rival.colour)
  return like * ramp(other / (near + other + 1e-6), 0.4, 0.6)
}
