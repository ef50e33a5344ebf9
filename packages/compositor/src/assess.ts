// The engine's own judgement of a result, measured on the finished picture: a broken picture must not be
// delivered, because it costs the customer a credit.
import { brokenSleeves, hiddenHands, unevenSleeves } from './assess/arms.ts'
import { likeness, occursIn, paletteOf } from './assess/colours.ts'
import { shareOf } from './assess/area.ts'
import { ghost, notches as gapsIn, scattered, shreds, spill } from './assess/drawing.ts'
import { doubtOf } from './assess/kind.ts'
import { mismatch } from './assess/outline.ts'
import { poseChange } from './assess/pose.ts'
import type { Body } from './body.ts'
import { isUpper, type Garment } from './garment.ts'
import { LABEL, type Parsing } from './parsing.ts'
import type { Perceiver, Perception } from './perception.ts'
import { createPlane, percentile, type Plane } from './plane.ts'
import { shrink, type Point, type Raster } from './raster.ts'
import { distanceTo } from './distance.ts'

export { verdict } from './assess/verdict.ts'

/** What the composition knows of the photo; planes and lengths are in the size of the parsing. */
export interface Facts {
  garment: Garment
  perception: Perception
  parsing: Parsing
  body: Body
  /** The alpha of the garment as drawn, without what hair, hands and bags hide. */
  covered: Plane
  /** The share of the left and the right arm that sleeves cover. */
  reach: readonly [number, number]
  /** From `stretchesOf`; empty when not known. */
  stretches: readonly number[]
  perceiver: Perceiver
}

/** Measures from 0 to 1 are shares unless they say otherwise. */
export interface Assessment {
  /** The part of the torso (or of the thighs) in which cloth is expected that has the garment's colours. */
  coverage: number
  /** The smaller part of the two halves. */
  halfCoverage: number
  /** Old clothing that is still there unchanged although the garment replaces it. */
  oldLeft: number
  /** Old detail shining through the garment: a deviation of lightness from 0 to 255. */
  ghost: number
  /** The 95th percentile and the largest of the stretches; 1 when they are not known. */
  stretch: number
  worstStretch: number
  moved: number
  confidence: number
  outline: number
  /** Mean differences from 0 to 255: of the face, and of the ground far from the person. */
  faceChange: number
  groundChange: number
  /** The garment outside the person and a margin, and how far it reaches, relative to the body's size. */
  spill: number
  farthest: number
  scattered: number
  shreds: number
  /** Old or painted places that the garment surrounds, relative to its area: torn or gaping cloth. */
  gaps: number
  /** The middle of the body where the ground was painted, as a share. */
  windows: number
  brokenSleeves: number
  unevenSleeves: number
  hiddenHands: number
  /** From `doubtOf`, not a share. */
  doubt: number
  /** The area in which the product's landmarks and its cloth differ, relative to the cloth's. */
  mismatch: number
  /** What the drawn colours and the product's have in common. */
  identity: number
  /** The old trousers or skirt that went although the garment is a top. */
  undressed: number
  /** The garment's area relative to the square of the body's size, not a share. */
  area: number
  /** The person's area that was repainted but is not the garment, relative to the square of the size. */
  painted: number
}

/**
 * Compares the photo and the finished picture.
 * @param before the photo; any size, as long as both pictures have the same proportions
 */
