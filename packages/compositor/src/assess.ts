// The engine's own judgement of a result, measured on the finished picture: a broken picture must not be
// delivered, because it costs the customer a credit.
import { meanOf, shareOf, type PixelSet } from './assess/area.ts'
import {
  brokenSleeves,
  hiddenHands,
  onArms,
  paintedForearms,
  stumps,
  unevenSleeves,
} from './assess/arms.ts'
import { likeness, occursIn, paletteOf, type Palette } from './assess/colours.ts'
import { gaps, newShreds, scattered, spill } from './assess/drawing.ts'
import { doubtOf } from './assess/kind.ts'
import { mismatch } from './assess/outline.ts'
import { expectedArea, placesIn, replacedArea, type Places } from './assess/places.ts'
import type { Body } from './body.ts'
import { distanceTo } from './distance.ts'
import { isUpper, type Garment } from './garment.ts'
import { LABEL, type Parsing } from './parsing.ts'
import type { Perception } from './perception.ts'
import { pause } from './pause.ts'
import { percentile, type Plane } from './plane.ts'
import { pixelsWhere, shrink, type Raster } from './raster.ts'

/** What the composition knows of the photo; planes and lengths are in the size of the parsing. */
export interface Facts {
  garment: Garment
  perception: Perception
  parsing: Parsing
  body: Body
  /** The alpha of the garment as drawn, without what hair, hands and bags hide. */
  covered: Plane
  /** Whether the ground is seen at a pixel where no cloth is drawn. */
  showsGround: PixelSet
  /** The share of the left and the right arm that sleeves cover. */
  reach: readonly [number, number]
  /** From `stretchesOf`; empty when not known. */
  stretches: readonly number[]
}

/** Measures from 0 to 1 are shares unless they say otherwise. */
export interface Assessment {
  /** The part of the torso (or of the thighs) in which cloth is expected that has the garment's colours. */
  coverage: number
  /** The smaller part of the two halves. */
  halfCoverage: number
  /** Old clothing that is still there unchanged although the garment replaces it. */
  oldLeft: number
  /** The 95th percentile of the stretches; 1 when they are not known. */
  stretch: number
  /** Mean differences from 0 to 255: of the face, and of the ground far from the person. */
  faceChange: number
  groundChange: number
  /** The garment outside the person and a margin, and how far it reaches, relative to the body's size. */
  spill: number
  farthest: number
  scattered: number
  /** Shreds that the product itself does not have; of trousers that the picture cuts off fewer count. */
  shreds: number
  /** Old or painted places that the garment surrounds, relative to its area: torn or gaping cloth. */
  gaps: number
  /** The middle of the body where the ground was painted, as a share. */
  windows: number
  brokenSleeves: number
  unevenSleeves: number
  hiddenHands: number
  /** Old sleeves before the body that became bare arms, in squared sizes of the body. */
  paintedForearms: number
  stumps: number
  /** From `doubtOf`, not a share. */
  doubt: number
  /** The area in which the product's landmarks and its cloth differ, relative to the cloth's. */
  mismatch: number
  /** What the drawn colours and the product's have in common. */
  identity: number
  /** The old trousers or skirt that went although the garment is a top. */
  undressed: number
  /** The trousers or skirt, in squared sizes of the body, that had to be painted where the old top was longer. */
  invented: number
}

// Chosen by experiment, like all numbers below that name no other origin.
/** Mean difference of the channels, of 255, below which a pixel is unchanged, and above which it is painted. */
const SAME = 4
const REPAINTED = 12
/** The alpha of the garment, from 0 to 1, below which the person shows, and above which there is cloth alone. */
const BARE = 0.3
const SOLID = 0.9
/** The alpha of the product's cloth, of 255, without its soft edge. */
const OPAQUE = 200
/** The least cloth that is drawn, in squared sizes of the body. */
const WORN = 0.2
/** The probability of a person from which on the ground is not far. */
const PERSON = 0.3
/** Lengths relative to the body's size; the reach of shreds is at least 1.5 pixels. */
const LENGTHS = { spill: 0.25, shred: 0.03, gap: 0.1, farGround: 0.5 }
/** The middle of the body, also without arms at its sides: half-widths of the torso across, its lengths along. */
const MIDDLE = { half: 0.6, arms: 0.8, top: 0.1, bottom: 1.2 }
/** Where trousers or a skirt are painted below a shorter top, in the same units. */
const LOW = { half: 1.1, top: 0.95 }

