// Finds the kind of a garment, for the lower or for the upper body, and its landmarks.
import { clamp, within, type Point } from '../raster.ts'
import { hasSleeves } from './armpit.ts'
import { bodyRowsOf, extentAtShare, extentOf, gapLength, type BodyRows } from './body-rows.ts'
import { crotchOf } from './lower.ts'
import { areaOfRow, rowAt, type Mask } from './mask.ts'
import { openGaps } from './seams.ts'
import { hasParts, lowerShape, upperShape, type Shape } from './shape.ts'
import type { UpperShape } from './upper.ts'

/** The top row is at least this share as wide as the row below; rows in shares of the height. By experiment. */
const WAISTS = [
  { top: 0.01, below: 0.04, share: 0.82 },
  { top: 0.02, below: 0.08, share: 0.7 },
  { top: 0.02, below: 0.2, share: 0.55 },
]

/**
 * The shares of the height at which a skirt becomes wider and wider, where loops for a belt may rise above its waist.
 * Dresses have a neck, or are narrower at the waist than above it.
 */
const WIDENING = [0.02, 0.04, 0.08, 0.12, 0.2, 0.3, 0.4, 0.5]

/**
 * Legs of trousers: where they part at the highest and the lowest, and the least length of the gap, in heights. Above the hips
 * they have at least the share `waist` of the width there: of 41 one has 0.69, the others 0.82 and more, open shirts less.
 */
const LEGS = { from: 0.15, to: 0.6, gap: 0.3, above: 0.1, hips: 0.2, waist: 0.8 }

/** Whether the garment has two long legs. Hangers and clips hide its waist. */
function hasLegs(rows: BodyRows, crotch: Point): boolean {
  const { bounds } = rows
  const height = bounds.bottom - bounds.top
  const share = (crotch.y - bounds.top) / height
  const gap = gapLength(rows, Math.floor(crotch.y))
  return (
    share > LEGS.from &&
    share < LEGS.to &&
    gap > height * LEGS.gap &&
    extentAtShare(rows, LEGS.above) > extentAtShare(rows, LEGS.hips) * LEGS.waist
  )
}

/**
 * The hem between two cuffs: where it begins and how far it curves, in heights; its least share of a row's width below, and the
 * share of that which is open at once, as the hem is level: the short legs of shorts part slowly. By experiment.
 */
const CUFFS = { from: 0.7, level: 0.01, curve: 0.04, gap: 0.25, atOnce: 0.5 }

/** Whether sleeves that lie along the body end below its hem, as those of a hooded top whose hood lies flat. */
function endsInCuffs(rows: BodyRows): boolean {
  const { bounds, gapLeft, gapRight } = rows
  const height = bounds.bottom - bounds.top
  const from = Math.ceil(bounds.top + height * CUFFS.from)
  const first = gapLeft.findIndex((x, y) => y >= from && !Number.isNaN(x))
  const gapBelow = (share: number) => {
    const y = first + Math.round(height * share)
    return (gapRight[y]! - gapLeft[y]!) / extentOf(rows, y)
  }
  const gap = gapBelow(CUFFS.curve)
  return first > from && gap > CUFFS.gap && gapBelow(CUFFS.level) > CUFFS.atOnce * gap
}

/**
 * Of garments that are so many times as tall as wide, the width near the hem in that half way down: of seven skirts and shorts
 * without a gap 0.87 and more, of a hooded top with its hands in the pockets 0.64, of a stand below a skirt less.
 */
const HEM = { at: 0.9, tall: [1, 1.4], narrow: [0.4, 0.7] } as const

/** Whether sleeves that are bent make a garment without a gap narrower towards its hem. */
function tapersToHem(rows: BodyRows): boolean {
  const { top, bottom, left, right } = rows.bounds
  const narrow = extentAtShare(rows, HEM.at) / extentAtShare(rows, 0.5)
  return within((bottom - top) / (right - left), HEM.tall) && within(narrow, HEM.narrow)
}

/**
 * @returns the shape of a silhouette, by its kind; null when it cannot be a garment, as that of a top without shoulders
 */
export function shapeOf(whole: Mask): Shape | null {
  const mask = openGaps(whole)
  const rows = bodyRowsOf(mask)
  if (!rows) return null
  // The search for the crotch adds gaps to the rows.
  const hasCuffs = endsInCuffs(rows)
  const crotch = crotchOf(mask, rows)
  const showsSleeves = hasCuffs || (!crotch && tapersToHem(rows))
  if (!showsSleeves && startsWithWaist(mask, rows, crotch)) return lowerShape(mask)
  const upper = upperShape(mask)
  if (upper && hasParts(upper)) return upper
  if (!showsSleeves && waistScore(mask, rows, crotch) > 0) return lowerShape(mask)
  return upper?.kind === 'top' && isLevel(upper) ? null : upper
}

