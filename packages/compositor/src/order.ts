// What stays in front of the garment: face, hair, bags, and arms before the torso.
import type { Body, BodySide } from './body.ts'
import { ELBOW } from './limb.ts'
import { LABEL, type Parsing } from './parsing.ts'
import { createPlane, type Plane } from './plane.ts'
import type { Point } from './raster.ts'

export interface Order {
  /** In front of the torso of the garment. */
  torso: Plane
  /** In front of its sleeves. */
  sleeves: Plane
}

/** How far the hand reaches beyond the wrist, relative to the body's size. */
const HAND = 0.55

/** Heights in the body's frame. */
export interface LowerOrder {
  /** The upper edge of the new garment: it lies over a dress from there on. */
  waistY: number
  /** The lower edge of the current top: beside it the new garment is hidden behind the top. */
  hemY: number
}

/**
 * @param reach the share of the left and the right arm that sleeves cover: cloth lies over the arm there
 * @param lower the edges that order a new pair of trousers or a skirt; null for a top or a dress
 */
export function orderOf(
  parsing: Parsing,
  body: Body,
  reach: readonly [number, number],
  lower: LowerOrder | null,
): Order {
  const { width, height, labels } = parsing
  const sleeveEnds = reach.map((share) =>
    share < ELBOW ? share / ELBOW : 1 + (share - ELBOW) / (1 - ELBOW),
  )
  const wearsDress = !labels.includes(LABEL.bottom)
  const order = { torso: createPlane(width, height), sleeves: createPlane(width, height) }
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      const label = labels[i]!
      const point = { x: x + 0.5, y: y + 0.5 }
      if (label === LABEL.ground) {
        if (lower && !wearsDress && body.frame.toFrame(point).y < lower.hemY) {
          order.torso.data[i] = 1
        }
        continue
      }
      if (label === LABEL.hair || label === LABEL.face || label === LABEL.item) {
        order.torso.data[i] = 1
        order.sleeves.data[i] = 1
        continue
      }
      if (label !== LABEL.skin && label !== LABEL.top) continue
      if (lower && label === LABEL.top) {
        order.torso.data[i] = wearsDress && body.frame.toFrame(point).y > lower.waistY ? 0 : 1
        continue
      }
      for (const side of [body.left, body.right]) {
        const at = armPosition(side, body, point)
        // Beside the torso skin is the arm's; before the torso it can be the belly's.
        const beside = label === LABEL.skin && isBeside(body, side, point)
        if (at.distance > (beside ? 1.6 : 1.05)) continue
        if (at.share > 2 && label === LABEL.skin) order.sleeves.data[i] = 1
        const sleeveEnd = sleeveEnds[side === body.left ? 0 : 1]!
        const bareFrom = label === LABEL.skin ? 0.5 : 1.1
        if (at.share > Math.max(bareFrom, sleeveEnd)) order.torso.data[i] = 1
      }
    }
  }
  return order
}

function isBeside(body: Body, side: BodySide, point: Point): boolean {
  const { x, y } = body.frame.toFrame(point)
  return side.sign * x > Math.abs(body.edgeAt(side.sign, y))
}

/** Where a point is on the arm: 0 at the shoulder, 1 at the elbow, 2 at the wrist, 3 at the fingertips. */
function armPosition(
  side: BodySide,
  body: Body,
  point: Point,
): { share: number; distance: number } {
  const [shoulder, elbow, wrist] = side.arm.joints
  const length = Math.max(1, Math.hypot(wrist.x - elbow.x, wrist.y - elbow.y))
  const tips = {
    x: wrist.x + ((wrist.x - elbow.x) / length) * HAND * body.size,
    y: wrist.y + ((wrist.y - elbow.y) / length) * HAND * body.size,
    score: wrist.score,
  }
  const radii = side.arm.radii
  const parts = [
    limbAt([shoulder, elbow], [radii[0], radii[1]], point),
    limbAt([elbow, wrist], [radii[1], radii[2] * 1.1], point),
    limbAt([wrist, tips], [radii[2] * 1.3, radii[2] * 1.6], point),
  ]
  let best = { share: 0, distance: Infinity }
  parts.forEach((part, i) => {
    if (part.distance < best.distance) best = { share: i + part.share, distance: part.distance }
  })
  return best
}

function limbAt([from, to]: [Point, Point], [start, end]: [number, number], point: Point) {
  const [dx, dy] = [to.x - from.x, to.y - from.y]
  const length = dx * dx + dy * dy
  const raw = length === 0 ? 0 : ((point.x - from.x) * dx + (point.y - from.y) * dy) / length
  const share = Math.min(1, Math.max(0, raw))
  const distance = Math.hypot(point.x - from.x - dx * share, point.y - from.y - dy * share)
  return { share, distance: distance / (start + (end - start) * share) }
}
