// The seams of sleeves that lie against the body, and of legs that touch: the silhouette does not show either.
import type { Lab } from '../oklab.ts'
import { pause } from '../pause.ts'
import { createPlane, mean, median, percentile, type Plane } from '../plane.ts'
import { bodyRowsOf, extentAtShare, farReachOf, type BodyRows } from './body-rows.ts'
import { bestIndex } from './contour.ts'
import { edgesOf } from './edges.ts'
import { gapsBesideSleeves } from './holes.ts'
import { rowAt, topOf, type Mask } from './mask.ts'

/**
 * Where the seam of a sleeve is: between two heights in shares of the garment's, so far from the axis at least and at most
 * in shares of the way to the outline, and a sleeve's least width inside of it, in widths of the garment.
 */
const SLEEVE = { from: 0.25, to: 0.92, inner: 0.42, outer: 0.9, width: 0.04 }
/** Where that between legs is: between two heights, and how far from the axis at most, in widths. */
const LEG = { from: 0.31, to: 0.97, aside: 0.12 }
/** Trousers whose legs touch are at least so many times as tall as wide: culottes 1.87 times, two skirts with a seam 1.83. */
const LONG = 1.85
/**
 * The armpit is at least so deep below the garment's upper end beside it, and where the seam is nearly as far from the
 * axis as usual, in its usual distances: above, it follows the armhole inwards.
 */
const ARMPIT = { depth: 0.95, near: 0.94 }
/**
 * The colour change that counts half: at least, and the one that so large a share of the cloth stays below, which is
 * much in a pattern; and the cost of a step aside.
 */
const HALF = { least: 0.015, share: 0.9 }
const ASIDE = 0.08
/**
 * The least mean of the change along seams, where 1 is the most. Of 46 garments that do not show two sleeves, among some
 * 370 photos, 17 have more: 15 have sleeves, and two that have none do not look as if they had when they are cut. Drawn
 * checks have 0.516. Of trousers whose legs touch, one has 0.7.
 */
const LEAST = 0.52
/**
 * That of tops so many times wider at the elbows than at the shoulders, heights in shares of the garment's. Of the tops of those
 * photos that have no sleeves one is, a vest with a seam of 0.4; a blouse with sleeves beside it is 1.26 times as wide.
 */
const WIDENING = { from: 0.2, to: 0.7, times: 1.25, least: 0.46 }
/** Stripes meet at a seam out of step: only every few rows their colour changes there. Pixels above and below. */
const ROWS = 2
/** How wide the cut is, in pixels. */
const CUT = 2

/** The columns of a line down the cloth, of the rows from `first` on. */
interface Line {
  first: number
  columns: number[]
}

interface Seam extends Line {
  /** The mean of the change along it, from 0 to 1. */
  strength: number
}

/** @returns the mask cut along the seams of both sleeves, from the armpits down; null when there are none */
export async function sleevesApart(mask: Mask, lab: Lab): Promise<Mask | null> {
  const rows = bodyRowsOf(mask)
  if (!rows) return null
  const { bounds, axis } = rows
  const least = (bounds.right - bounds.left) * SLEEVE.width
  const changes = changesOf(mask, lab)
  const seams: Seam[] = []
  for (const way of [-1, 1] as const) {
    await pause()
    const isPossible = (x: number, y: number) => {
      const off = way * (x - axis)
      const far = farReachOf(rows, y, way)
      return off > far * SLEEVE.inner && off < Math.min(far * SLEEVE.outer, far - least)
    }
    seams.push(seamOf(changes, rows, SLEEVE, isPossible))
  }
  const narrow = extentAtShare(rows, WIDENING.from)
  const widens = extentAtShare(rows, WIDENING.to) > WIDENING.times * narrow
  if (mean(seams.map(({ strength }) => strength)) < (widens ? WIDENING.least : LEAST)) return null
  return seams.reduce((apart, seam) => cutAlongSeam(apart, seam, armpitOf(apart, rows, seam)), mask)
}

