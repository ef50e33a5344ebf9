// Paints the planned ground, skin and bottom into the photo.
import { LABEL, type Parsing } from '../parsing.ts'
import type { Pose } from '../perception.ts'
import { blur, createPlane, type Plane } from '../plane.ts'
import { clamp, type Raster } from '../raster.ts'
import { bottomRows } from './bottom-field.ts'
import { groundUnder, type Ground } from './ground-field.ts'
import { measureGrain } from './grain.ts'
import { bodySize, limbsOf } from './limbs.ts'
import { createMatte, type Between } from './matte.ts'
import { grainAt, type Grain } from './noise.ts'
import { BECOMES, type UncoverPlan } from './becomes.ts'
import { withRim } from './rim.ts'
import { clearSkin, skinField } from './skin-field.ts'
import { learnSkin } from './skin-model.ts'
import { withoutStrays } from './strays.ts'
import { averageTo, type Small } from './small.ts'
import { torsoOf } from './torso.ts'

/**
 * Repaints, in place, the pixels of `photo` (any size) where `plan` is not `keep`. Parsing, pose and plan are in
 * the size of the analysis.
 *
 * @returns false, with the photo unchanged, when skin must be painted but none is visible
 */
export function uncover(photo: Raster, plan: UncoverPlan, original: Parsing, pose: Pose): boolean {
  const { width, height } = plan
  if (!plan.becomes.some((what) => what !== BECOMES.keep)) return true
  const parsing = withoutStrays(original, bodySize(pose))
  const small = averageTo(photo, width, height)
  const torso = torsoOf(parsing, pose)
  const limbs = limbsOf(parsing, pose)
  const keeps = (at: number) => plan.becomes[at] === BECOMES.keep
  const isClear = clearSkin(parsing, keeps, LABEL.skin)
  const model = learnSkin(small, isClear, clearSkin(parsing, keeps, LABEL.face), limbs)
  if (!model && plan.becomes.includes(BECOMES.skin)) return false
  const { becomes, stays } = withRim(plan, parsing, small, model, limbs, torso)
  const skin =
    model &&
    skinField(small, parsing.labels, maskOf(becomes, BECOMES.skin), isClear, model, limbs, torso)
  const ground = groundUnder(small, parsing, maskOf(becomes, BECOMES.ground))
  const rows = bottomRows(parsing, maskOf(becomes, BECOMES.bottom))
  const grain = measureGrain(photo, parsing, (label) => label === LABEL.skin)
  compose(photo, { becomes, stays, width, height, small, parsing, skin, ground, rows, grain })
  return true
}

function maskOf(becomes: Uint8Array, what: number): Uint8Array {
  const mask = new Uint8Array(becomes.length)
  for (let at = 0; at < mask.length; at++) if (becomes[at] === what) mask[at] = 1
  return mask
}

interface Layers {
  becomes: Uint8Array
  stays: Float32Array
  width: number
  height: number
  small: Small
  parsing: Parsing
  skin: Small['rgb'] | null
  ground: Ground
  rows: Float32Array
  grain: Grain
}

function softMask(layers: Layers, what: number): Plane {
  const plane = createPlane(layers.width, layers.height)
  for (let at = 0; at < plane.data.length; at++) {
    plane.data[at] = what === BECOMES.keep ? layers.stays[at]! : layers.becomes[at] === what ? 1 : 0
  }
  return blur(plane, what === BECOMES.keep ? 1 : 2)
}

function mix(data: ArrayLike<number>, p: Between): number {
  const upper = data[p.i]! * (1 - p.fx) + data[p.j]! * p.fx
  const lower = data[p.k]! * (1 - p.fx) + data[p.l]! * p.fx
  return upper * (1 - p.fy) + lower * p.fy
}