/** The facts with what every measure needs. */
interface View extends Facts {
  /** The finished picture in the size of the parsing. */
  result: Raster
  /** The body's size, at least 4 pixels. */
  size: number
  isLower: boolean
  /** The mean difference of the three channels at each pixel. */
  change: Float32Array
  places: Places
  isDrawn: PixelSet
  /** Painted, and not with the garment. */
  isPainted: PixelSet
  /** The product's cloth in the size in which it is drawn, and its colours. */
  product: Raster
  palette: Palette
}

/**
 * Compares the photo and the finished picture.
 * @param before the photo; any size, as long as both pictures have the same proportions
 */
export async function assess(before: Raster, after: Raster, facts: Facts): Promise<Assessment> {
  await pause()
  const { garment, parsing, body, covered, stretches } = facts
  const side = Math.max(parsing.width, parsing.height)
  const result = shrink(after, side)
  const change = changes(shrink(before, side), result, parsing.labels.length)
  const product = asDrawn(garment.picture, covered)
  await pause()
  const palette = paletteOf(product, (i) => product.data[i * 4 + 3]! > OPAQUE)
  await pause()
  const view: View = {
    ...facts,
    result,
    size: Math.max(4, body.size),
    isLower: !isUpper(garment),
    change,
    places: placesIn(
      parsing,
      body,
      (i) => parsing.labels[i] !== LABEL.ground || covered.data[i]! > 0.5,
    ),
    isDrawn: (i) => covered.data[i]! > 0.5,
    isPainted: (i) => covered.data[i]! <= 0.5 && change[i]! > REPAINTED,
    product,
    palette,
  }
  await pause()
  const coverage = coverageOf(view)
  await pause()
  const cloth = await clothOf(view)
  await pause()
  const people = peopleOf(view)
  return {
    ...coverage,
    ...cloth,
    ...people,
    stretch: stretches.length > 0 ? percentile(stretches, 0.95) : 1,
    doubt: doubtOf(garment),
    mismatch: mismatch(garment),
    identity: likeness(
      palette,
      paletteOf(result, (i) => covered.data[i]! > SOLID),
    ),
  }
}

/** The product at about the size in which it is drawn: there a fine pattern is mixed. */
function asDrawn(product: Raster, covered: Plane): Raster {
  let [own, drawn] = [0, 0]
  for (let i = 3; i < product.data.length; i += 4) own += product.data[i]! / 255
  for (const alpha of covered.data) drawn += alpha
  const side = Math.max(product.width, product.height) * Math.sqrt(drawn / Math.max(1, own))
  return shrink(product, Math.max(1, Math.round(side)))
}

/** How much of the new garment is where it belongs, and how much of the old clothing is left. */
function coverageOf(view: View) {
  const { garment, parsing, covered, result, change, places, isDrawn, isPainted, palette } = view
  const isExpected = expectedArea(view, places)
  const isOnArm = onArms(view.body, parsing)
  // An arm before the body may be bare.
  const expected = pixelsWhere(change.length, (i) => isExpected(i) && (isDrawn(i) || !isOnArm(i)))
  const cloth = expected.filter((i) => isDrawn(i) && occursIn(palette, colourAt(result, i)))
  const isWorn = () => pixelsWhere(change.length, isDrawn).length > WORN * view.size ** 2
  const half = (sign: number) => {
    const isInHalf: PixelSet = (i) => places.x[i]! * sign > 0
    const all = expected.filter(isInHalf).length
    return all === 0 ? 1 : cloth.filter(isInHalf).length / all
  }
  const isBottom: PixelSet = (i) => parsing.labels[i] === LABEL.bottom
  const isTop = garment.kind === 'top'
  const isInvented: PixelSet = (i) =>
    parsing.labels[i] === LABEL.top &&
    places.y[i]! > LOW.top &&
    Math.abs(places.x[i]!) < LOW.half &&
    isPainted(i) &&
    !view.showsGround(i) &&
    !isOnArm(i)
  return {
    // An old blouse may hide all that a skirt covers for certain.
    coverage: expected.length > 0 ? cloth.length / expected.length : Number(isWorn()),
    halfCoverage: Math.min(half(-1), half(1)),
    oldLeft: shareOf(
      parsing,
      replacedArea(view, places, isDrawn),
      (i) => covered.data[i]! < BARE && change[i]! < SAME,
    ),
    undressed: isTop ? shareOf(parsing, isBottom, isPainted) : 0,
    invented: isTop ? pixelsWhere(change.length, isInvented).length / view.size ** 2 : 0,
  }
}

