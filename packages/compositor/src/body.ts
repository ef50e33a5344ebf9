// The person's body as the fit needs it: a frame along the torso, the torso's edges, shoulders, arms
// and legs. Lengths are in pixels of the parsed picture, shares without a unit are of the body's size.
// Constants without another origin were chosen by experiment on the development photographs.
import { armAt, isInLimb, type Limb } from './limb.ts'
import { distance, middle, pointBeside } from './lines.ts'
import { LABEL, type Parsing } from './parsing.ts'
import type { Perception } from './perception.ts'
import { clamp, indexAt, lerp, type Point } from './raster.ts'
import { smoothValues } from './smoothing.ts'

/** Coordinates along the torso: the origin is between the shoulders, y runs towards the hips. */
export interface Frame {
  toFrame(point: Point): Point
  toPicture(point: Point): Point
}

/** One side of the body, as the picture shows it. */
export interface BodySide {
  /** -1 for the left of the picture, 1 for the right. */
  sign: -1 | 1
  /** Where the neck meets the shoulder, on the outline. */
  neck: Point
  /** Where a sleeve is set in: the outer end of the shoulder, on the outline. */
  shoulder: Point
  arm: Limb
  leg: Limb
  /** The distance of the arm's outer outline from its axis, from shoulder (0) to wrist (1). */
  armOutline(share: number): number
}

export interface Body {
  frame: Frame
  /** The distance of the shoulder joints, corrected for turned bodies. */
  size: number
  /** The distance from shoulders to hips. */
  torso: number
  left: BodySide
  right: BodySide
  /** The height of the shoulder's outline at a distance from the middle, in the frame. */
  ridgeAt(sign: -1 | 1, x: number): number
  /** x of the torso's edge at a height, in the frame. */
  edgeAt(sign: -1 | 1, y: number): number
}

/** Half-widths of limbs at their joints. */
const ARM_RADII = [0.17, 0.125, 0.085] as const
const LEG_RADII = [0.3, 0.2, 0.13] as const
/** Pixels between the places at which an outline is searched. */
const STEP = 0.5
/** The probability from which on a pixel is the person's. */
const PERSON = 0.5
/** The size in lengths of the torso: the shoulders of a turned body appear closer than this. */
const SIZE = { least: 0.55, most: 0.95 }

/** What the picture shows of the body. */
interface Sight {
  pose: Perception['pose']
  person: Perception['person']
  parsing: Parsing
  frame: Frame
  size: number
  torso: number
}

type Side = 'left' | 'right'

export function readBody({ pose, person }: Perception, parsing: Parsing): Body {
  // The picture's left is the person's right, unless the back is seen.
  const [l, r]: [Side, Side] =
    pose.leftShoulder.x >= pose.rightShoulder.x ? ['right', 'left'] : ['left', 'right']
  const [leftShoulder, rightShoulder] = [pose[`${l}Shoulder`], pose[`${r}Shoulder`]]
  const hips = middle(pose[`${l}Hip`], pose[`${r}Hip`])
  const torso = Math.max(4, distance(hips, middle(leftShoulder, rightShoulder)))
  const frame = frameOf(leftShoulder, rightShoulder, hips)
  const shoulders = distance(leftShoulder, rightShoulder)
  const size = clamp(shoulders, SIZE.least * torso, SIZE.most * torso)
  const sight = { pose, person, parsing, frame, size, torso }
  const left = sideOf(sight, l, -1)
  const right = sideOf(sight, r, 1)
  const seen = [widthsSeen(sight, left), widthsSeen(sight, right)]
  const isFlared = seen.every((widths) => widths[Math.round(FLARED * torso)] === Infinity)
  const [leftWidths, rightWidths] = seen.map((widths) => torsoWidths(sight, widths, isFlared))
  return {
    frame,
    size,
    torso,
    left,
    right,
    ridgeAt: (sign, x) => ridgeOf(sight, sign < 0 ? left : right, x),
    edgeAt(sign, y) {
      const widths = (sign < 0 ? leftWidths : rightWidths)!
      return sign * widths[clamp(Math.round(y), 0, widths.length - 1)]!
    },
  }
}

const isBody = ({ person }: Sight, point: Point) => person.data[indexAt(person, point)]! > PERSON

const labelAt = ({ parsing }: Sight, point: Point) => parsing.labels[indexAt(parsing, point)]

