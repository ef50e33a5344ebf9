// What each pixel of a photo of a person shows.
import type { Perceiver, Perception, Pose } from './perception.ts'
import { toLab, type Lab } from './oklab.ts'
import { pause } from './pause.ts'
import { resize } from './plane.ts'
import { shrink, type Raster, type Size } from './raster.ts'
import { labelsNear, openPixels } from './parsing/band.ts'
import { borderCosts } from './parsing/borders.ts'
import { cheapest, labelCosts, learnColours, type Colours } from './parsing/colours.ts'
import { dissolveSpecks } from './parsing/cleanup.ts'
import { IMPOSSIBLE, improve, type Labelling } from './parsing/expansion.ts'
import { groundCosts, learnGround, type Ground } from './parsing/ground.ts'
import { LABEL, LABEL_COUNT } from './parsing/labels.ts'
import { colourIndices } from './parsing/mixture.ts'
import { look, sightCosts, type Sight } from './parsing/sight.ts'

export { LABEL, type Label } from './parsing/labels.ts'

/** A label for each pixel of the picture that was parsed. */
export interface Parsing extends Size {
  labels: Uint8Array
}

/** The longest side at which labels are found first; then their borders are refined. */
export const COARSE_SIDE = 256
/** The cost of a border between labels within a flat area, per pixel. By experiment. */
const STRENGTH = 3
/** Labels that cost so much more than a pixel's own one are not tried: no border has paid for more than 4 (63 photos). */
const mostBorders = 8
/** Pieces with fewer pixels, at the coarse size, are no part of their own. */
const SPECK = 14
/** Colours are learned from what the model sees at less than the first cost, and again from labels at less than the second. */
const SURE = 0.16
const DOUBTFUL = 1.5

/**
 * Labels every pixel of a photo of one person. The picture should be opaque and about 432 pixels
 * long; the perception is that of the same picture. Never fails: without a person the labels mean
 * nothing.
 * @param lab the picture in Oklab
 */
export async function parse(
  picture: Raster,
  perception: Perception,
  perceiver: Perceiver,
  lab = toLab(picture),
): Promise<Parsing> {
  const small = shrink(picture, COARSE_SIDE)
  const { width, height } = small
  const smallLab = small === picture ? lab : toLab(small)
  const pixels = new Int32Array(width * height).map((_, i) => i)
  const perceived = coarse(perception, small)
  const indices = colourIndices(smallLab, pixels)
  await pause()
  const sight = await look(small, perceived, perceiver)
  const seen = sightCosts(sight, small, pixels)
  await pause()
  const ground = await learnGround(smallLab, perceived.person)
  await pause()
  const groundCost = ground && groundCosts(ground, smallLab, indices, pixels)
  const borders = borderCosts(smallLab, STRENGTH, pixels)

  await pause()
  const costOf = (i: number, label: number) => seen[i * LABEL_COUNT + label]!
  let colours = learnColours(smallLab, (i, label) => costOf(i, label) < SURE)
  await pause()
  let costs = labelCosts(seen, colours, indices, groundCost)
  const rough: Labelling = { width, height, labels: cheapest(costs) }
  await improve(rough, { count: LABEL_COUNT, costs, borders, mostBorders }, pixels, 2)
  await pause()
  colours = learnColours(
    smallLab,
    (i, label) => rough.labels[i] === label && costOf(i, label) < DOUBTFUL,
  )
  await pause()
  costs = labelCosts(seen, colours, indices, groundCost)
  await improve(rough, { count: LABEL_COUNT, costs, borders, mostBorders }, pixels, 1)
  dissolveSpecks(rough, SPECK)
  if (small === picture) return rough
  const labels = enlarged(rough.labels, small, picture)
  const fine = { width: picture.width, height: picture.height, labels }
  await refine(fine, lab, { sight, colours, ground })
  return fine
}

/** What was learned from the small picture. */
interface Learned {
  sight: Sight
  colours: Colours
  ground: Ground | null
}

/** Moves the borders of the labels onto the edges of the picture, in place. */
async function refine(
  labelling: Labelling,
  lab: Lab,
  { sight, colours, ground }: Learned,
): Promise<void> {
  await pause()
  const pixels = openPixels(labelling, lab, colours[LABEL.skin] ?? null)
  const indices = colourIndices(lab, pixels)
  const groundCost = ground && groundCosts(ground, lab, indices, pixels)
  await pause()
  const costs = labelCosts(sightCosts(sight, labelling, pixels), colours, indices, groundCost)
  await pause()
  forbidNewLabels(costs, pixels, labelling)
  await pause()
  const borders = borderCosts(lab, STRENGTH, pixels)
  await improve(labelling, { count: LABEL_COUNT, costs, borders, mostBorders }, pixels, 1)
  dissolveSpecks(labelling, 4 * SPECK)
}

/** No label may appear where it was not near, but for straps on skin. */
function forbidNewLabels(costs: Float32Array, pixels: Int32Array, labelling: Labelling): void {
  const near = labelsNear(labelling)
  for (let k = 0; k < pixels.length; k++) {
    const i = pixels[k]!
    for (let label = 0; label < LABEL_COUNT; label++) {
      if ((near[i]! >> label) & 1) continue
      if (label === LABEL.top && labelling.labels[i] === LABEL.skin) continue
      costs[k * LABEL_COUNT + label] = IMPOSSIBLE
    }
  }
}

/** The same perception in a smaller picture. */
export function coarse(perception: Perception, { width, height }: Size): Perception {
  const scale = width / perception.person.width
  const joints = Object.entries(perception.pose).map(([name, { x, y, score }]) => [
    name,
    { x: x * scale, y: y * scale, score },
  ])
  return {
    ...perception,
    pose: Object.fromEntries(joints) as Pose,
    person: resize(perception.person, width, height),
  }
}

/** Repeats the values of a small picture in a larger one. */
function enlarged(values: Uint8Array, small: Size, { width, height }: Size): Uint8Array {
  const result = new Uint8Array(width * height)
  for (let y = 0, i = 0; y < height; y++) {
    const row = Math.floor(((y + 0.5) * small.height) / height) * small.width
    for (let x = 0; x < width; x++, i++) {
      result[i] = values[row + Math.floor(((x + 0.5) * small.width) / width)]!
    }
  }
  return result
}
