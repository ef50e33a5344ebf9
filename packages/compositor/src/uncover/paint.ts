// Paints the planned ground, skin and bottom into the photo.
import { LABEL, type Parsing } from '../parsing.ts'
import { pause, pauseInRows } from '../pause.ts'
import { createPlane, type Plane } from '../plane.ts'
import { clamp, markWhere, type Raster, type Size } from '../raster.ts'
import { bottomSource, type BottomSource } from './bottom-field.ts'
import { groundUnder, type Ground } from './ground-field.ts'
import { grainAt, measureGrain, type Grain } from './grain.ts'
import { createMatte, nearestOf, type Between, type Colour } from './matte.ts'
import { BECOMES, type UncoverPlan } from './becomes.ts'
import { withRim } from './rim.ts'
import { clearSkin, skinField } from './skin-field.ts'
import { learnSkin } from './skin-model.ts'
import { averageTo, type Channels, type Small } from './small.ts'
import { blurInPlace } from '../smoothing.ts'

/**
 * Repaints, in place, the pixels of `photo` (any size) where `plan` is not `keep`.
 *
 * @returns false, with the photo unchanged, when skin must be painted but none is visible
 */
export async function uncover(photo: Raster, plan: UncoverPlan): Promise<boolean> {
  if (!plan.becomes.some((what) => what !== BECOMES.keep)) return true
  const { parsing } = plan
  const small = averageTo(photo, plan)
  await pause()
  const keeps = (at: number) => plan.becomes[at] === BECOMES.keep
  const { isClear, isFace } = clearSkin(parsing, keeps)
  await pause()
  const model = learnSkin(small, isClear, isFace)
  if (!model && plan.becomes.includes(BECOMES.skin)) return false
  await pause()
  const { becomes, stays } = await withRim(plan, small, model)
  await pause()
  const skin =
    model && (await skinField(plan, small, maskOf(becomes, BECOMES.skin), isClear, model))
  await pause()
  const ground = await groundUnder(small, parsing, maskOf(becomes, BECOMES.ground))
  await pause()
  const bottom = bottomSource(parsing, maskOf(becomes, BECOMES.bottom))
  const grain = measureGrain(photo, parsing, (label) => label === LABEL.skin)
  await pause()
  await compose(photo, { ...plan, becomes, stays, small, skin, ground, bottom, grain })
  return true
}

const maskOf = (becomes: Uint8Array, what: number) =>
  markWhere(becomes.length, (at) => becomes[at] === what)

/** What is painted, in the size of the analysis. */
interface Layers extends Size {
  becomes: Uint8Array
  stays: Float32Array
  small: Small
  parsing: Parsing
  skin: Channels | null
  ground: Ground
  bottom: BottomSource
  grain: Grain
}

/** A pixel of the photo, and where it lies in the analysis. */
interface Place extends Between {
  x: number
  y: number
}

// Chosen by experiment on the development photographs; shares are from 0 to 1.
/** The reach of the soft edge of what stays and of what is painted, in pixels of the analysis. */
const SOFT_KEEP = 1
const SOFT_PAINT = 2
/** How sharp the borders between layers are: the exponent of their shares, more in larger photos. */
const SHARPNESS = 5
/** Shares of the photo from which on a pixel stays, and of a layer below which it is left out. */
const UNCHANGED = 0.985
const NOTHING = 0.01

function softMask(layers: Layers, what: number): Plane {
  const plane = createPlane(layers.width, layers.height)
  for (let at = 0; at < plane.data.length; at++) {
    plane.data[at] = what === BECOMES.keep ? layers.stays[at]! : layers.becomes[at] === what ? 1 : 0
  }
  return blurInPlace(plane, what === BECOMES.keep ? SOFT_KEEP : SOFT_PAINT)
}

/** The value between four pixels, so many pixels further on. */
function mix(data: ArrayLike<number>, p: Between, further = 0): number {
  const upper = data[p.i + further]! * (1 - p.fx) + data[p.j + further]! * p.fx
  const lower = data[p.k + further]! * (1 - p.fx) + data[p.l + further]! * p.fx
  return upper * (1 - p.fy) + lower * p.fy
}