/** The outline of the shoulder: the direction from the joint outwards and up, and how far it is searched. */
const SHOULDER = { across: 0.45, down: -0.89, start: 0.06, end: 0.24, least: 0.1, most: 0.2 }
/** Where the neck meets the shoulder, from the middle and above the shoulder's joint. */
const NECK = { aside: 0.2, above: 0.22 }

function sideOf(sight: Sight, side: Side, sign: -1 | 1): BodySide {
  const { pose, frame, size } = sight
  const joint = pose[`${side}Shoulder`]
  const at = frame.toFrame(joint)
  const direction = { x: sign * SHOULDER.across, y: SHOULDER.down }
  let reach = SHOULDER.start * size
  while (reach < SHOULDER.end * size) {
    if (!isBody(sight, frame.toPicture(pointBeside(at, direction, reach)))) break
    reach += STEP
  }
  reach = clamp(reach, SHOULDER.least * size, SHOULDER.most * size)
  const arm: Limb = {
    joints: [joint, pose[`${side}Elbow`], pose[`${side}Wrist`]],
    radii: scaled(ARM_RADII, size),
  }
  return {
    sign,
    armOutline: armOutlineOf(sight, arm, sign),
    neck: frame.toPicture({ x: sign * NECK.aside * size, y: at.y - NECK.above * size }),
    shoulder: frame.toPicture(pointBeside(at, direction, reach)),
    arm,
    leg: {
      joints: [pose[`${side}Hip`], pose[`${side}Knee`], pose[`${side}Ankle`]],
      radii: scaled(LEG_RADII, size),
    },
  }
}

const scaled = ([root, bend, end]: Readonly<Limb['radii']>, size: number): Limb['radii'] => [
  root * size,
  bend * size,
  end * size,
]

/** The search for the arm's outline, and the result's limits, in half-widths of the arm. */
const ARM_OUTLINE = { steps: 24, start: 0.4, end: 1.5, least: 0.62, most: 1.2 }

function armOutlineOf(sight: Sight, arm: Limb, sign: -1 | 1): BodySide['armOutline'] {
  const { steps, start, end, least, most } = ARM_OUTLINE
  const outline = Float64Array.from({ length: steps + 1 }, (_, i) => {
    const { point, outwards, radius } = armAt(arm, i / steps, sign)
    let out = start * radius
    while (out < end * radius && isBody(sight, pointBeside(point, outwards, out))) out += STEP
    return clamp(out, least * radius, most * radius)
  })
  const smoothed = smoothValues(outline, 2)
  return (share) => smoothed[clamp(Math.round(share * steps), 0, steps)]!
}

/** Half the torso's usual width in equal steps from the shoulders to below the hips. */
const TORSO_WIDTHS = [0.56, 0.53, 0.5, 0.46, 0.44, 0.5, 0.55, 0.56] as const
/** The end of those steps, in lengths of the torso. */
const TORSO_END = 1.15

function usualHalfWidth(share: number): number {
  const at = clamp(share, 0, TORSO_END) / (TORSO_END / (TORSO_WIDTHS.length - 1))
  const low = Math.min(Math.floor(at), TORSO_WIDTHS.length - 2)
  return lerp(TORSO_WIDTHS[low]!, TORSO_WIDTHS[low + 1]!, at - low)
}

/** How far below the shoulders the edges are read, and over how many rows they are smoothed: in torsos. */
const EDGES = { length: 1.6, smoothing: 0.06 }
/** The search for the torso's edge, and its limits when it is seen, in usual half-widths. */
const EDGE = { start: 0.5, least: 0.78, most: 1.3 }
/** Hips are wider than shoulders in some bodies, and in turned ones: half-widths more, and heights in torsos. */
const HIPS = { wider: 0.5, from: 0.6, over: 0.3 }
/** What is wider than this, in torsos on one side, is no body. Of 116 people five are: coats, wide clothes, a jacket on an arm. */
const WIDEST = 0.5
/** Where that is the case on both sides of the thighs, at this height in torsos, a flared skirt or a coat hides the hips. */
const FLARED = 1.4
/** Where skin may be a hand or an arm beside the torso: half-widths, torsos, half-widths of the arm. */
const BARE = { from: 0.75, below: 0.75, arm: 1.3 }
/** Where a sleeve beside the torso ends the search, and the limits of the edge that it hides: half-widths. */
const HIDDEN = { from: 0.95, least: 0.95, most: 1.1 }

