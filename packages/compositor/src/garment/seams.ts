// The seam of legs that touch, which the silhouette does not show.
import type { Lab } from '../oklab.ts'
import { pause } from '../pause.ts'
import { createPlane, percentile, type Plane } from '../plane.ts'
import { bodyRowsOf, type BodyRows } from './body-rows.ts'
import { bestIndex } from './contour.ts'
import { edgesOf } from './edges.ts'
import { rowAt, type Mask } from './mask.ts'

/** Where the seam between legs is: between two heights, in shares of the garment's, and how far from the axis at most, in widths. */
const LEG = { from: 0.31, to: 0.97, aside: 0.12 }
/** Trousers whose legs touch are at least so many times as tall as wide: culottes 1.87 times, two skirts with a seam 1.83. */
const LONG = 1.85
/**
 * The colour change that counts half: at least, and the one that so large a share of the cloth stays below, which is
 * much in a pattern; and the cost of a step aside.
 */
const HALF = { least: 0.015, share: 0.9 }
const ASIDE = 0.08
/**
 * The least mean of the change along the seam, where 1 is the most: of trousers whose legs touch, one has 0.7, drawn checks have
 * 0.516.
 */
const LEAST = 0.52
/** Stripes meet at a seam out of step: only every few rows their colour changes there. Pixels above and below. */
const ROWS = 2
/** How wide the cut is, in pixels. */
const CUT = 2

interface Seam {
  /** The columns of a line down the cloth, of the rows from `first` on. */
  first: number
  columns: number[]
  /** The mean of the change along it, from 0 to 1. */
  strength: number
}

/** @returns the mask cut along the seam between two long legs, from the crotch down; null when there is none */
export async function legsApart(mask: Mask, lab: Lab): Promise<Mask | null> {
  const rows = bodyRowsOf(mask)
  if (!rows) return null
  const { top, bottom, left, right } = rows.bounds
  if (bottom - top < (right - left) * LONG) return null
  const changes = changesOf(mask, lab)
  await pause()
  const seam = seamOf(changes, rows)
  return seam.strength < LEAST ? null : parted(mask, seam)
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
function seamOf({ width, data, half }: Changes, { bounds, axis }: BodyRows): Seam {
  const first = rowAt(bounds, LEG.from)
  const last = rowAt(bounds, LEG.to)
  const aside = (bounds.right - bounds.left) * LEG.aside
  const gain = (x: number, y: number) => {
    if (Math.abs(x - axis) >= aside) return -1
    const change = data[y * width + x]!
    return change / (change + half)
  }
  const xs = Array.from({ length: width }, (_, x) => x)
  let totals = xs.map((x) => gain(x, first))
  const origins: number[][] = []
  for (let y = first + 1; y <= last; y++) {
    const above = (x: number) => totals[x] ?? -Infinity
    const origin = xs.map((x) => {
      const beside = above(x - 1) > above(x + 1) ? x - 1 : x + 1
      return above(x) >= above(beside) - ASIDE ? x : beside
    })
    totals = origin.map((from, x) => above(from) - (from === x ? 0 : ASIDE) + gain(x, y))
    origins.push(origin)
  }
  const end = bestIndex(totals, (total) => total)
  const columns = [end]
  for (const origin of origins.reverse()) columns.unshift(origin[columns[0]!]!)
  return { first, columns, strength: totals[end]! / (last - first + 1) }
}

function parted(mask: Mask, { first, columns }: Seam): Mask {
  const data = mask.data.slice()
  for (let y = first; y < mask.height; y++) {
    const at = y * mask.width + columns[Math.min(y - first, columns.length - 1)]!
    data.fill(0, at, at + CUT)
  }
  return { ...mask, data }
}