async function compose(photo: Raster, layers: Layers): Promise<void> {
  const { width, height } = layers
  const soft = Object.values(BECOMES).map((what) => softMask(layers, what).data)
  await pause()
  const matte = await createMatte(layers.small, layers.parsing, layers.becomes, layers.stays)
  const isChanged = changedCells(soft[BECOMES.keep]!, layers)
  const sharpness = Math.max(SHARPNESS, (SHARPNESS * photo.width) / width)
  const colour: Colour = [0, 0, 0]
  const old: Colour = [0, 0, 0]
  const p: Place = { x: 0, y: 0, i: 0, j: 0, k: 0, l: 0, fx: 0, fy: 0 }
  for (let y = 0, to = 0; y < photo.height; y++) {
    await pauseInRows(y, photo)
    const sy = clamp(((y + 0.5) * height) / photo.height - 0.5, 0, height - 1)
    const y0 = Math.floor(sy)
    const y1 = Math.min(height - 1, y0 + 1)
    p.y = y
    p.fy = sy - y0
    for (let x = 0; x < photo.width; x++, to += 4) {
      const sx = clamp(((x + 0.5) * width) / photo.width - 0.5, 0, width - 1)
      const x0 = Math.floor(sx)
      if (!isChanged[y0 * width + x0]) continue
      const x1 = Math.min(width - 1, x0 + 1)
      p.x = x
      p.fx = sx - x0
      p.i = y0 * width + x0
      p.j = y0 * width + x1
      p.k = y1 * width + x0
      p.l = y1 * width + x1
      const keep = mix(soft[BECOMES.keep]!, p)
      if (keep > UNCHANGED) continue
      let total = 0
      colour.fill(0)
      for (let what = 1; what < 4; what++) {
        const share = mix(soft[what]!, p)
        if (share < NOTHING) continue
        const weight = share ** sharpness
        if (addLayer(photo, layers, what, p, weight, colour)) total += weight
      }
      if (total === 0) continue
      for (let c = 0; c < 3; c++) {
        colour[c] = colour[c]! / total
        old[c] = photo.data[to + c]!
      }
      matte(p, keep, old, colour)
      for (let c = 0; c < 3; c++) photo.data[to + c] = colour[c]!
    }
  }
}

/** 1 at the upper left one of four pixels between which the photo may change: most of it stays. */
function changedCells(keep: Float32Array, { width }: Size): Uint8Array {
  const cells = new Uint8Array(keep.length)
  for (let at = 0; at < keep.length; at++) {
    if (keep[at]! > UNCHANGED) continue
    const x = at % width
    cells[at] = 1
    if (x > 0) cells[at - 1] = 1
    if (at < width) continue
    cells[at - width] = 1
    if (x > 0) cells[at - width - 1] = 1
  }
  return cells
}

/** Adds the layer's colour times the weight; false when the layer has none there. */
function addLayer(
  photo: Raster,
  layers: Layers,
  what: number,
  p: Place,
  weight: number,
  colour: Colour,
): boolean {
  if (what === BECOMES.bottom) return addBottom(photo, layers, p, weight, colour)
  if (what === BECOMES.ground) {
    addGround(photo, layers, p, weight, colour)
    return true
  }
  if (!layers.skin) return false
  const grain = grainAt(layers.grain, p.x, p.y)
  for (let c = 0; c < 3; c++) colour[c] = colour[c]! + weight * (mix(layers.skin[c]!, p) + grain)
  return true
}

/** A pixel of the visible bottom, from the row that the nearest pixel of the analysis names. */
function addBottom(
  photo: Raster,
  { bottom: { rows, shifts }, width, height }: Layers,
  p: Place,
  weight: number,
  colour: Colour,
): boolean {
  let nearest = -1
  let best = 0
  const shares = [(1 - p.fx) * (1 - p.fy), p.fx * (1 - p.fy), (1 - p.fx) * p.fy, p.fx * p.fy]
  for (const [n, at] of [p.i, p.j, p.k, p.l].entries()) {
    if (rows[at]! < 0 || shares[n]! <= best) continue
    best = shares[n]!
    nearest = at
  }
  if (nearest < 0) return false
  // Within the pixel of the analysis the mirrored rows run upwards.
  const row =
    rows[nearest]! + Math.floor(nearest / width) + 0.5 - ((p.y + 0.5) * height) / photo.height
  if (row < 0) return false
  const from = clamp(Math.round((row * photo.height) / height), 0, photo.height - 1)
  const shift = Math.round((shifts[nearest % width]! * photo.width) / width)
  const column = clamp(p.x + shift, 0, photo.width - 1)
  const at = (from * photo.width + column) * 4
  for (let c = 0; c < 3; c++) colour[c] = colour[c]! + weight * photo.data[at + c]!
  return true
}

/** Ground in the colours of the analysis, with what is finer in the photo at its source, or the photo's grain. */
function addGround(
  photo: Raster,
  { ground, small, grain, width, height }: Layers,
  p: Place,
  weight: number,
  colour: Colour,
): void {
  const at = nearestOf(p)
  const source = ground.source[at]!
  const dx = (source % width) - (at % width)
  const dy = Math.floor(source / width) - Math.floor(at / width)
  const sx = clamp(p.x + Math.round((dx * photo.width) / width), 0, photo.width - 1)
  const sy = clamp(p.y + Math.round((dy * photo.height) / height), 0, photo.height - 1)
  const noise = source < 0 ? grainAt(grain, p.x, p.y) : 0
  for (let c = 0; c < 3; c++) {
    const fine =
      source < 0
        ? noise
        : photo.data[(sy * photo.width + sx) * 4 + c]! - mix(small.rgb[c]!, p, source - at)
    colour[c] = colour[c]! + weight * (mix(ground.rgb[c]!, p) + fine)
  }
}
