// What stays in front of the garment: face, hair, bags, and arms before the torso.
import type { Body, BodySide } from './body.ts'
import { isBare } from './hidden-arm.ts'
import { ELBOW, isSeen, placeInTube } from './limb.ts'
import { distance } from './lines.ts'
import { LABEL, type Parsing } from './parsing.ts'
import { piecesOf } from './pieces.ts'
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
/** Half-widths at the wrist, the palm and the fingers, in half-widths of the wrist; chosen by experiment. */
const FOREARM = 1.1
const PALM = 1.3
const FINGERS = 1.6
/** How far a pixel is the arm's, in half-widths: on the torso, and skin beside it, where loose shapes mean the arm. */
const ON_ARM = 1.05
const BESIDE_TORSO = 1.6
/** Where bare arms and old sleeves begin to lie in front of the torso: 0 is the shoulder, 1 the elbow. */
const SKIN_FROM = 0.5
const CLOTH_FROM = 0.7
const WRIST = 2
/** The least share of a piece of skin that lies where a hand may be, if the piece is a hand. By experiment. */
const HAND_SHARE = 0.5

/** A bare belly between a top and trousers, in body sizes: at most so high, and at least so wide, unlike hands. By experiment. */
const BELLY = { high: 0.12, wide: 0.4 }

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
  const arms = [armOf(body.left, body), armOf(body.right, body)]
  // With a bare arm, what looks like a sleeve before the torso is the torso before the arm.
  const hasSleeves = ![body.left, body.right].some(({ arm, sign }) =>
    isBare(arm.joints, sign, parsing),
  )
  const wearsDress = !labels.includes(LABEL.bottom)
  const order = { torso: createPlane(width, height), sleeves: createPlane(width, height) }
  const onArm = new Uint8Array(width * height)
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      const label = labels[i]!
      if (label === LABEL.ground && (!lower || wearsDress)) continue
      if (label === LABEL.hair || label === LABEL.face || label === LABEL.item) {
        order.torso.data[i] = 1
        order.sleeves.data[i] = 1
        continue
      }
      if (label !== LABEL.ground && label !== LABEL.skin && label !== LABEL.top) continue
      const point = { x: x + 0.5, y: y + 0.5 }
      if (lower && label === LABEL.ground) {
        if (body.frame.toFrame(point).y < lower.hemY) order.torso.data[i] = 1
        continue
      }
      if (lower && label === LABEL.top) {
        order.torso.data[i] = wearsDress && body.frame.toFrame(point).y > lower.waistY ? 0 : 1
        continue
      }
      if (label === LABEL.top && !hasSleeves) continue
      for (const arm of arms) {
        if (!isNear(arm, point)) continue
        const { side } = arm
        const at = armPosition(arm, point)
        // Beside the torso skin is the arm's; before the torso it can be the belly's.
        const beside = label === LABEL.skin && isBeside(body, side, point)
        if (at.distance > (beside ? BESIDE_TORSO : ON_ARM)) continue
        // No sleeve: the cloth that a hand holds, or a pocket around it. No hand: a bare belly.
        if (at.share > WRIST && (label === LABEL.top || isBelly(parsing, i, body))) continue
        if (label === LABEL.skin) {
          if (at.share > WRIST) order.sleeves.data[i] = 1
          else onArm[i] = 1
        }
        const sleeveEnd = sleeveEnds[side === body.left ? 0 : 1]!
        const bareFrom = label === LABEL.skin ? SKIN_FROM : CLOTH_FROM
        if (at.share > Math.max(bareFrom, sleeveEnd)) order.torso.data[i] = 1
      }
    }
  }
  dropLegs(order, parsing, onArm)
  return order
}

/** Takes the skin of legs out of what stays in front: it is no part of an arm and lies mostly where no hand is. */
function dropLegs({ torso, sleeves }: Order, { labels, width }: Parsing, onArm: Uint8Array): void {
  for (const { pixels } of piecesOf(labels, width, LABEL.skin)) {
    const atHand = pixels.filter((i) => sleeves.data[i] === 1)
    if (atHand.length > HAND_SHARE * pixels.length || pixels.some((i) => onArm[i] === 1)) continue
    for (const i of atHand) torso.data[i] = sleeves.data[i] = 0
  }
}

/** Whether skin has a top above it and a bottom below, and is too low and too wide for a hand. */
function isBelly({ labels, width }: Parsing, i: number, { size }: Body): boolean {
  const end = (step: number) => {
    let at = i
    while (labels[at] === LABEL.skin) at += step
    return at
  }
  const [above, below] = [end(-width), end(width)]
  return (
    labels[above] === LABEL.top &&
    labels[below] === LABEL.bottom &&
    (below - above) / width - 1 <= BELLY.high * size &&
    end(1) - end(-1) > BELLY.wide * size
  )
}

function isBeside(body: Body, side: BodySide, point: Point): boolean {
  const { x, y } = body.frame.toFrame(point)
  return side.sign * x > Math.abs(body.edgeAt(side.sign, y))
}

interface Part {
  from: Point
  to: Point
  radii: readonly [number, number]
}

/** An arm as three tubes, and the box outside of which a point is too far from it. */
interface Arm {
  side: BodySide
  parts: Part[]
  left: number
  right: number
  top: number
  bottom: number
}

function armOf(side: BodySide, { size }: Body): Arm {
  const [shoulder, elbow, wrist] = side.arm.joints
  const length = Math.max(1, distance(elbow, wrist))
  const tips = {
    x: wrist.x + ((wrist.x - elbow.x) / length) * HAND * size,
    y: wrist.y + ((wrist.y - elbow.y) / length) * HAND * size,
  }
  const [upper, middle, end] = side.arm.radii
  const widest = BESIDE_TORSO * Math.max(upper, middle, end * FINGERS, 0)
  const all: Part[] = [
    { from: shoulder, to: elbow, radii: [upper, middle] },
    { from: elbow, to: wrist, radii: [middle, end * FOREARM] },
    { from: wrist, to: tips, radii: [end * PALM, end * FINGERS] },
  ]
  // The place of a wrist that is not seen means nothing.
  const parts = isSeen(wrist) ? all : all.slice(0, 1)
  const ends = parts.flatMap(({ from, to }) => [from, to])
  return {
    side,
    parts,
    left: Math.min(...ends.map(({ x }) => x)) - widest,
    right: Math.max(...ends.map(({ x }) => x)) + widest,
    top: Math.min(...ends.map(({ y }) => y)) - widest,
    bottom: Math.max(...ends.map(({ y }) => y)) + widest,
  }
}

const isNear = ({ left, right, top, bottom }: Arm, { x, y }: Point) =>
  x >= left && x <= right && y >= top && y <= bottom

/** Where a point is on the arm: 0 at the shoulder, 1 at the elbow, 2 at the wrist, 3 at the fingertips. */
function armPosition({ parts }: Arm, point: Point) {
  let best = { share: 0, distance: Infinity }
  for (let i = 0; i < parts.length; i++) {
    const { from, to, radii } = parts[i]!
    const part = placeInTube(from, to, radii, point)
    if (part.distance < best.distance) best = { share: i + part.share, distance: part.distance }
  }
  return best
}