/** Half the torso's width in each row of the frame, on one side; Infinity where it has no edge that is the body's. */
function widthsSeen(sight: Sight, { sign, arm }: BodySide): Float64Array {
  const { frame, size, torso } = sight
  return Float64Array.from({ length: Math.ceil(torso * EDGES.length) }, (_, y) => {
    const usual = usualHalfWidth(y / torso) * size
    const wider = HIPS.wider * clamp((y / torso - HIPS.from) / HIPS.over, 0, 1)
    const most = Math.min((EDGE.most + wider) * usual, WIDEST * torso)
    for (let x = EDGE.start * usual; x < most; x += STEP) {
      const point = frame.toPicture({ x: sign * x, y })
      const isBare = x > BARE.from * usual && labelAt(sight, point) === LABEL.skin
      if (
        !isBody(sight, point) ||
        (isBare && (y > BARE.below * torso || isInLimb(arm, point, BARE.arm)))
      ) {
        return clamp(x, EDGE.least * usual, most)
      }
      if (x > HIDDEN.from * usual && isInLimb(arm, point, 1)) {
        return clamp(x, HIDDEN.least * usual, HIDDEN.most * usual)
      }
    }
    return Infinity
  })
}

/** The widths with usual ones where the body is hidden. */
function torsoWidths({ size, torso }: Sight, seen: Float64Array, isFlared: boolean): Float64Array {
  const widths = seen.map((width, y) => {
    const isHidden = width === Infinity || (isFlared && y > HIPS.from * torso)
    return isHidden ? Math.min(width, HIDDEN.most * usualHalfWidth(y / torso) * size) : width
  })
  return smoothValues(widths, Math.max(2, Math.round(torso * EDGES.smoothing)))
}

/** How far the shoulder's line sags between neck and end, and the search above and below that line. */
const RIDGE = { sag: 0.03, aboveNeck: 0.03, aboveEnd: 0.1, below: 0.07, end: 1.2 }

/** The height of the shoulder's outline at a distance from the middle. */
function ridgeOf(sight: Sight, { sign, neck, shoulder }: BodySide, x: number): number {
  const { frame, size } = sight
  const [from, to] = [frame.toFrame(neck), frame.toFrame(shoulder)]
  const share = clamp((x - Math.abs(from.x)) / (Math.abs(to.x) - Math.abs(from.x)), 0, RIDGE.end)
  const within = Math.min(share, 1)
  const usual = lerp(from.y, to.y, share) + RIDGE.sag * size * Math.sin(Math.PI * within)
  const isTrunk = (y: number) => {
    const label = labelAt(sight, frame.toPicture({ x: sign * x, y }))
    return label === LABEL.skin || label === LABEL.top
  }
  const highest = usual - lerp(RIDGE.aboveNeck, RIDGE.aboveEnd, within) * size
  let y = usual + RIDGE.below * size
  if (!isTrunk(y)) return usual
  while (y > highest && isTrunk(y)) y -= STEP
  return y
}

/** Rows are parallel to the shoulders at the top and square to the spine at the hips. */
function frameOf(left: Point, right: Point, hips: Point): Frame {
  const top = middle(left, right)
  const torso = Math.max(1, distance(hips, top))
  const down = { x: (hips.x - top.x) / torso, y: (hips.y - top.y) / torso }
  const square = Math.atan2(-down.x, down.y)
  const shoulders = Math.atan2(right.y - left.y, Math.max(1, right.x - left.x))
  const across = (y: number) => {
    const angle = lerp(shoulders, square, clamp(y / torso, 0, 1))
    return { x: Math.cos(angle), y: Math.sin(angle) }
  }
  return {
    toFrame({ x, y }) {
      const [dx, dy] = [x - top.x, y - top.y]
      let along = dx * down.x + dy * down.y
      let aside = 0
      // The direction of the row depends on the row: three rounds converge.
      for (let i = 0; i < 3; i++) {
        const { x: ax, y: ay } = across(along)
        const area = ax * down.y - ay * down.x
        aside = (dx * down.y - dy * down.x) / area
        along = (ax * dy - ay * dx) / area
      }
      return { x: aside, y: along }
    },
    toPicture({ x, y }) {
      const { x: ax, y: ay } = across(y)
      return { x: top.x + x * ax + y * down.x, y: top.y + x * ay + y * down.y }
    },
  }
}
