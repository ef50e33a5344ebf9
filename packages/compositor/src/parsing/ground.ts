// What speaks for the ground: its colours continued under the person, and all its colours when it is
// not plain.
import type { Lab } from '../oklab.ts'
import { pause } from '../pause.ts'
import { createPlane, median, resize, sample, type Plane } from '../plane.ts'
import { pixelsWhere } from '../raster.ts'
import { CAP, OFFSET, colourCosts, type ColourCosts } from './mixture.ts'
import { blur } from '../smoothing.ts'

/** Where the mask gives a person less than this, it is sure of the ground. */
const SURELY = 0.04
/** A ground that differs more than this from its own smooth course is not plain. */
const PLAIN = 0.045
/** And one that changes more than this from place to place may have edges. */
const UNIFORM = 0.07
/** Pixels that differ this much more than so many medians are a shadow, a thing, or an arm that the mask missed. */
const OUTLYING = { least: 0.03, medians: 4 }
/** The Gaussians of a ground that is not plain: their number and least deviation in Oklab lightness. */
const GAUSSIANS = { parts: 5, slack: 0.03 }
/** The smallest deviations that are believed, so that neither noise nor compression decides. */
const LEAST_LIGHT = 0.01
const LEAST_TINT = 0.005
/** Shadows are darker than the ground by several deviations, and rarer than the ground itself. */
const SHADOW = 4
const RARER = 2
/** The least cost: a perfect match is better than any that clothing can have, yet no proof. */
const LEAST = -2
/** How much the ground's own course, from place to place, and the limbs make its continuation unsure. */
const DRIFT = 0.9

/** What is known of the ground. The planes are smaller than the picture. */
export interface Ground {
  L: Course
  a: Course
  b: Course
  /** All the colours of a ground that is not plain. */
  colours: ColourCosts | null
}

/** The smooth course of one channel of the ground, continued under the person. */
interface Course {
  values: Plane
  /** The deviation of the ground from the course near by. */
  deviations: Plane
  /** From 0 to 1: from how far away the value was taken. */
  reach: Plane
  /** The deviation of all the ground from the course, and of the course from its mean. */
  noise: number
  spread: number
}

/** @returns null when no ground is seen */
export async function learnGround(lab: Lab, person: Plane): Promise<Ground | null> {
  const { width, height } = person
  const surely = createPlane(width, height)
  for (let i = 0; i < surely.data.length; i++) surely.data[i] = person.data[i]! < SURELY ? 1 : 0
  if (!surely.data.includes(1)) return null
  dropOutliers({ width, height, data: lab.L }, surely)
  const shares = sharesOf(surely)
  const course = (data: Float32Array) => courseOf({ width, height, data }, shares)
  await pause()
  const [L, a, b] = [course(lab.L), course(lab.a), course(lab.b)]
  await pause()
  const rough = L.noise > PLAIN || Math.max(a.noise, b.noise) > PLAIN / 2
  if (!rough && L.spread < UNIFORM) return { L, a, b, colours: null }
  const pixels = pixelsWhere(width * height, (i) => surely.data[i] === 1)
  return { L, a, b, colours: colourCosts(lab, pixels, GAUSSIANS.parts, GAUSSIANS.slack) }
}

/** The cost of the colour of each listed pixel as that of the ground, on the scale of `colourCosts`. */
export function groundCosts(
  { L, a, b, colours }: Ground,
  lab: Lab,
  indices: Uint16Array,
  pixels: Int32Array,
): Float32Array {
  const { width, height } = lab
  const costs = new Float32Array(pixels.length)
  const spreadTint = Math.max(a.spread, b.spread)
  for (let k = 0; k < pixels.length; k++) {
    const i = pixels[k]!
    const u = (((i % width) + 0.5) * L.values.width) / width
    const v = ((Math.floor(i / width) + 0.5) * L.values.height) / height
    const dL = lab.L[i]! - sample(L.values, u, v)
    const da = lab.a[i]! - sample(a.values, u, v)
    const db = lab.b[i]! - sample(b.values, u, v)
    const light = Math.max(LEAST_LIGHT, sample(L.deviations, u, v))
    const tint = Math.max(LEAST_TINT, sample(a.deviations, u, v), sample(b.deviations, u, v))
    // As it continues if nothing changes, or as the light changes under way.
    const far = sample(L.reach, u, v) * DRIFT
    const farTint = tint * (1 + far) + far * spreadTint
    const plain = Math.min(
      plainCost(dL, da, db, light, tint),
      plainCost(dL, da, db, light + far * L.spread, farTint),
    )
    const any = colours ? colours[indices[k]!]! : Infinity
    costs[k] = Math.min(CAP, any, Math.max(LEAST, plain))
  }
  return costs
}