export function assess(before: Raster, after: Raster, facts: Facts): Assessment {
  const { garment, parsing, perception, body, covered } = facts
  const { width, height, labels } = parsing
  const side = Math.max(width, height)
  const [photo, result] = [shrink(before, side), shrink(after, side)]
  const isDrawn = (i: number) => covered.data[i]! > 0.5
  const change = changes(photo, result, width * height)
  const isSame = (i: number) => change[i]! < SAME
  const size = Math.max(4, body.size)
  const isLower = garment.kind === 'trousers' || garment.kind === 'skirt'
  const palette = paletteOf(garment.picture, (i) => garment.picture.data[i * 4 + 3]! > 200)
  const drawnPalette = paletteOf(result, (i) => covered.data[i]! > 0.9)
  const isCloth = (i: number) => isDrawn(i) && occursIn(palette, colourAt(result, i))
  const places = placesIn(parsing, body)
  const expects = expectedArea(facts, places)
  const inHalf = (sign: number) => (i: number) => expects(i) && places.x[i]! * sign > 0
  const replaced = replacedArea(facts, places, isDrawn)
  const nearPerson = distanceTo(
    (i) => perception.person.data[i]! > 0.3 || isDrawn(i),
    width,
    height,
  )
  const spilled = spill(perception.person, isDrawn, SPILL_MARGIN * size)
  // Arms that were painted over old sleeves have the sleeves' label.
  const isFront = (i: number) =>
    labels[i] === LABEL.skin ||
    labels[i] === LABEL.hair ||
    labels[i] === LABEL.item ||
    (isPerson(i) && !isDrawn(i) && change[i]! > REPAINTED)
  const isPerson = (i: number) => labels[i] !== LABEL.ground
  const reach = Math.max(1.5, 0.03 * size)
  const found = poseChange(perception, facts.perceiver.perceive(result), size)
  const isOld = oldClothes(garment.kind)
  const outside = distanceTo((i) => !isOld(labels[i]!), width, height)
  const isInner = (i: number) => covered.data[i]! > 0.95 && outside[i]! > 0.12 * size
  // Painted or old places in which the garment could have been.
  const isFault = (i: number) =>
    covered.data[i]! < 0.5 &&
    (labels[i] === LABEL.top || labels[i] === LABEL.bottom || change[i]! > REPAINTED)
  const groundPalette = paletteOf(photo, (i) => labels[i] === LABEL.ground)
  const skinPalette = paletteOf(photo, (i) => labels[i] === LABEL.skin || labels[i] === LABEL.face)
  const isGround = (i: number) =>
    change[i]! > REPAINTED &&
    occursIn(groundPalette, colourAt(result, i)) &&
    // On a beige ground, painted skin has a colour of the ground.
    !occursIn(skinPalette, colourAt(result, i), 1)
  const isMiddle = (i: number) =>
    Math.abs(places.x[i]!) < 0.6 && places.y[i]! > 0.1 && places.y[i]! < 1.2 && isPerson(i)
  const count = (isIn: (i: number) => boolean) => shareOf(parsing, () => true, isIn) * labels.length
  return {
    coverage: shareOf(parsing, expects, isCloth),
    halfCoverage: Math.min(
      shareOf(parsing, inHalf(-1), isCloth, 1),
      shareOf(parsing, inHalf(1), isCloth, 1),
    ),
    oldLeft: shareOf(parsing, replaced, (i) => covered.data[i]! < 0.3 && isSame(i)),
    ghost: ghost(lightness(photo), lightness(result), isInner, 0.06 * size),
    stretch: facts.stretches.length > 0 ? percentile(facts.stretches, 0.95) : 1,
    worstStretch: facts.stretches.length > 0 ? percentile(facts.stretches, 0.999) : 1,
    ...found,
    faceChange: meanOf(change, (i) => labels[i] === LABEL.face && !isDrawn(i)),
    groundChange: meanOf(change, (i) => nearPerson[i]! > 0.5 * size && labels[i] === LABEL.ground),
    spill: spilled.share,
    farthest: spilled.farthest / size,
    scattered: scattered(parsing, isDrawn, isFront),
    shreds: shreds(parsing, isDrawn, reach),
    gaps: gapsIn(parsing, isDrawn, (i) => isFault(i), 0.1 * size),
    windows: shareOf(parsing, isMiddle, (i) => isFault(i) && isGround(i)),
    brokenSleeves: isLower ? 0 : brokenSleeves(facts),
    unevenSleeves: isLower ? 0 : unevenSleeves(body, parsing, covered),
    hiddenHands: hiddenHands(body, parsing, covered),
    doubt: doubtOf(garment),
    mismatch: mismatch(garment),
    identity: likeness(palette, drawnPalette),
    undressed:
      garment.kind === 'top'
        ? shareOf(
            parsing,
            (i) => labels[i] === LABEL.bottom,
            (i) => !isDrawn(i) && change[i]! > REPAINTED,
          )
        : 0,
    area: count(isDrawn) / size ** 2,
    painted:
      count(
        (i) =>
          isPerson(i) &&
          covered.data[i]! < 0.3 &&
          change[i]! > REPAINTED &&
          (isLower || labels[i] !== LABEL.skin),
      ) /
      size ** 2,
  }
}

