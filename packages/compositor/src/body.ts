// The person's body as the fit needs it: a frame along the torso, the torso's edges, shoulders, arms
// and legs. Lengths are in pixels of the parsed picture.
import { armAt, isInLimb, isSeen, type Limb } from './limb.ts'
import { bodyConfidence, countPeople } from './people.ts'
import type { Perception } from './perception.ts'
import { LABEL, type Parsing } from './parsing.ts'
import { clamp, lerp, type Point } from './raster.ts'

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

/** @returns a sentence that says why the person cannot be dressed; null when they can */
export function unfit({ pose, person }: Perception): string | null {
  const { leftShoulder, rightShoulder, leftHip, rightHip } = pose
  if (bodyConfidence(pose) < A_BODY) return 'No person is visible, or too little of their body.'
  if (!isSeen(leftShoulder) || !isSeen(rightShoulder)) return 'The shoulders are not visible.'
  if (!isSeen(leftHip) && !isSeen(rightHip)) return 'The hips are not visible.'
  if (countPeople(person) > 1) return 'More than one person is visible.'
  const hips = middle(leftHip, rightHip)
  const chest = middle(leftShoulder, rightShoulder)
  const torso = Math.hypot(hips.x - chest.x, hips.y - chest.y)
  const width = Math.hypot(leftShoulder.x - rightShoulder.x, leftShoulder.y - rightShoulder.y)
  if (width < SIDEWAYS * torso) return 'The person is seen from the side.'
  if (hips.y - chest.y < UPRIGHT * torso) return 'The person is not upright.'
  return null
}

/** Product photos have up to 0.54; see `bodyConfidence`. */
const A_BODY = 0.56
/** The width of the shoulders relative to the torso; 0.55 to 0.8 from the front. */
const SIDEWAYS = 0.3
/** The cosine of the torso's tilt. */
const UPRIGHT = 0.75

/** Half-widths of limbs at their joints, relative to the body's size. */
const ARM_RADII = [0.17, 0.125, 0.085] as const
const LEG_RADII = [0.3, 0.2, 0.13] as const

/** Half the torso's width from the shoulders (0) to the hips (1) and below, relative to the size. */
const TORSO_WIDTHS = [0.56, 0.53, 0.5, 0.46, 0.44, 0.5, 0.55, 0.56] as const

const OUTLINE_STEPS = 24

const usualHalfWidth = (share: number) => {
  const at = clamp(share, 0, 1.15) / (1.15 / (TORSO_WIDTHS.length - 1))
  const low = Math.min(Math.floor(at), TORSO_WIDTHS.length - 2)
  return lerp(TORSO_WIDTHS[low]!, TORSO_WIDTHS[low + 1]!, at - low)
}

