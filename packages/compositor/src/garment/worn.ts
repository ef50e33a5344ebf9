// Reads a garment photographed on a person: the cloth is what the parsing labels as such, and the
// landmarks follow from the joints and the cloth's outline.
import { CompositionError } from '../composition-error.ts'
import { distanceTo as distanceToSet } from '../distance.ts'
import { LABEL, type Parsing } from '../parsing.ts'
import { isConfident, type Pose } from '../perception.ts'
import { lerp, pixelsWhere } from '../raster.ts'
import { traceOutline } from './outline.ts'
import { hairBefore, handsBefore } from './before-cloth.ts'
import { area, boundsOf, distanceTo, isSet, maskWhere, type Mask } from './mask.ts'
import { keepLarge, LEAST_PIECE, painted, regions } from './regions.ts'
import { bodyRowsOf } from './body-rows.ts'
import { crotchOf, lowerShapeOf, narrowestLeg, withoutTassels } from './lower.ts'
import type { Shape } from './shape.ts'
import { limbsOf, thighsOf, type Limbs, type Wearer } from './wearer.ts'
import { wornUpperOf } from './worn-upper.ts'
import { smoothClosed } from '../smoothing.ts'

/** How much larger than the top the lower garment must appear to be what is for sale. */
const DOMINANCE = 1.6
/** The smallest share of the picture that a garment may cover. */
const LEAST = 0.02
/** Smaller holes, as a share of the cloth, are errors of the parsing. */
const LARGEST_ERROR = 0.004
/** How far below the hips trousers may begin under a shirt, in lengths of the thighs. */
const UNDER_SHIRT = 0.12
/** How far above the hips they may begin, in the same unit: what is higher is not the garment alone. */
const ABOVE_HIPS = 0.6
/** Half the width of a sliver, in pixels of the analysed picture. */
const SLIVER = 1.2

/**
 * The front of a garment: its rows in lengths of the torso, what is left out at its sides in its widths, and the least share
 * of it that is cloth. Of 42 photos of worn tops with sleeves one has 0.88, whose wearer holds its collar, all others 0.99.
 */
const FRONT = { from: 0.12, to: 0.8, side: 0.1, step: 0.02, least: 0.93 }

/**
 * The narrowest place of a leg, in its usual widths: 0.7 and more of 27 trousers, 0.4 of others whose legs cross, and 0.3
 * where the parsing lost a part of them.
 */
const LEAST_LEG = 0.35
/** Smaller pieces, as a share of the largest one, are no legs of trousers, but socks in their colour, or hands. */
const LEAST_PIECE_OF_LEGS = 0.2

/** Where it is looked for what follows below a hem, in pixels, and the least share of trousers or a skirt there. */
const BELOW = { from: 1, to: 7 }
const LEAST_BOTTOM = 0.35

interface Worn {
  /** The cloth, with what hides it. */
  mask: Mask
  shape: Shape
  /** What hides cloth and is to be painted over; null for nothing. */
  hidden: Mask | null
}

/**
 * @returns null when too little cloth is visible, or its landmarks cannot be placed
 * @throws CompositionError when something is before the cloth
 */
export function wornShapeOf(parsing: Parsing, wearer: Wearer): Worn | null {
  const top = maskOf(parsing, [LABEL.top])
  const bottom = maskOf(parsing, [LABEL.bottom])
  // What the picture cuts off is not what it shows for sale.
  const factor = reachesEnd(bottom) ? DOMINANCE * 3 : DOMINANCE
  const lower = area(bottom) > area(top) * factor
  const mask = withoutTassels(solid(lower ? bottom : top))
  if (area(mask) < mask.data.length * LEAST) return null
  if (lower) return wornLowerOf(mask, wearer.left, wearer.right)
  const hair = hairBefore(parsing, wearer, mask)
  const besideHands = union(mask, hair)
  const first = wornUpperOf(besideHands, wearer)
  if (!first) return null
  const hands = handsBefore(parsing, wearer, first, besideHands)
  const whole = union(besideHands, hands)
  if (first.shoulders === 'sleeves' && frontOf(whole, wearer) < FRONT.least) {
    throw new CompositionError(
      'garment_not_found',
      'The front of the garment is covered, or cannot be told from what is beside it.',
    )
  }
  const hidden = union(hair, hands)
  const shape = (area(hands) > 0 && wornUpperOf(whole, wearer)) || first
  const hemY = first.hem[first.hem.length >> 1]!.y
  const meetsBottom = bottomBelow(parsing, wearer, hemY) > LEAST_BOTTOM
  return {
    mask: whole,
    shape: { ...shape, wearer: shape.wearer && { ...shape.wearer, meetsBottom } },
    hidden: area(hidden) > 0 ? hidden : null,
  }
}