/**
 * Without sleeves, the upper edge of a top rises and falls by so many half widths of the chest at least: of a dozen product
 * photos the least is 0.22. What has less is a skirt or trousers whose waist was not found, or a top that was not read right.
 */
const LEVEL = 0.16

function isLevel({ left, right, neckline }: UpperShape): boolean {
  const edge = [left.shoulder, ...neckline, right.shoulder].map(({ y }) => y)
  const half = (right.armpit.x - left.armpit.x) / 2
  return !left.sleeve && !right.sleeve && Math.max(...edge) - Math.min(...edge) < LEVEL * half
}

/** Trousers and skirts begin with their full waist; garments with shoulders begin narrow. */
function startsWithWaist(mask: Mask, rows: BodyRows, crotch: Point | null): boolean {
  const covered = (share: number) => areaOfRow(mask, rowAt(rows.bounds, share))
  const extent = (share: number) => extentAtShare(rows, share)
  if (hasSleeves(rows)) {
    if (!crotch) return false
  } else if (crotch && hasLegs(rows, crotch)) return true
  const widens = WIDENING.every((share, i) => i === 0 || covered(share) >= extent(WIDENING[i - 1]!))
  const waists = widens && !crotch ? WAISTS.slice(1) : WAISTS
  return waists.every(({ top, below, share }) => covered(top) > extent(below) * share)
}

/**
 * Where the waist is looked for, in heights of the garment: it begins with the first row that has the share `width` of the
 * extent `below`, as above it are hooks, clips and loops, and it dips until a row is covered by the share `full` of its
 * extent. The growth of the extent over a `step` is followed down to `last`, that of the waist over a `hip`, in widths.
 */
const WAIST = {
  lowest: 0.3,
  width: 0.72,
  below: 0.1,
  full: 0.97,
  step: 0.04,
  last: 0.6,
  hip: 0.08,
}
/** Growth beyond this counts no more, and no extent counts as less, in widths of the garment. */
const MOST_GROWTH = 0.25
const LEAST_EXTENT = 0.05

/**
 * What speaks for a waist and against it where two sleeves are not seen. A logistic regression, fitted to 162 skirts,
 * shorts and trousers and 231 tops and dresses, most of them photographed at home. In a tenfold cross-validation about
 * 133 and 224 are classified correctly. Above 0 the odds are 2 to 1.
 */
const WEIGHTS = {
  /** How far below the top the waist begins, in heights. */
  start: -35.8,
  /** How deep it dips, in widths, squared. */
  dip: -67.7,
  /** How much wider the garment becomes over one step, in widths: at shoulders, sleeves and armpits. */
  growth: -16,
  /** The logarithm of how many times as wide as the waist it is at the hip. */
  opening: -6.9,
  /** For legs that part. */
  crotch: 3.1,
  /** The logarithm of how many times it is as tall as wide. */
  aspect: -3.2,
  /** Its extent halfway down and near the hem, in widths. */
  middle: 8.6,
  low: -4,
  constant: -0.3,
}

/** How much a silhouette speaks for a waist, by the sum of the weighted measures. */
function waistScore(mask: Mask, rows: BodyRows, crotch: Point | null): number {
  const { bounds } = rows
  const [width, height] = [bounds.right - bounds.left, bounds.bottom - bounds.top]
  const extents = Array.from({ length: height }, (_, row) => {
    const extent = extentOf(rows, bounds.top + row)
    return Number.isNaN(extent) ? 0 : extent / width
  })
  const extentAt = (y: number) => extents[clamp(Math.round(y), 0, height - 1)]!
  const isWaist = (y: number) => extents[y]! > WAIST.width * extentAt(y + WAIST.below * height)
  let start = 0
  while (start < Math.floor(WAIST.lowest * height) && !isWaist(start)) start++
  const isFull = (y: number) => areaOfRow(mask, bounds.top + y) >= WAIST.full * extents[y]! * width
  let dip = 0
  while (start + dip < height - 1 && !isFull(start + dip)) dip++
  const step = Math.max(2, Math.round(WAIST.step * height))
  const growths = extents
    .slice(start, Math.floor(WAIST.last * height) - step)
    .map((extent, y) => extents[start + y + step]! - extent)
  const opening =
    Math.max(extentAt(start + WAIST.hip * width), LEAST_EXTENT) /
    Math.max(extents[start]!, LEAST_EXTENT)
  return (
    WEIGHTS.start * (start / height) +
    WEIGHTS.dip * (dip / width) ** 2 +
    WEIGHTS.growth * clamp(Math.max(...growths), 0, MOST_GROWTH) +
    WEIGHTS.opening * Math.log(opening) +
    WEIGHTS.crotch * (crotch ? 1 : 0) +
    WEIGHTS.aspect * Math.log(height / width) +
    WEIGHTS.middle * extentAt(0.5 * height) +
    WEIGHTS.low * extentAt(0.9 * height) +
    WEIGHTS.constant
  )
}