/** Faults of the drawn cloth, and of what was painted beside it. */
async function clothOf(view: View) {
  const { parsing, perception, product, showsGround, size, places, isDrawn, isPainted } = view
  const { labels } = parsing
  const isPerson: PixelSet = (i) => labels[i] !== LABEL.ground
  // Arms that were painted over old sleeves have the sleeves' label.
  const isFront: PixelSet = (i) =>
    labels[i] === LABEL.skin ||
    labels[i] === LABEL.hair ||
    labels[i] === LABEL.item ||
    (isPerson(i) && isPainted(i))
  // Painted or old places in which the garment could have been.
  const isFault: PixelSet = (i) =>
    isPainted(i) || (!isDrawn(i) && (labels[i] === LABEL.top || labels[i] === LABEL.bottom))
  const isMiddle: PixelSet = (i) =>
    Math.abs(places.x[i]!) < MIDDLE.half &&
    places.y[i]! > MIDDLE.top &&
    places.y[i]! < MIDDLE.bottom &&
    isPerson(i)
  const spilled = spill(perception.person, isDrawn, LENGTHS.spill * size)
  await pause()
  const reach = Math.max(1.5, LENGTHS.shred * size)
  const shreds = await newShreds(product, parsing, isDrawn, reach, size ** 2)
  await pause()
  const found = gaps(parsing, isDrawn, isFault, LENGTHS.gap * size)
  await pause()
  return {
    spill: spilled.share,
    farthest: spilled.farthest / size,
    scattered: scattered(parsing, isDrawn, isFront),
    shreds,
    gaps: found,
    windows: shareOf(parsing, isMiddle, (i) => !isDrawn(i) && showsGround(i)),
  }
}

/** Arms and hands, and what must not change: the face, and the ground far from the person. */
function peopleOf(view: View) {
  const { body, parsing, perception, covered, change, size, places, isLower, isDrawn } = view
  const { labels } = parsing
  const isOffShoulder = isUpper(view.garment) && view.garment.shoulders === 'off-shoulder'
  const isPaintedTop: PixelSet = (i) =>
    labels[i] === LABEL.top && view.isPainted(i) && Math.abs(places.x[i]!) < MIDDLE.arms
  const fromPerson = distanceTo(parsing, (i) => perception.person.data[i]! > PERSON || isDrawn(i))
  return {
    faceChange: meanOf(change, (i) => labels[i] === LABEL.face && !isDrawn(i)),
    groundChange: meanOf(
      change,
      (i) => fromPerson[i]! > LENGTHS.farGround * size && labels[i] === LABEL.ground,
    ),
    brokenSleeves: isLower || isOffShoulder ? 0 : brokenSleeves(view),
    unevenSleeves: isLower ? 0 : unevenSleeves(view),
    hiddenHands: hiddenHands(body, parsing, covered),
    paintedForearms: isLower ? 0 : paintedForearms(body, parsing, isPaintedTop),
    stumps: isLower ? 0 : stumps(view),
  }
}

/** The mean difference of the three channels at each pixel. */
function changes(one: Raster, other: Raster, pixels: number): Float32Array {
  const change = new Float32Array(pixels)
  for (let i = 0; i < pixels; i++) {
    let sum = 0
    for (let c = 0; c < 3; c++)
      sum += Math.abs((one.data[i * 4 + c] ?? 0) - (other.data[i * 4 + c] ?? 0))
    change[i] = sum / 3
  }
  return change
}

function colourAt({ data }: Raster, i: number): [number, number, number] {
  return [data[i * 4]!, data[i * 4 + 1]!, data[i * 4 + 2]!]
}