/** The share of trousers or a skirt close below the middle of a hem. */
function bottomBelow({ width, labels }: Parsing, { centre, half }: Wearer, hemY: number) {
  const below = pixelsWhere(labels.length, (i) => {
    const [x, y] = [i % width, Math.floor(i / width)]
    return Math.abs(x - centre.x) < half / 2 && y > hemY + BELOW.from && y < hemY + BELOW.to
  })
  return below.filter((i) => labels[i] === LABEL.bottom).length / Math.max(1, below.length)
}

const union = (one: Mask, other: Mask): Mask =>
  maskWhere(one, (i) => one.data[i] === 1 || other.data[i] === 1)

/** The share of a front with sleeves that is cloth, down to the hem: bodies without their neck and sides. */
function frontOf(mask: Mask, { left, right, centre, torso }: Wearer): number {
  const end = boundsOf(mask)?.bottom ?? 0
  let [all, cloth] = [0, 0]
  for (let down = FRONT.from; down < FRONT.to; down += FRONT.step) {
    const y = Math.round(centre.y + down * torso)
    if (y >= end) break
    const first = lerp(left.shoulder.x, left.hip.x, down)
    const last = lerp(right.shoulder.x, right.hip.x, down)
    for (let across = FRONT.side; across <= 1 - FRONT.side; across += FRONT.step) {
      all++
      if (isSet(mask, lerp(first, last, across), y)) cloth++
    }
  }
  return all > 0 ? cloth / all : 1
}

/**
 * The same for what a person wears who is seen from the hips down.
 * @returns null also when its waist was not found
 */
export function shapeOnLegs(parsing: Parsing, pose: Pose): Worn | null {
  const bottom = maskOf(parsing, [LABEL.bottom])
  // A dress.
  const isAll = area(bottom) < bottom.data.length * LEAST
  const mask = withoutTassels(solid(isAll ? maskOf(parsing, [LABEL.top, LABEL.bottom]) : bottom))
  const bounds = boundsOf(mask)
  if (!bounds || area(mask) < mask.data.length * LEAST) return null
  const [left, right] = [limbsOf(pose, 'left'), limbsOf(pose, 'right')]
  const { hipY, thigh } = thighsOf(left, right)
  const down = (bounds.top - hipY) / thigh
  return down > -ABOVE_HIPS && down < UNDER_SHIRT ? wornLowerOf(mask, left, right) : null
}

const maskOf = (parsing: Parsing, labels: readonly number[]): Mask =>
  maskWhere(parsing, (i) => labels.includes(parsing.labels[i]!))

/** Whether the picture cuts the garment off at its lower edge. */
const reachesEnd = ({ width, height, data }: Mask): boolean =>
  data.subarray((height - 2) * width).includes(1)

/** Without loose bits, slivers and small holes, which are errors of the parsing. */
function solid(mask: Mask): Mask {
  const large = keepLarge(withoutSlivers(mask), LEAST_PIECE)
  const most = area(large) * LARGEST_ERROR
  return painted(
    large,
    regions(large, 0).filter((hole) => hole.length < most),
    1,
  )
}

/** Removes what is only one or two pixels wide. */
function withoutSlivers(mask: Mask): Mask {
  const depth = distanceTo(mask, 0)
  const near = distanceToSet(mask, (i) => depth[i]! > SLIVER)
  return maskWhere(mask, (i) => mask.data[i] === 1 && near[i]! < SLIVER + 0.4)
}

function wornLowerOf(cloth: Mask, left: Limbs, right: Limbs): Worn | null {
  const mask = keepLarge(cloth, LEAST_PIECE_OF_LEGS)
  const rows = bodyRowsOf(mask)
  const outline = smoothClosed(traceOutline(keepLarge(mask, 1)), 1)
  if (!rows || outline.length < 24) return null
  // A shirt may hide the upper part.
  const crotch = crotchOf(mask, rows, 0)
  if (crotch && narrowestLeg(rows, crotch) < LEAST_LEG) return null
  const thighs = thighsOf(left, right)
  const areSeen = isConfident(left.knee) && isConfident(right.knee) && thighs.thigh > 0
  const wearer = areSeen ? thighs : null
  return { mask, shape: { ...lowerShapeOf(outline, rows, crotch), wearer }, hidden: null }
}