/** Mean difference of the channels below which a pixel counts as unchanged. */
const SAME = 4
const REPAINTED = 12
/** Relative to the body's size. */
const SPILL_MARGIN = 0.25

/** The mean difference of the three channels at each pixel. */
function changes(one: Raster, other: Raster, pixels: number): Float32Array {
  const result = new Float32Array(pixels)
  for (let i = 0; i < pixels; i++) {
    let sum = 0
    for (let c = 0; c < 3; c++)
      sum += Math.abs((one.data[i * 4 + c] ?? 0) - (other.data[i * 4 + c] ?? 0))
    result[i] = sum / 3
  }
  return result
}

function colourAt({ data }: Raster, i: number): [number, number, number] {
  return [data[i * 4]!, data[i * 4 + 1]!, data[i * 4 + 2]!]
}

function lightness({ width, height, data }: Raster): Plane {
  const plane = createPlane(width, height)
  for (let i = 0; i < plane.data.length; i++) {
    plane.data[i] = 0.3 * data[i * 4]! + 0.59 * data[i * 4 + 1]! + 0.11 * data[i * 4 + 2]!
  }
  return plane
}

function meanOf(values: Float32Array, isIn: (i: number) => boolean): number {
  let [sum, count] = [0, 0]
  for (let i = 0; i < values.length; i++) {
    if (!isIn(i)) continue
    sum += values[i]!
    count++
  }
  return count === 0 ? 0 : sum / count
}

/** Where each pixel is: across in half-widths of the torso, along in lengths of the torso. */
interface Places {
  x: Float32Array
  y: Float32Array
}

function placesIn({ width, height }: Parsing, body: Body): Places {
  const places = { x: new Float32Array(width * height), y: new Float32Array(width * height) }
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      const at: Point = body.frame.toFrame({ x: x + 0.5, y: y + 0.5 })
      const edge = Math.abs(body.edgeAt(at.x < 0 ? -1 : 1, at.y)) || 1
      places.x[i] = at.x / edge
      places.y[i] = at.y / body.torso
    }
  }
  return places
}

/** The pixels that any garment of this kind covers, unless something is in front of it. */
function expectedArea({ garment, parsing: { labels } }: Facts, places: Places) {
  const [top, bottom, half] = {
    top: [0.3, 0.55, 0.8],
    dress: [0.3, 1.25, 0.75],
    trousers: [1.02, 1.4, 0.8],
    skirt: [1.02, 1.3, 0.7],
  }[garment.kind] as [number, number, number]
  // A top stays in front of new trousers; a dress does not.
  const isInFront = !isUpper(garment) && labels.includes(LABEL.bottom)
  return (i: number) =>
    (labels[i] === LABEL.bottom || (labels[i] === LABEL.top && !isInFront)) &&
    places.y[i]! > top &&
    places.y[i]! < bottom &&
    Math.abs(places.x[i]!) < half
}

/** The old clothing that the garment replaces: that above its hem, or below its waist. */
function replacedArea(
  { garment, parsing: { labels } }: Facts,
  places: Places,
  isDrawn: (i: number) => boolean,
) {
  const rows: number[] = []
  for (let i = 0; i < labels.length; i += 17) if (isDrawn(i)) rows.push(places.y[i]!)
  const [first, last] = [percentile(rows, 0.02), percentile(rows, 0.98)]
  const isOld = oldClothes(garment.kind)
  const isLower = garment.kind === 'trousers' || garment.kind === 'skirt'
  return (i: number) => isOld(labels[i]!) && (isLower ? places.y[i]! > first : places.y[i]! < last)
}

/** Which labels the garment replaces. */
function oldClothes(kind: Garment['kind']): (label: number) => boolean {
  if (kind === 'top') return (label) => label === LABEL.top
  if (kind === 'dress') return (label) => label === LABEL.top || label === LABEL.bottom
  return (label) => label === LABEL.bottom
}
