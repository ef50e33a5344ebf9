// The outline of the trunk and neck as the joints suggest it.
import { isSeen } from '../limb.ts'
import { LABEL, type Parsing } from '../parsing.ts'
import type { Pose } from '../perception.ts'
import { distance, middle } from '../lines.ts'
import { median } from '../plane.ts'
import { clamp, lerp, type Point } from '../raster.ts'

export interface Torso {
  /** The distance of the shoulders as seen from the front, in pixels. */
  size: number
  shoulderY: number
  hipY: number
  /** Where trousers or a skirt begin, seen or supposed. */
  waistY: number
  /** Whether the person wears a dress: no bottom, and a top that reaches far below the hips. */
  dressed: boolean
  /** Left and right end of the body in the row; NaN above the neck. */
  span(y: number): [number, number]
}

// Chosen by experiment on the development photographs.
/** The least size of the body in lengths of the torso: the shoulders of a turned body appear closer. */
const LEAST_SIZE = 0.58
/** Half widths of neck and shoulders by height above the shoulders, in units of the body's size. */
const NECK: [number, number][] = [
  [0, 0.62],
  [0.06, 0.56],
  [0.1, 0.5],
  [0.17, 0.36],
  [0.25, 0.23],
  [0.33, 0.18],
  [0.6, 0.175],
]
/** How far the sides stand out from the line between shoulder and hip joint in units of the size, by height. */
const SIDES: [number, number][] = [
  [0, 0.06],
  [0.25, -0.01],
  [0.65, 0.05],
  [1, 0.2],
  [1.4, 0.24],
]

/** The least distance from shoulders to hips, and the height of the neck, in units of the body's size. */
const LEAST_TRUNK = 0.8
const NECK_HEIGHT = 0.6
/** The most of a neck's lean. */
const MOST_LEAN = 0.5
/** The usual waist, in heights of the trunk below the shoulders. */
const WAIST = 0.78
/** The columns of the trunk in which the waist is searched, as shares of its width. */
const MIDDLE = [0.25, 0.75] as const
/** A dress: few columns with a bottom, and a top that ends this far below the hips, in heights of the trunk. */
const DRESS = { columns: 0.4, belowHips: 0.3 }
/**
 * A bare belly is at least this many pixels high, in this share of the columns, and ends above this height of the trunk:
 * lower down it is hands before a long top.
 */
const BELLY = { pixels: 2, columns: 0.4, lowest: 1.1 }
/** A waist above this height of the trunk is not the hem of a top. */
const REAL_WAIST = 0.88

/** The body's size in pixels: the distance of the shoulders as seen from the front. At least 1. */
export function bodySize(pose: Pose): number {
  const shoulders = distance(pose.leftShoulder, pose.rightShoulder)
  const torso = distance(
    middle(pose.leftShoulder, pose.rightShoulder),
    middle(pose.leftHip, pose.rightHip),
  )
  return Math.max(1, shoulders, LEAST_SIZE * torso)
}

/** The trunk in pixels of the parsing. */
export function torsoOf(parsing: Parsing, pose: Pose): Torso {
  const size = bodySize(pose)
  const shoulders = [pose.leftShoulder, pose.rightShoulder].toSorted((a, b) => a.x - b.x)
  const hips = [pose.leftHip, pose.rightHip].toSorted((a, b) => a.x - b.x)
  const top = middle(shoulders[0]!, shoulders[1]!)
  const low = middle(hips[0]!, hips[1]!)
  const shoulderY = top.y
  const hipY = Math.max(low.y, shoulderY + size * LEAST_TRUNK)
  const height = hipY - shoulderY
  const lean = leanOf(pose, top)
  const span = (y: number): [number, number] => {
    const t = (y - shoulderY) / height
    if (t < 0) {
      const half = size * along(NECK, -t * (height / size))
      if (-t * height > size * NECK_HEIGHT) return [NaN, NaN]
      const centre = top.x + lean * (shoulderY - y)
      return [centre - half, centre + half]
    }
    const out = size * along(SIDES, t)
    const share = Math.min(1, t)
    return [
      lerp(shoulders[0]!.x, hips[0]!.x, share) - out,
      lerp(shoulders[1]!.x, hips[1]!.x, share) + out,
    ]
  }
  const torso = { size, shoulderY, hipY, waistY: shoulderY + WAIST * height, dressed: false, span }
  readLower(torso, parsing)
  return torso
}

/** How far aside the neck reaches for each pixel upwards from the middle of the shoulders. */
function leanOf({ leftEar, rightEar }: Pose, top: Point): number {
  if (!isSeen(leftEar) || !isSeen(rightEar)) return 0
  const head = middle(leftEar, rightEar)
  return clamp((head.x - top.x) / Math.max(1, top.y - head.y), -MOST_LEAN, MOST_LEAN)
}

/** The value at `x` of a line through the points. */
function along(points: readonly [number, number][], x: number): number {
  let before = points[0]!
  for (const point of points) {
    if (x <= point[0])
      return lerp(before[1], point[1], (x - before[0]) / Math.max(1e-6, point[0] - before[0]))
    before = point
  }
  return before[1]
}

/** Where the bottom begins in the middle of the body, and whether there is one. */
function readLower(torso: Torso, parsing: Parsing): void {
  const { width, height, labels } = parsing
  const trunk = torso.hipY - torso.shoulderY
  const [left, right] = torso.span(torso.hipY)
  const starts: number[] = []
  let lowestTop = 0
  let columns = 0
  let bare = 0
  const end = Math.min(width, lerp(left, right, MIDDLE[1]))
  for (let x = Math.max(0, Math.round(lerp(left, right, MIDDLE[0]))); x < end; x++) {
    columns++
    let last = -1
    let start = -1
    for (let y = Math.max(0, Math.round(torso.shoulderY)); y < height; y++) {
      const label = labels[y * width + x]!
      if (label === LABEL.top) last = y
      if (label === LABEL.bottom && start < 0) start = y
    }
    lowestTop = Math.max(lowestTop, last)
    if (start >= 0) {
      starts.push(start)
      const above = labels[(start - BELLY.pixels) * width + x]
      if (last >= 0 && start - last > BELLY.pixels && above === LABEL.skin) bare++
    }
  }
  torso.dressed =
    starts.length < DRESS.columns * columns && lowestTop > torso.hipY + DRESS.belowHips * trunk
  if (starts.length === 0) return
  const start = median(starts)
  // A waist above the hips or under a bare belly is the real one, others are hidden by the top.
  const lowest = bare > BELLY.columns * columns ? BELLY.lowest : REAL_WAIST
  if (start < torso.shoulderY + lowest * trunk) torso.waistY = start
}
