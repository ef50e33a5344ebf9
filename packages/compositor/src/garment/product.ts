// What a model of our own sees in a product photo: whether it shows trousers or a skirt, and sleeves.
import { PRODUCT } from '../person-models.ts'
import type { Point } from '../raster.ts'
import { LOWEST_ARMPIT } from './armpit.ts'
import { bodyRowsOf, chestHalf, type BodyRows } from './body-rows.ts'
import type { Way } from './contour.ts'
import { area, maskWhere, topOf, type Mask } from './mask.ts'
import { keepLarge } from './regions.ts'

/** Smaller pieces, as a share of the largest one, are no sleeves. */
const LEAST_PIECE = 0.15

/**
 * @param labels as in `PRODUCT`
 * @returns the cloth of the sleeves of a top or a dress; null for trousers, shorts and skirts
 */
export function sleevesIn(mask: Mask, labels: Uint8Array): Mask | null {
  const only = (label: number) => maskWhere(mask, (i) => mask.data[i] === 1 && labels[i] === label)
  const sleeves = only(PRODUCT.sleeve)
  const upper = area(only(PRODUCT.top)) + area(only(PRODUCT.dress)) + area(sleeves)
  return area(only(PRODUCT.bottom)) > upper ? null : keepLarge(sleeves, LEAST_PIECE)
}

/** The smallest sleeve, as a share of the cloth, and the smallest one without another. By experiment. */
const LEAST_SLEEVE = 0.015
const LEAST_ALONE = 0.05

export interface Armpits {
  /** The cloth, cut between sleeves and body from the armpits down. */
  mask: Mask
  /** Null on a side without a sleeve. */
  left: Point | null
  right: Point | null
}

/**
 * Where sleeves leave the body. Sleeves that lie against it are cut from it.
 * @param seen what the model sees as sleeves
 */
export function armpitsIn(mask: Mask, seen: Mask): Armpits {
  const sleeves = beyondSeams(mask, seen)
  const body = maskWhere(mask, (i) => mask.data[i] === 1 && sleeves.data[i] === 0)
  const rows = bodyRowsOf(body)
  if (!rows) return { mask, left: null, right: null }
  const open = { ...mask, data: mask.data.slice() }
  const share = (way: Way) => areaOnSide(sleeves, rows, way) / area(mask)
  const hasSleeve = (way: Way) =>
    share(way) > (share(way < 0 ? 1 : -1) > LEAST_SLEEVE ? LEAST_SLEEVE : LEAST_ALONE)
  const armpit = (way: Way) => {
    const seam = seamOf(sleeves, body, rows, way)
    const first = seam.findIndex((x) => x >= 0)
    if (first < 0 || !hasSleeve(way)) return null
    const shoulder = topOf(mask, seam[first]!) ?? first
    const lowest = Math.round(shoulder + LOWEST_ARMPIT * chestHalf(rows))
    const y = Math.max(
      first,
      seam.findLastIndex((x, row) => x >= 0 && row <= lowest),
    )
    for (let i = (y + 1) * mask.width; i < open.data.length; i++) {
      const isOnSide = way * ((i % mask.width) - rows.axis) > 0
      if (isOnSide && sleeves.data[i] === 1 && touches(body, i)) open.data[i] = 0
    }
    return { x: seam[y]! + (way < 0 ? 1 : 0), y: Math.min(y, lowest) + 1 }
  }
  return { left: armpit(-1), right: armpit(1), mask: open }
}

/** Whether one of the eight pixels around a pixel is set. */
const touches = ({ width, data }: Mask, i: number): boolean =>
  [-width, 0, width].some((down) => [-1, 0, 1].some((across) => data[i + down + across] === 1))

/** The sleeves with the cloth on their outer side, which the model may take for the body. */
function beyondSeams(mask: Mask, sleeves: Mask): Mask {
  const rows = bodyRowsOf(mask)
  if (!rows) return sleeves
  const { width, height } = mask
  const data = sleeves.data.slice()
  for (let y = 0; y < height; y++) {
    for (const way of [-1, 1] as const) {
      let isBeyond = false
      for (let x = Math.round(rows.axis); x >= 0 && x < width; x += way) {
        isBeyond ||= sleeves.data[y * width + x] === 1
        if (isBeyond) data[y * width + x] = mask.data[y * width + x]!
      }
    }
  }
  return { width, height, data }
}

const areaOnSide = ({ width, data }: Mask, { axis }: BodyRows, way: Way): number =>
  data.filter((value, i) => value === 1 && way * ((i % width) - axis) > 0).length

/** For each row the column of the sleeve's innermost pixel beside the body; -1 where they do not meet. */
function seamOf(sleeves: Mask, body: Mask, { axis }: BodyRows, way: Way): number[] {
  const { width, height } = body
  return Array.from({ length: height }, (_, y) => {
    for (let x = Math.round(axis); x >= 0 && x < width; x += way) {
      const at = y * width + x
      if (sleeves.data[at] === 0) continue
      return body.data[at - way] === 1 || body.data[at - 2 * way] === 1 ? x : -1
    }
    return -1
  })
}