/** @returns the mask cut along the seam between two long legs, from the crotch down; null when there is none */
export async function legsApart(mask: Mask, lab: Lab): Promise<Mask | null> {
  const rows = bodyRowsOf(mask)
  if (!rows) return null
  const { bounds, axis } = rows
  const width = bounds.right - bounds.left
  if (bounds.bottom - bounds.top < width * LONG) return null
  const changes = changesOf(mask, lab)
  await pause()
  const seam = seamOf(changes, rows, LEG, (x) => Math.abs(x - axis) < width * LEG.aside)
  return seam.strength < LEAST ? null : cutAlongSeam(mask, seam, seam.first)
}

/** The mask cut from the gaps between sleeves and body downwards, where the ends of the sleeves close them. */
export function openGaps(mask: Mask): Mask {
  const { width } = mask
  let open = mask
  for (const gap of gapsBesideSleeves(mask)) {
    const ends = gap.filter((i) => i > gap.at(-1)! - width)
    const middle = ends[ends.length >> 1]!
    const first = Math.floor(middle / width)
    open = cutAlongSeam(open, { first, columns: [middle % width] }, first)
  }
  return open
}

/** The colour change to the right, the largest of a few rows, and the one that counts half. */
interface Changes extends Plane {
  half: number
}

function changesOf({ data: cloth }: Mask, lab: Lab): Changes {
  const { width, height, right } = edgesOf(lab)
  const { data } = createPlane(width, height)
  for (let i = 0; i < data.length; i++) {
    let most = 0
    for (let row = -ROWS; row <= ROWS; row++) most = Math.max(most, right[i + row * width] ?? 0)
    data[i] = Math.sqrt(most)
  }
  const isInside = (_: number, i: number) =>
    cloth[i - 1] === 1 && cloth[i] === 1 && cloth[i + 2] === 1
  const half = Math.max(HALF.least, percentile(data.filter(isInside), HALF.share))
  return { width, height, data, half }
}

/** The strongest line from above to below, by dynamic programming. */
function seamOf(
  { width, data, half }: Changes,
  { bounds }: BodyRows,
  { from, to }: { from: number; to: number },
  isPossible: (x: number, y: number) => boolean,
): Seam {
  const first = rowAt(bounds, from)
  const last = rowAt(bounds, to)
  const gain = (x: number, y: number) => {
    if (!isPossible(x, y)) return -1
    const change = data[y * width + x]!
    return change / (change + half)
  }
  const xs = Array.from({ length: width }, (_, x) => x)
  let totals = xs.map((x) => gain(x, first))
  const origins: number[][] = []
  for (let y = first + 1; y <= last; y++) {
    const above = (x: number) => totals[x] ?? -Infinity
    const origin = xs.map((x) => {
      const aside = above(x - 1) > above(x + 1) ? x - 1 : x + 1
      return above(x) >= above(aside) - ASIDE ? x : aside
    })
    totals = origin.map((from, x) => above(from) - (from === x ? 0 : ASIDE) + gain(x, y))
    origins.push(origin)
  }
  const end = bestIndex(totals, (total) => total)
  const columns = [end]
  for (const origin of origins.reverse()) columns.unshift(origin[columns[0]!]!)
  return { first, columns, strength: totals[end]! / (last - first + 1) }
}

/** The row of the armpit at the seam of a sleeve. */
function armpitOf(mask: Mask, { bounds, axis }: BodyRows, { first, columns }: Seam): number {
  const offs = columns.map((x) => Math.abs(x - axis))
  const usual = median(offs)
  const top = topOf(mask, median(columns)) ?? bounds.top
  const armhole = first + offs.findIndex((off) => off > usual * ARMPIT.near)
  return Math.max(armhole, Math.round(top + usual * ARMPIT.depth))
}

/** @param top the first row of the cut, which ends at the hem */
function cutAlongSeam(mask: Mask, { first, columns }: Line, top: number): Mask {
  const data = mask.data.slice()
  for (let y = top; y < mask.height; y++) {
    const at = y * mask.width + columns[Math.min(y - first, columns.length - 1)]!
    data.fill(0, at, at + CUT)
  }
  return { ...mask, data }
}
