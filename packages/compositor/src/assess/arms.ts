// Cloth on the arms: whole sleeves, and hands that stay in front.
import type { Body } from '../body.ts'
import { armAt, isSeen, type Limb } from '../limb.ts'
import { LABEL, type Parsing } from '../parsing.ts'
import type { Plane } from '../plane.ts'
import type { Point } from '../raster.ts'

const STEPS = 40
const SLEEVE_END = 0.9

/** A shorter sleeve cannot be distinguished from the torso behind the arm. */
const LONG = 0.6

interface Arms {
  body: Body
  parsing: Parsing
  covered: Plane
  reach: readonly [number, number]
}

/** The share of the arms that is bare although a long sleeve covers the same arm further down. */
export function brokenSleeves({ body, parsing, covered, reach }: Arms): number {
  let worst = 0
  for (const side of [body.left, body.right]) {
    if (reach[side === body.left ? 0 : 1]! < LONG) continue
    let [gap, found] = [0, 0]
    for (let i = 0; i <= STEPS * SLEEVE_END; i++) {
      const { point } = armAt(side.arm, i / STEPS, side.sign)
      const at = indexAt(parsing, point)
      if (at < 0) continue
      const label = parsing.labels[at]
      if (covered.data[at]! > 0.5) found = gap
      else if (label !== LABEL.hair && label !== LABEL.item) gap++
    }
    worst = Math.max(worst, found / STEPS)
  }
  return worst
}

/** The difference of the lengths of cloth on the two arms, as a share of the arm. */
export function unevenSleeves(body: Body, parsing: Parsing, covered: Plane): number {
  const [left = 0, right = 0] = [body.left, body.right].map((side) => {
    let count = 0
    for (let i = 0; i <= STEPS * SLEEVE_END; i++) {
      const at = indexAt(parsing, armAt(side.arm, i / STEPS, side.sign).point)
      if (at < 0 || covered.data[at]! > 0.5) count++
    }
    return count / STEPS
  })
  return Math.abs(left - right)
}

/** The share of the hands, as far as they are visible in the photo, that the garment covers. */
export function hiddenHands(body: Body, parsing: Parsing, covered: Plane): number {
  const centres = [body.left.arm, body.right.arm].flatMap(handOf)
  const reach = 0.22 * body.size
  let [seen, hidden] = [0, 0]
  for (let y = 0, i = 0; y < parsing.height; y++) {
    for (let x = 0; x < parsing.width; x++, i++) {
      if (parsing.labels[i] !== LABEL.skin) continue
      if (!centres.some((centre) => Math.hypot(x - centre.x, y - centre.y) < reach)) continue
      seen++
      if (covered.data[i]! > 0.5) hidden++
    }
  }
  return seen === 0 ? 0 : hidden / seen
}

/** The middle of the hand: beyond the wrist, in the direction of the forearm. */
function handOf({ joints: [, elbow, wrist] }: Limb): Point[] {
  if (!isSeen(wrist)) return []
  return [{ x: wrist.x + 0.3 * (wrist.x - elbow.x), y: wrist.y + 0.3 * (wrist.y - elbow.y) }]
}

function indexAt({ width, height }: Parsing, { x, y }: Point): number {
  const [column, row] = [Math.floor(x), Math.floor(y)]
  return column < 0 || row < 0 || column >= width || row >= height ? -1 : row * width + column
}