/** The cost of a difference from the course, given the usual deviations of lightness and tint. */
function plainCost(dL: number, da: number, db: number, light: number, tint: number): number {
  const norm = OFFSET + Math.log(light * tint * tint) + 1.5 * Math.log(2 * Math.PI)
  const lit = 0.5 * (dL / light) ** 2
  const shaded = dL < 0 ? RARER + 0.5 * (dL / (SHADOW * light)) ** 2 : Infinity
  return norm + (0.5 * (da * da + db * db)) / (tint * tint) + Math.min(lit, shaded)
}

/** Takes out of the ground, in place, what differs from its course far more than the rest. */
function dropOutliers(values: Plane, ground: Plane): void {
  const course = enlarged(continued(values, sharesOf(ground)).filled, values)
  const misfit = values.data.slice()
  for (let i = 0; i < misfit.length; i++) misfit[i] = Math.abs(misfit[i]! - course[i]!)
  const sure = pixelsWhere(misfit.length, (i) => ground.data[i] === 1)
  const limit = OUTLYING.least + OUTLYING.medians * median(sure.map((i) => misfit[i]!))
  for (let i = 0; i < misfit.length; i++) if (misfit[i]! > limit) ground.data[i] = 0
}

function courseOf(values: Plane, shares: Shares): Course {
  const { ground } = shares
  const { filled, reach } = continued(values, shares)
  const course = enlarged(filled, values)
  const squares = values.data.slice()
  for (let i = 0; i < squares.length; i++) squares[i] = (squares[i]! - course[i]!) ** 2
  const deviations = continued({ ...values, data: squares }, shares).filled
  // Running sums leave traces below zero.
  deviations.data.forEach((square, i) => (deviations.data[i] = Math.sqrt(Math.max(0, square))))
  const mean = course.slice().fill(meanOf(values.data, ground.data))
  return {
    values: filled,
    deviations,
    reach,
    noise: deviation(values.data, course, ground.data),
    spread: deviation(values.data, mean, ground.data),
  }
}

const RADII = [1, 2, 4, 8, 16, 32]
/** The shares of ground within a radius from which a value is known, and no larger radius is tried. */
const SHARE = { known: 0.02, enough: 0.2 }

/** The ground, and its share around each pixel of a quarter of the size, for each radius. */
interface Shares {
  ground: Plane
  around: Plane[]
}

function sharesOf(ground: Plane): Shares {
  const weight = resize(ground, quarter(ground.width), quarter(ground.height))
  return { ground, around: RADII.map((radius) => blur(weight, radius)) }
}

const quarter = (side: number) => Math.max(1, Math.round(side / 4))

/** The blurred values of the ground at a quarter of the size; elsewhere those of the nearest ground. */
function continued(values: Plane, { ground, around }: Shares): { filled: Plane; reach: Plane } {
  const masked = values.data.slice()
  for (let i = 0; i < masked.length; i++) masked[i]! *= ground.data[i]!
  const { width, height } = around[0]!
  const weighted = resize({ ...values, data: masked }, width, height)
  const filled = createPlane(width, height)
  const reach = createPlane(width, height)
  const known = new Uint8Array(width * height)
  for (const [level, radius] of RADII.entries()) {
    const sum = blur(weighted, radius)
    const share = around[level]!
    for (let i = 0; i < known.length; i++) {
      if (known[i] || share.data[i]! < SHARE.known) continue
      filled.data[i] = sum.data[i]! / share.data[i]!
      reach.data[i] = level / (RADII.length - 1)
      known[i] = share.data[i]! > SHARE.enough ? 1 : 0
    }
  }
  return { filled, reach }
}

const enlarged = (plane: Plane, { width, height }: Plane) => resize(plane, width, height).data

function meanOf(values: Float32Array, where: Float32Array): number {
  let [sum, count] = [0, 0]
  for (let i = 0; i < values.length; i++) {
    sum += values[i]! * where[i]!
    count += where[i]!
  }
  return sum / Math.max(1, count)
}

/** The root of the mean square of the difference where `where` is 1. */
function deviation(values: Float32Array, model: Float32Array, where: Float32Array): number {
  let [sum, count] = [0, 0]
  for (let i = 0; i < values.length; i++) {
    if (!where[i]) continue
    sum += (values[i]! - model[i]!) ** 2
    count++
  }
  return Math.sqrt(sum / Math.max(1, count))
}
