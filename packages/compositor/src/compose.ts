// The composition without codecs: pixels of a person and a garment in, the person wearing it out.
import { assess, type Assessment } from './assess.ts'
import { readBody, type Body } from './body.ts'
import { castShadow, coverOf, drawLayer, rounded } from './draw.ts'
import { waistOf } from './fit/lower.ts'
import { readGarment } from './garment/read.ts'
import { isUpper, type Garment } from './garment.ts'
import { addGrain, grainOf } from './grain.ts'
import { seePerson } from './half-length.ts'
import { withoutHiddenArm } from './hidden-arm.ts'
import { drape, type Layers } from './layers.ts'
import { shadeOf } from './light.ts'
import { toLab } from './oklab.ts'
import { orderOf, type Order } from './order.ts'
import { LABEL, parse, type Parsing } from './parsing.ts'
import type { Perceiver, Perception } from './perception.ts'
import { pause } from './pause.ts'
import { piecesOf } from './pieces.ts'
import type { Plane } from './plane.ts'
import { indexAt, ramp, type Raster } from './raster.ts'
import { CompositionError } from './composition-error.ts'
import { readScene } from './scene.ts'
import { BECOMES, groundIn, planUncovering, uncover } from './uncover.ts'

export interface Composition {
  picture: Raster
  /** Measured on the finished picture; `verdict` decides on it. */
  assessment: Assessment
  /** What was understood on the way, at the size of the analysis. */
  steps: Steps
}

export interface Steps {
  /** The photo, continued below if it ends above the hips. */
  before: Raster
  perception: Perception
  parsing: Parsing
  body: Body
  garment: Garment
  /** The alpha of the garment as drawn, without what stays in front of it. */
  covered: Plane
  /** Whether the ground is seen, or painted, at a pixel. */
  showsGround(i: number): boolean
  /** The share of the left and the right arm that sleeves cover. */
  reach: readonly [number, number]
  /** The distortion of the cloth at samples of the warp; see `stretchesOf`. */
  stretches: number[]
}

/**
 * Draws the garment on the person. Changes `model` in place.
 * @throws CompositionError when no person or no garment is found
 */
export async function compose(
  model: Raster,
  product: Raster,
  perceiver: Perceiver,
): Promise<Composition> {
  const garment = await readGarment(product, perceiver)
  if (!garment) {
    throw new CompositionError('garment_not_found', 'No garment stands out from the background.')
  }
  await pause()
  const { photo, before, seen } = await seePerson(model, garment, perceiver)
  const lab = toLab(before)
  await pause()
  const parsing = await parse(before, seen, perceiver, lab)
  const perception = withoutHiddenArm(seen, parsing)
  await pause()
  const body = readBody(perception, parsing)
  const scene = readScene(parsing, body)
  const layers = await drape(garment, body, scene, photo, photo.width / before.width)
  const lower = isUpper(garment) ? null : { waistY: waistOf(body, scene), hemY: scene.hemY }
  await pause()
  const order = orderOf(parsing, body, layers.reach, lower)

  await pause()
  const plan = await planUncovering(
    parsing,
    perception.pose,
    coverage(layers, order),
    isUpper(garment) ? wornAs(layers, body) : garment.kind,
    layers.reach,
  )
  if (isUpper(garment)) keepArmsOnly(order, parsing, plan.becomes, body.size)
  const covered = coverage(layers, order)
  await pause()
  const grain = grainIn(photo, parsing)
  await pause()
  await uncover(photo, plan)
  await pause()
  const label = isUpper(garment) ? LABEL.top : LABEL.bottom
  const shade = shadeOf(lab, parsing, label, body.size)
  const showsGround = groundIn(plan, parsing.labels)
  await draw(photo, layers, order, { covered, showsGround, body, shade, grain })
  const { reach, stretches } = layers
  const seenIn = { before, perception, parsing, body, garment }
  const steps = { ...seenIn, covered, showsGround, reach, stretches }
  const assessment = await assess(before, photo, steps)
  const picture = { ...model, data: photo.data.subarray(0, model.data.length) }
  return { picture, assessment, steps }
}

/** The middle of the thighs, in lengths of the torso below the shoulders. */
const THIGHS = 1.4

/** A garment that ends above the middle of the thighs is worn with what is below it. */
const wornAs = ({ hemY }: Layers, { torso }: Body) => (hemY > THIGHS * torso ? 'dress' : 'top')

/** Smaller than this, in squared sizes of the body, what becomes skin before the garment is a speck. By experiment. */
const SPECK = 0.01

/** The garment covers old sleeves, except where they become bare arms. */
function keepArmsOnly(
  { torso }: Order,
  { labels, width }: Parsing,
  becomes: Uint8Array,
  size: number,
): void {
  const arms = new Uint8Array(labels.length)
  for (let i = 0; i < labels.length; i++) {
    if (labels[i] !== LABEL.top) continue
    if (becomes[i] !== BECOMES.skin) torso.data[i] = 0
    else if (torso.data[i]! > 0) arms[i] = 1
  }
  const besideSkin = (i: number) =>
    [i - 1, i + 1, i - width, i + width].some((at) => labels[at] === LABEL.skin)
  for (const { pixels } of piecesOf(arms, width, 1)) {
    if (pixels.length > SPECK * size ** 2 || pixels.some(besideSkin)) continue
    for (const i of pixels) torso.data[i] = 0
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

/** How dark the shadows of the torso and of the sleeves are next to the cloth, from 0 to 1; chosen by eye. */
const TORSO_SHADOW = 0.3
const SLEEVE_SHADOW = 0.25
/** Below the shoulders, relative to the body's size: where sleeves begin to cast a shadow, and cast all of it. */
const SHADOW = { from: 0.15, full: 0.5 }

interface Light {
  covered: Plane
  /** Whether the ground is seen at a pixel of the analysis. */
  showsGround(i: number): boolean
  body: Body
  shade: Plane
  grain: number
}

/** The grain of the photo, without the texture of clothes and hair. */
function grainIn(photo: Raster, parsing: Parsing): number {
  const scale = photo.width / parsing.width
  return grainOf(photo, ({ x, y }) => {
    const label = parsing.labels[indexAt(parsing, { x: x / scale, y: y / scale })]
    return label === LABEL.ground || label === LABEL.face || label === LABEL.skin
  })
}

async function draw(
  photo: Raster,
  layers: Layers,
  order: Order,
  { covered, showsGround, body, shade, grain }: Light,
): Promise<void> {
  await pause()
  const light = rounded(shade, covered, body.size)
  await castShadow(
    photo,
    {
      cover: covered,
      strength: TORSO_SHADOW,
      receives: (i) => (showsGround(i) ? 0 : 1),
    },
    body.size,
  )
  await pause()
  addGrain(layers.torso, grain)
  await drawLayer(photo, layers.torso, order.torso, light)
  if (!layers.sleeves) return
  await pause()
  addGrain(layers.sleeves, grain)
  // Sleeves are sewn to the shoulders and cast a shadow below them only.
  const shoulders = (body.left.shoulder.y + body.right.shoulder.y) / 2
  const below = (i: number) => (i / covered.width - shoulders) / body.size
  const cover = coverOf(layers.sleeves, covered)
  await castShadow(
    photo,
    {
      cover,
      strength: SLEEVE_SHADOW,
      receives: (i) => (covered.data[i]! > 0.5 ? ramp(below(i), SHADOW.from, SHADOW.full) : 0),
    },
    body.size,
  )
  await drawLayer(photo, layers.sleeves, order.sleeves, light)
}
