// The composition without codecs: pixels of a person and a garment in, the person wearing it out.
import { assess, type Assessment } from './assess.ts'
import { readBody, unfit, type Body } from './body.ts'
import { castShadow, coverOf, drawLayer, rounded } from './draw.ts'
import { waistOf } from './fit/lower.ts'
import { isUpper, readGarment, type Garment } from './garment.ts'
import { addGrain, grainOf } from './grain.ts'
import { drape, type Layers } from './layers.ts'
import { shadeOf } from './light.ts'
import { toLab } from './oklab.ts'
import { orderOf, type Order } from './order.ts'
import { LABEL, parse, type Parsing } from './parsing.ts'
import type { Perceiver, Perception } from './perception.ts'
import type { Plane } from './plane.ts'
import { ramp, shrink, type Raster } from './raster.ts'
import { Refusal } from './refusal.ts'
import { readScene } from './scene.ts'
import { BECOMES, planUncovering, uncover } from './uncover.ts'

/** Longest side on which pictures are analysed, in pixels. */
const ANALYSIS_SIDE = 512

export interface Composition {
  picture: Raster
  /** Measured on the finished picture; `verdict` decides on it. */
  assessment: Assessment
  /** What was understood on the way, at the size of the analysis. */
  steps: Steps
}

export interface Steps {
  /** The photo. */
  before: Raster
  perception: Perception
  parsing: Parsing
  body: Body
  garment: Garment
  /** The alpha of the garment as drawn, without what stays in front of it. */
  covered: Plane
  /** The share of the left and the right arm that sleeves cover. */
  reach: readonly [number, number]
  /** The distortion of the cloth at samples of the warp; see `stretchesOf`. */
  stretches: number[]
}

/**
 * Draws the garment on the person. Changes `photo` in place.
 * @throws Refusal when no person or no garment is found
 */
export function compose(photo: Raster, product: Raster, perceiver: Perceiver): Composition {
  const garment = readGarment(product, perceiver)
  if (!garment) {
    throw new Refusal('garment_not_found', 'No garment stands out from the background.')
  }
  const small = shrink(photo, ANALYSIS_SIDE)
  const before = small === photo ? { ...photo, data: photo.data.slice() } : small
  const perception = perceiver.perceive(before)
  const reason = unfit(perception)
  if (reason) throw new Refusal('person_not_found', reason)
  const parsing = parse(before, perception)
  const body = readBody(perception, parsing)
  const scene = readScene(parsing, body)
  const layers = drape(garment, body, scene, photo, photo.width / before.width)
  const lower = isUpper(garment) ? null : { waistY: waistOf(body, scene), hemY: scene.hemY }
  const order = orderOf(parsing, body, layers.reach, lower)

  const plan = planUncovering(
    parsing,
    perception.pose,
    coverage(layers, order),
    isUpper(garment) ? wornAs(layers, body) : garment.kind,
  )
  if (isUpper(garment)) keepArmsOnly(order, parsing, plan.becomes)
  const covered = coverage(layers, order)
  uncover(photo, plan, parsing, perception.pose)
  draw(photo, layers, order, {
    covered,
    parsing,
    body,
    shade: shadeOf(toLab(before), parsing, isUpper(garment) ? LABEL.top : LABEL.bottom, body.size),
  })
  const { reach, stretches } = layers
  const steps = { before, perception, parsing, body, garment, covered, reach, stretches }
  const assessment = assess(before, photo, { ...steps, perceiver })
  return { picture: photo, assessment, steps }
}

/** A garment that ends above the middle of the thighs is worn with what is below it. */
const wornAs = ({ hemY }: Layers, { torso }: Body) => (hemY > 1.4 * torso ? 'dress' : 'top')

/** The garment covers old sleeves, except where they become bare arms. */
function keepArmsOnly({ torso }: Order, { labels }: Parsing, becomes: Uint8Array): void {
  for (let i = 0; i < becomes.length; i++) {
    if (labels[i] === LABEL.top && becomes[i] !== BECOMES.skin) torso.data[i] = 0
  }
}

/** What the garment covers after all that stays in front of it. */
function coverage({ torso, sleeves }: Layers, order: Order): Plane {
  const covered = coverOf(torso, order.torso)
  const arms = sleeves && coverOf(sleeves, order.torso)
  for (let i = 0; i < covered.data.length; i++) {
    const trunk = covered.data[i]! * (1 - order.torso.data[i]!)
    const arm = arms ? arms.data[i]! * (1 - order.sleeves.data[i]!) : 0
    covered.data[i] = Math.max(trunk, arm)
  }
  return covered
}

interface Light {
  covered: Plane
  parsing: Parsing
  body: Body
  shade: Plane
}

function draw(
  photo: Raster,
  layers: Layers,
  order: Order,
  { covered, parsing, body, shade }: Light,
) {
  const grain = grainOf(photo)
  const light = rounded(shade, covered, body.size)
  castShadow(
    photo,
    {
      cover: covered,
      strength: 0.3,
      receives: (i) => (parsing.labels[i] === LABEL.ground ? 0 : 1),
    },
    body.size,
  )
  addGrain(layers.torso, grain)
  drawLayer(photo, layers.torso, order.torso, light)
  if (!layers.sleeves) return
  addGrain(layers.sleeves, grain)
  // Sleeves are sewn to the shoulders and cast a shadow below them only.
  const shoulders = (body.left.shoulder.y + body.right.shoulder.y) / 2
  const below = (i: number) => (i / covered.width - shoulders) / body.size
  const cover = coverOf(layers.sleeves, covered)
  castShadow(
    photo,
    {
      cover,
      strength: 0.25,
      receives: (i) => (covered.data[i]! > 0.5 ? ramp(below(i), 0.15, 0.5) : 0),
    },
    body.size,
  )
  drawLayer(photo, layers.sleeves, order.sleeves, light)
}
