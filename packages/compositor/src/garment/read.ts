// Reads a product photo: cuts the cloth out and finds its landmarks.
import { CompositionError } from '../composition-error.ts'
import type { Garment } from '../garment.ts'
import { toLab, type Lab } from '../oklab.ts'
import { parse } from '../parsing.ts'
import { pause } from '../pause.ts'
import type { Perceiver } from '../perception.ts'
import { ANALYSIS_SIDE, flatten, shrink, type Raster } from '../raster.ts'
import { area, borderOf, maskWhere, type Mask } from './mask.ts'
import { keepLarge, LEAST_PIECE } from './regions.ts'
import { clothsOf, type FoundCloth } from './cloth-mask.ts'
import { differsFromAround } from './outline-quality.ts'
import { paintCloth } from './before-cloth.ts'
import { withoutHolder } from './holder.ts'
import { fillStraps } from './holes.ts'
import { withoutHood } from './hood.ts'
import { matteOf } from './matte.ts'
import { withoutLegCut } from './leg-cut.ts'
import { withoutStrings } from './strings.ts'
import { withoutSupport } from './support.ts'
import { straighten, tiltOf } from './tilt.ts'
import { withoutTassels } from './lower.ts'
import { withoutLining } from './lining.ts'
import { sleevesIn } from './product.ts'
import {
  isWornOnLegs,
  mayShowPerson,
  showsFace,
  showsPerson,
  showsSkin,
  wearerIn,
  withLegs,
} from './wearer.ts'
import { shapeOnLegs, wornShapeOf } from './worn.ts'
import {
  bestFirst,
  checkLower,
  checkUpper,
  LOST,
  showsShoulders,
  withBothSleeves,
} from './whole.ts'
import { legsApart } from './seams.ts'
import { hasOneSleeve, hasParts, lowerShape, upperShape, type Shape } from './shape.ts'

/**
 * @returns null when nothing stands out from the ground, or what does cannot be a garment
 * @throws CompositionError when the garment is covered, cut off, folded or hides a sleeve, or cloth was lost in the ground
 */
export async function readGarment(picture: Raster, perceiver: Perceiver): Promise<Garment | null> {
  if (picture.width < 8 || picture.height < 8) return null
  const analysed = analysedOf(picture)
  const { small } = analysed
  const perception = await perceiver.perceive(small, {
    isPossible: (pose) => mayShowPerson(pose, small),
    isWorthwhile: (pose) => showsPerson(pose, small),
  })
  const wearer = wearerIn(perception, small)
  if (!wearer && !isWornOnLegs(perception)) {
    if (showsFace(perception.pose)) {
      throw new CompositionError(
        'garment_not_found',
        'The person who wears the garment must be visible from the shoulders to the hips, about from the front.',
      )
    }
    return readFlat(picture, analysed, perceiver)
  }
  const parsing = await parse(
    small,
    wearer ? perception : await withLegs(small, perception, perceiver),
    perceiver,
  )
  if (wearer && !showsSkin(parsing)) return readFlat(picture, analysed, perceiver)
  const found = wearer ? wornShapeOf(parsing, wearer) : shapeOnLegs(parsing, perception.pose)
  if (!found) return null
  const { shape, mask, hidden } = found
  if (hidden) await paintCloth(picture, small, mask, hidden)
  return finished(shape, mask, small, picture)
}

/** A product photo in the size in which it is analysed. */
interface Analysed {
  shrunk: Raster
  /** The same without transparency. */
  small: Raster
}

function analysedOf(picture: Raster): Analysed {
  const shrunk = shrink(picture, ANALYSIS_SIDE)
  return { shrunk, small: opaque(shrunk) }
}

/** The models and the parsing know no transparency. */
export function opaque(picture: Raster): Raster {
  const copy = { ...picture, data: picture.data.slice() }
  flatten(copy)
  return copy
}

/**
 * @param analysed the same picture
 * @param isUpright whether the garment was turned upright before
 * @returns null when nothing stands out from the ground, or what does cannot be a garment
 * @throws CompositionError when the garment is cut off, folded or hides a sleeve, or cloth was lost in the ground
 */
async function readFlat(
  picture: Raster,
  analysed: Analysed,
  perceiver: Perceiver,
  isUpright = false,
): Promise<Garment | null> {
  const { shrunk, small } = analysed
  const lab = toLab(shrunk)
  const cuts = transparentBorder(shrunk)
    ? [clothOfAlpha(shrunk)]
    : clothsOf(shrunk, lab, () => perceiver.salience(small))
  const problems: (CompositionError | null)[] = []
  let least = 0
  let labels: Uint8Array | undefined
  for await (const found of bestFirst(cuts)) {
    const tilt = isUpright ? 0 : tiltOf(found.mask)
    if (tilt !== 0) {
      if (isCutOff(found.mask, CUT_OFF.turned)) throw new CompositionError('garment_not_found', CUT)
      const upright = await straighten(picture, found.mask, tilt)
      return readFlat(upright, analysedOf(upright), perceiver, true)
    }
    if (area(found.mask) < least) continue
    if (isCutOff(found.mask)) least = area(found.mask) * LEAST_REST
    labels ??= await perceiver.product(small)
    try {
      const read = await readCloth(found, lab, { small, labels }, perceiver)
      if (!read) {
        problems.push(null)
        continue
      }
      return await finished(read.shape, read.mask, shrunk, picture)
    } catch (error) {
      if (!(error instanceof CompositionError)) throw error
      problems.push(error)
    }
  }
  // That of the most likely way to cut it out.
  if (problems[0]) throw problems[0]
  return null
}