export function readBody({ pose, person }: Perception, parsing: Parsing): Body {
  const faces = pose.leftShoulder.x >= pose.rightShoulder.x ? 1 : -1
  const [l, r] = faces === 1 ? (['right', 'left'] as const) : (['left', 'right'] as const)
  const joint = (
    side: 'left' | 'right',
    name: 'Shoulder' | 'Elbow' | 'Wrist' | 'Hip' | 'Knee' | 'Ankle',
  ) => pose[`${side}${name}`]
  const top = middle(joint(l, 'Shoulder'), joint(r, 'Shoulder'))
  const hips = middle(joint(l, 'Hip'), joint(r, 'Hip'))
  const torso = Math.max(4, Math.hypot(hips.x - top.x, hips.y - top.y))
  const frame = frameOf(joint(l, 'Shoulder'), joint(r, 'Shoulder'), hips)
  const shoulders = Math.hypot(
    joint(l, 'Shoulder').x - joint(r, 'Shoulder').x,
    joint(l, 'Shoulder').y - joint(r, 'Shoulder').y,
  )
  const size = clamp(shoulders, 0.55 * torso, 0.95 * torso)
  const isBody = (point: Point) => {
    const x = Math.floor(point.x)
    const y = Math.floor(point.y)
    if (x < 0 || y < 0 || x >= person.width || y >= person.height) return false
    return person.data[y * person.width + x]! > 0.5
  }
  const labelAt = (point: Point) => {
    const x = Math.floor(point.x)
    const y = Math.floor(point.y)
    if (x < 0 || y < 0 || x >= parsing.width || y >= parsing.height) return LABEL.ground
    return parsing.labels[y * parsing.width + x]!
  }
  const sideOf = (side: 'left' | 'right', sign: -1 | 1): BodySide => {
    const shoulder = joint(side, 'Shoulder')
    const elbow = joint(side, 'Elbow')
    const wrist = joint(side, 'Wrist')
    const at = frame.toFrame(shoulder)
    // The outline of the shoulder, outwards and up from the joint.
    const direction = { x: sign * 0.45, y: -0.89 }
    let reach = 0.06 * size
    while (reach < 0.24 * size) {
      const next = frame.toPicture({ x: at.x + direction.x * reach, y: at.y + direction.y * reach })
      if (!isBody(next)) break
      reach += 0.5
    }
    reach = clamp(reach, 0.1 * size, 0.2 * size)
    const arm: Limb = {
      joints: [shoulder, elbow, wrist],
      radii: [ARM_RADII[0] * size, ARM_RADII[1] * size, ARM_RADII[2] * size],
    }
    const outline = new Float64Array(OUTLINE_STEPS + 1)
    for (let i = 0; i <= OUTLINE_STEPS; i++) {
      const { point, outwards, radius } = armAt(arm, i / OUTLINE_STEPS, sign)
      let out = 0.4 * radius
      while (
        out < 1.5 * radius &&
        isBody({ x: point.x + outwards.x * out, y: point.y + outwards.y * out })
      )
        out += 0.5
      outline[i] = clamp(out, 0.75 * radius, 1.3 * radius)
    }
    const smoothed = smooth(outline, 2)
    return {
      sign,
      armOutline: (share) => smoothed[clamp(Math.round(share * OUTLINE_STEPS), 0, OUTLINE_STEPS)]!,
      neck: frame.toPicture({ x: sign * 0.2 * size, y: at.y - 0.22 * size }),
      shoulder: frame.toPicture({ x: at.x + direction.x * reach, y: at.y + direction.y * reach }),
      arm,
      leg: {
        joints: [joint(side, 'Hip'), joint(side, 'Knee'), joint(side, 'Ankle')],
        radii: [LEG_RADII[0] * size, LEG_RADII[1] * size, LEG_RADII[2] * size],
      },
    }
  }
  const left = sideOf(l, -1)
  const right = sideOf(r, 1)

  const rows = Math.ceil(torso * 1.6)
  const edges = ([left, right] as const).map((side) => {
    const widths = new Float64Array(rows)
    for (let y = 0; y < rows; y++) {
      const usual = usualHalfWidth(y / torso) * size
      let x = 0.5 * usual
      let seen = false
      // Hips are wider than shoulders in some bodies, and in turned ones.
      const most = (1.3 + 0.5 * clamp((y / torso - 0.6) / 0.3, 0, 1)) * usual
      for (; x < most; x += 0.5) {
        const point = frame.toPicture({ x: side.sign * x, y })
        if (!isBody(point)) {
          seen = true
          break
        }
        const isSkin = labelAt(point) === LABEL.skin
        if (x > 0.75 * usual && isSkin && (y > 0.75 * torso || isInLimb(side.arm, point, 1.3))) {
          seen = true
          break
        }
        if (x > 0.95 * usual && isInLimb(side.arm, point, 1)) break
      }
      widths[y] = seen ? clamp(x, 0.78 * usual, most) : clamp(x, 0.95 * usual, 1.1 * usual)
    }
    return smooth(widths, Math.max(2, Math.round(torso * 0.06)))
  })
  return {
    frame,
    size,
    torso,
    left,
    right,
    ridgeAt(sign, x) {
      const side = sign < 0 ? left : right
      const neck = frame.toFrame(side.neck)
      const tip = frame.toFrame(side.shoulder)
      const share = clamp((x - Math.abs(neck.x)) / (Math.abs(tip.x) - Math.abs(neck.x)), 0, 1.2)
      // The line sags between neck and shoulder.
      const usual =
        lerp(neck.y, tip.y, share) + 0.03 * size * Math.sin(Math.PI * Math.min(share, 1))
      const isTrunk = (y: number) => {
        const label = labelAt(frame.toPicture({ x: sign * x, y }))
        return label === LABEL.skin || label === LABEL.top
      }
      const highest = usual - lerp(0.03, 0.1, Math.min(share, 1)) * size
      let y = usual + 0.07 * size
      if (!isTrunk(y)) return usual
      while (y > highest && isTrunk(y)) y -= 0.5
      return y
    },
    edgeAt(sign, y) {
      const widths = edges[sign < 0 ? 0 : 1]!
      return sign * widths[clamp(Math.round(y), 0, rows - 1)]!
    },
  }
}

const middle = (one: Point, other: Point): Point => ({
  x: (one.x + other.x) / 2,
  y: (one.y + other.y) / 2,
})

/** Rows are parallel to the shoulders at the top and square to the spine at the hips. */
function frameOf(left: Point, right: Point, hips: Point): Frame {
  const top = middle(left, right)
  const torso = Math.max(1, Math.hypot(hips.x - top.x, hips.y - top.y))
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
      // The direction of the row depends on the row.
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

function smooth(values: Float64Array, reach: number): Float64Array {
  const result = new Float64Array(values.length)
  for (let i = 0; i < values.length; i++) {
    let sum = 0
    for (let k = -reach; k <= reach; k++) sum += values[clamp(i + k, 0, values.length - 1)]!
    result[i] = sum / (2 * reach + 1)
  }
  return result
}
