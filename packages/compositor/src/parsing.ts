// What each pixel of a photo of a person shows.
import type { Perception, Pose } from './perception.ts'
import { toLab, type Lab } from './oklab.ts'
import { pause } from './pause.ts'
import { resize, type Plane } from './plane.ts'
import { ramp, shrink, type Raster, type Size } from './raster.ts'
import { bodyOf } from './parsing/body.ts'
import { labelsNear, openPixels } from './parsing/band.ts'
import { borderCosts, MOST_BORDERS } from './parsing/borders.ts'
import { learnColours, relearnColours, type Colours } from './parsing/colours.ts'
import { cheapest, labelCosts, type Clues } from './parsing/costs.ts'
import { dissolveSpecks, forbidOddPieces } from './parsing/cleanup.ts'
import { IMPOSSIBLE, improve, type Labelling } from './parsing/expansion.ts'
import { frameOf, within, type Frame } from './parsing/frame.ts'
import { groundCosts, learnGround, openGround, type Ground } from './parsing/ground.ts'
import { LABEL, LABEL_COUNT } from './parsing/labels.ts'
import { colourIndices } from './parsing/mixture.ts'

export { LABEL, type Label } from './parsing/labels.ts'

/** A label for each pixel of the picture that was parsed. */
export interface Parsing extends Size {
  labels: Uint8Array
}

export interface ParsedClothes extends Parsing {
  /** Whether the clothes have one colour and no hem at the hips, so that the line between top and bottom is a guess. */
  isWaistGuessed: boolean
}

/** The longest side at which labels are found first; then their borders are refined. */
const COARSE_SIDE = 256
/** The cost of a border between labels within a flat area, per pixel. By experiment. */
const STRENGTH = 3
const mostBorders = STRENGTH * MOST_BORDERS
/** Pieces with fewer pixels, at the coarse size, are no part of their own. */
const SPECK = 14
/** The least probability of a person on a bone, and on a forearm, whose joints are seen best. */
const BONE = 0.6
const FOREARM = { at: [0.8, 2], bone: 0.995 } as const
/** Shoulder widths from a bone within which that holds in full, and beyond which it does not hold. */
const BONE_NEAR = 0.04
const BONE_FAR = 0.1

/**
 * Labels every pixel of a photo of one person. The picture should be opaque and about 432 pixels
 * long; the perception is that of the same picture. Never fails: without a person the labels mean
 * nothing.
 * @param lab the picture in Oklab
 */
export async function parse(
  picture: Raster,
  perception: Perception,
  lab = toLab(picture),
): Promise<ParsedClothes> {
  const small = shrink(picture, COARSE_SIDE)
  const { width, height } = small
  const body = bodyOf(scaled(perception.pose, width / picture.width))
  const smallLab = small === picture ? lab : toLab(small)
  const pixels = new Int32Array(width * height).map((_, i) => i)
  const frame = frameOf(body, width, pixels)
  const person = withLimbs(resize(perception.person, width, height), frame)
  const indices = colourIndices(smallLab, pixels)
  await pause()
  const ground = await learnGround(smallLab, person)
  await pause()
  const groundCost = ground && groundCosts(ground, smallLab, indices, pixels)
  await pause()
  const open = groundCost ? openGround(groundCost, person) : new Uint8Array(pixels.length)
  const evidence = { lab: smallLab, indices, person, frame, ground: groundCost }
  const clues = { frame, indices, person: person.data, ground: groundCost, open }
  const borders = borderCosts(smallLab, STRENGTH, pixels)

  await pause()
  let colours = learnColours(evidence, body)
  await pause()
  let costs = labelCosts(clues, colours)
  const coarse: Labelling = { width, height, labels: cheapest(costs) }
  await improve(coarse, { count: LABEL_COUNT, costs, borders, mostBorders }, pixels, 2)
  const hasHood = forbidOddPieces(coarse, costs, evidence, body.unit)
  await pause()
  colours = { ...relearnColours(evidence, colours, coarse.labels), hasHood }
  await pause()
  costs = labelCosts(clues, colours)
  await improve(coarse, { count: LABEL_COUNT, costs, borders, mostBorders }, pixels, 1)
  forbidOddPieces(coarse, costs, evidence, body.unit)
  dissolveSpecks(coarse, SPECK)
  const { isWaistGuessed } = colours
  if (small === picture) return { ...coarse, isWaistGuessed }
  const labels = enlarged(coarse.labels, small, picture)
  const fine = { width: picture.width, height: picture.height, labels }
  await refine(fine, lab, perception, { colours, ground, open: enlarged(open, small, picture) })
  return { ...fine, isWaistGuessed }
}

/** What was learned from the small picture; `open` in the size of the large one. */
interface Learned {
  colours: Colours
  ground: Ground | null
  open: Uint8Array
}

/** Moves the borders of the labels onto the edges of the picture, in place. */
async function refine(
  labelling: Labelling,
  lab: Lab,
  perception: Perception,
  { colours, ground, open }: Learned,
): Promise<void> {
  await pause()
  const pixels = openPixels(labelling, lab, colours.litSkin)
  const indices = colourIndices(lab, pixels)
  const clues: Clues = {
    frame: frameOf(bodyOf(perception.pose), lab.width, pixels),
    indices,
    person: new Float32Array(pixels.length).map((_, k) => perception.person.data[pixels[k]!]!),
    ground: ground && groundCosts(ground, lab, indices, pixels),
    open: new Uint8Array(pixels.length).map((_, k) => open[pixels[k]!]!),
  }
  await pause()
  const costs = labelCosts(clues, colours)
  await pause()
  forbidNewLabels(costs, pixels, labelling)
  await pause()
  const borders = borderCosts(lab, STRENGTH, pixels)
  await improve(labelling, { count: LABEL_COUNT, costs, borders, mostBorders }, pixels, 1)
  dissolveSpecks(labelling, 4 * SPECK)
}

/** Along the bones there is a person, even where the mask misses a limb that looks like the ground. */
function withLimbs(person: Plane, { armDistance, armAt, legDistance }: Frame): Plane {
  const data = person.data.slice()
  const on = (distance: number) => ramp(-distance, -BONE_FAR, -BONE_NEAR)
  for (let i = 0; i < data.length; i++) {
    const arm = (within(armAt[i]!, FOREARM.at) ? FOREARM.bone : BONE) * on(armDistance[i]!)
    data[i] = Math.max(data[i]!, arm, BONE * on(legDistance[i]!))
  }
  return { ...person, data }
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

const scaled = (pose: Pose, scale: number) =>
  Object.fromEntries(
    Object.entries(pose).map(([name, joint]) => [
      name,
      { x: joint.x * scale, y: joint.y * scale, score: joint.score },
    ]),
  ) as Pose

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