/** What a product photo shows. */
interface Photo {
  small: Raster
  /** What the model sees, as in `PRODUCT`. */
  labels: Uint8Array
}

interface Read {
  shape: Shape
  /** The cloth that is seen. */
  mask: Mask
}

/**
 * @returns null when what was cut out cannot be a garment
 * @throws CompositionError when the garment is cut off, folded or hides a sleeve, or cloth was lost in the ground
 */
async function readCloth(
  found: FoundCloth,
  lab: Lab,
  photo: Photo,
  perceiver: Perceiver,
): Promise<Read | null> {
  const held = withoutHolder(lab, withoutSupport(lab, found.mask))
  const cloth = withoutHood(held)
  const whole = fillStraps(cloth)
  await pause()
  const share = area(whole) / (whole.width * whole.height)
  if (share < 0.01 || share > 0.985) return null
  if (isCutOff(whole)) throw new CompositionError('garment_not_found', CUT)
  if (!found.hasEdge) throw new CompositionError('garment_not_found', LOST)
  const sleeves = sleevesIn(whole, photo.labels)
  // Straps that show the ground would be taken for the inside of the back, and the front of a hood for its edge.
  const showsLining = whole === held
  const read = sleeves
    ? await readUpper(found, whole, sleeves, photo, showsLining ? perceiver : null)
    : await readLower(found, whole, lab)
  if (!read) return null
  const { shape, mask } = read
  // A hood leaves no shoulders to be seen.
  const isHooded = sleeves && cloth !== held
  if (isHooded && !hasParts(shape)) throw new CompositionError('garment_not_found', FOLDED)
  const visible = maskWhere(mask, (i) => mask.data[i] === 1 && cloth.data[i] === 1)
  return { shape, mask: visible }
}

/** @param perceiver finds what the neck opening shows */
async function readUpper(
  found: FoundCloth,
  whole: Mask,
  sleeves: Mask,
  { small }: Photo,
  perceiver: Perceiver | null,
): Promise<Read | null> {
  const outside = perceiver ? await withoutLining(small, whole, perceiver) : whole
  const mask = withoutLegCut(withoutStrings(outside))
  const shape = upperShape(mask, sleeves)
  await pause()
  if (!shape) return null
  if (!showsShoulders(shape, mask)) throw new CompositionError('garment_not_found', FOLDED)
  if (!found.isSalient)
    checkUpper(mask, found.isOnPattern, () => differsFromAround(found.mask, small))
  return { shape: hasOneSleeve(shape) ? withBothSleeves(mask, sleeves) : shape, mask }
}

async function readLower(found: FoundCloth, whole: Mask, lab: Lab): Promise<Read | null> {
  const mask = withoutTassels(whole)
  let shape = lowerShape(mask)
  if (shape && !shape.legs) {
    // Legs that touch part at a seam.
    const apart = await legsApart(mask, lab)
    const parted = apart && lowerShape(apart)
    if (parted?.legs) shape = parted
  }
  await pause()
  if (!shape) return null
  if (!found.isSalient) checkLower(mask)
  return { shape, mask }
}

const CUT = 'The garment is cut off at the side of the picture. All of it must be visible.'
const FOLDED = 'The garment is folded. It must be spread out, with its sleeves.'

/** Of a garment that another way to cut it out shows cut off, this share at least is seen: what is smaller is a part of it. */
const LEAST_REST = 0.5

/**
 * The share of a side's height from which cloth there is cut off: a garment that fills the picture touches its sides. From 0.2
 * to 0.3 four of five photos are read well, beyond that two of four. Where a garment is to be turned upright, less of it
 * may touch them, as what is beyond is made up.
 */
const CUT_OFF = { most: 0.3, turned: 0.2 }

/** Whether the picture ends within the cloth on the left or on the right. Collars and hems are cut off more often. */
function isCutOff({ width, height, data }: Mask, most = CUT_OFF.most): boolean {
  const rows = Array.from({ length: height }, (_, y) => y * width)
  return [0, width - 1].some(
    (x) => rows.filter((row) => data[row + x] === 1).length > most * height,
  )
}

async function finished(
  shape: Shape,
  mask: Mask,
  small: Raster,
  picture: Raster,
): Promise<Garment> {
  const matte = await matteOf(picture, small, mask)
  return { ...scaled(shape, picture.width / mask.width), picture: matte }
}

/** Below this alpha a pixel is transparent: half of full. */
const OPAQUE = 128

/** Whether most of the picture's border is transparent. */
function transparentBorder(picture: Raster): boolean {
  const border = borderOf(picture)
  const clear = border.filter((i) => picture.data[i * 4 + 3]! < OPAQUE).length
  return clear > border.length * 0.5
}

function clothOfAlpha(picture: Raster): FoundCloth {
  const opaque = maskWhere(picture, (i) => picture.data[i * 4 + 3]! >= OPAQUE)
  return {
    mask: keepLarge(opaque, LEAST_PIECE),
    isOnPattern: false,
    hasEdge: true,
    isSalient: true,
  }
}

/** The same with all lengths multiplied. */
function scaled<T>(value: T, factor: number): T {
  if (typeof value === 'number') return (value * factor) as T
  if (Array.isArray(value)) return value.map((item) => scaled(item, factor)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, scaled(part, factor)]),
  ) as T
}