function compose(photo: Raster, layers: Layers): void {
  const { width, height } = layers
  const soft = [BECOMES.keep, BECOMES.ground, BECOMES.skin, BECOMES.bottom].map(
    (what) => softMask(layers, what).data,
  )
  const matte = createMatte(layers.small, layers.parsing, layers.becomes, layers.stays)
  const sharpness = Math.max(5, (5 * photo.width) / width)
  const colour: [number, number, number] = [0, 0, 0]
  const old: [number, number, number] = [0, 0, 0]
  const p: Between = { i: 0, j: 0, k: 0, l: 0, fx: 0, fy: 0 }
  for (let y = 0, to = 0; y < photo.height; y++) {
    const sy = Math.min(height - 1, Math.max(0, ((y + 0.5) * height) / photo.height - 0.5))
    const y0 = Math.floor(sy)
    const y1 = Math.min(height - 1, y0 + 1)
    p.fy = sy - y0
    for (let x = 0; x < photo.width; x++, to += 4) {
      const sx = Math.min(width - 1, Math.max(0, ((x + 0.5) * width) / photo.width - 0.5))
      const x0 = Math.floor(sx)
      const x1 = Math.min(width - 1, x0 + 1)
      p.i = y0 * width + x0
      p.j = y0 * width + x1
      p.k = y1 * width + x0
      p.l = y1 * width + x1
      p.fx = sx - x0
      const keep = mix(soft[0]!, p)
      if (keep > 0.985) continue
      let total = 0
      colour.fill(0)
      for (let what = 1; what < 4; what++) {
        const share = mix(soft[what]!, p)
        if (share < 0.01) continue
        const weight = share ** sharpness
        if (!addLayer(photo, layers, what, p, x, y, weight, colour)) continue
        total += weight
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

/** Adds the layer's colour times the weight; false when the layer has none there. */
function addLayer(
  photo: Raster,
  layers: Layers,
  what: number,
  p: Between,
  x: number,
  y: number,
  weight: number,
  colour: [number, number, number],
): boolean {
  if (what === BECOMES.bottom) {
    let row = -1
    let best = 0
    const shares = [(1 - p.fx) * (1 - p.fy), p.fx * (1 - p.fy), (1 - p.fx) * p.fy, p.fx * p.fy]
    for (const [n, at] of [p.i, p.j, p.k, p.l].entries()) {
      if (layers.rows[at]! < 0 || shares[n]! <= best) continue
      best = shares[n]!
      // Within the pixel of the analysis the mirrored rows run upwards.
      row =
        layers.rows[at]! +
        Math.floor(at / layers.width) +
        0.5 -
        ((y + 0.5) * layers.height) / photo.height
    }
    if (row < 0) return false
    const from = Math.min(
      photo.height - 1,
      Math.max(0, Math.round((row * photo.height) / layers.height)),
    )
    for (let c = 0; c < 3; c++)
      colour[c] = colour[c]! + weight * photo.data[(from * photo.width + x) * 4 + c]!
    return true
  }
  if (what === BECOMES.ground) {
    addGround(photo, layers, p, x, y, weight, colour)
    return true
  }
  const field = layers.skin
  if (!field) return false
  const grain = grainAt(layers.grain, x, y)
  for (let c = 0; c < 3; c++) colour[c] = colour[c]! + weight * (mix(field[c]!, p) + grain)
  return true
}

/** Smooth ground with the texture of the real ground to which it is shifted. */
function addGround(
  photo: Raster,
  { ground, width, height }: Layers,
  p: Between,
  x: number,
  y: number,
  weight: number,
  colour: [number, number, number],
): void {
  const at = p.fy < 0.5 ? (p.fx < 0.5 ? p.i : p.j) : p.fx < 0.5 ? p.k : p.l
  const { shiftX, shiftY } = ground
  const even =
    Math.abs(shiftX[p.i]! - shiftX[p.l]!) + Math.abs(shiftY[p.i]! - shiftY[p.l]!) < 8 &&
    Math.abs(shiftX[p.j]! - shiftX[p.k]!) + Math.abs(shiftY[p.j]! - shiftY[p.k]!) < 8
  const dx = even ? mix(shiftX, p) : shiftX[at]!
  const dy = even ? mix(shiftY, p) : shiftY[at]!
  const sx = clamp(Math.round(x + (dx * photo.width) / width), 0, photo.width - 1)
  const sy = clamp(Math.round(y + (dy * photo.height) / height), 0, photo.height - 1)
  const low =
    Math.min(height - 1, Math.floor((sy * height) / photo.height)) * width +
    Math.min(width - 1, Math.floor((sx * width) / photo.width))
  const shifted = shiftX[at] !== 0 || shiftY[at] !== 0
  for (let c = 0; c < 3; c++) {
    const texture = shifted
      ? photo.data[(sy * photo.width + sx) * 4 + c]! - ground.low[low * 3 + c]!
      : 0
    colour[c] = colour[c]! + weight * (mix(ground.rgb[c]!, p) + texture)
  }
}
