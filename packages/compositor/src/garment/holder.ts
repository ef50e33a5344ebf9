// What holds a garment: a hand, the hook of a hanger, the sides of a dummy that is as pale as the ground, its stand.
import { isLike, medianColour, type Lab } from '../oklab.ts'
import { mean } from '../plane.ts'
import {
  boundsOf,
  emptyMask,
  extentOfRow,
  runsOf,
  type Bounds,
  type Mask,
  type Run,
} from './mask.ts'
import { keepLarge, painted, regions } from './regions.ts'

/** What the picture's border cuts off, and the knob that a hook hangs on, is at most this wide, in widths of all that is cut out. By experiment. */
const WIDEST = 0.2
/**
 * A strap or a sleeve that the border cuts off: at least so wide, and a strap so far from the middle, where hangers are, in
 * widths of all that is cut out; and so like the cloth that it joins, in Oklab. Compared are so many rows. By experiment.
 */
const CLOTH = { width: 0.05, aside: 0.06, light: 0.1, tint: 0.04, rows: 8 }
/** A hook is at most this wide, and at least this long, in widths and heights of all that is cut out. By experiment. */
const HOOK = { wide: 0.1, long: 0.04 }
/** Shoulders have at least this share of the greatest width of the cloth. By experiment. */
const SHOULDERS = 0.4
/** Pixels at the side of the picture that may be lost in the ground. */
const BORDER = 3

/**
 * The mask without a hook, without a hand from the side that holds it, and without what the upper and the lower border of
 * the picture cut off.
 */
export function withoutHolder(lab: Lab, mask: Mask): Mask {
  const bounds = boundsOf(mask)
  if (!bounds) return mask
  const garment = keepLarge(mask, 1)
  const pieces = ([1, -1] as const).flatMap((down) =>
    regions(cutOff(mask, bounds, down), 1).filter(
      (pixels) => !isCloth(lab, garment, bounds, pixels, down),
    ),
  )
  const rest = painted(mask, pieces, 0)
  rest.data.fill(0, 0, Math.max(hookEnd(mask, bounds), handEnd(mask, bounds)) * mask.width)
  return rest
}

/** What is narrow from the upper or the lower border on. */
function cutOff(mask: Mask, { left, right }: Bounds, down: 1 | -1): Mask {
  const { width, height } = mask
  const narrow = emptyMask(mask)
  let before: Run[] = [{ left: 0, right: width }]
  for (let row = 0; row < height && before.length > 0; row++) {
    const y = down > 0 ? row : height - 1 - row
    before = runsOf(mask, y).filter(
      (run) =>
        run.right - run.left <= (right - left) * WIDEST &&
        before.some((other) => other.left < run.right && run.left < other.right),
    )
    for (const run of before) narrow.data.fill(1, y * width + run.left, y * width + run.right)
  }
  return narrow
}

/** Whether a piece that is cut off continues in the garment. */
function isCloth(
  lab: Lab,
  { width, data }: Mask,
  bounds: Bounds,
  pixels: Int32Array,
  down: 1 | -1,
): boolean {
  const rowOf = (i: number) => down * Math.floor(i / width)
  const end = pixels.reduce((most, i) => Math.max(most, rowOf(i)), -Infinity)
  const near = [...pixels].filter((i) => rowOf(i) > end - CLOTH.rows)
  const beyond = near.map((i) => i + down * CLOTH.rows * width).filter((i) => data[i] === 1)
  const span = bounds.right - bounds.left
  const off = Math.abs(mean(near.map((i) => i % width)) - (bounds.left + bounds.right) / 2)
  if (near.length <= CLOTH.width * span * CLOTH.rows || beyond.length === 0) return false
  if (down > 0 && off < CLOTH.aside * span) return false
  return isLike(medianColour(lab, near), medianColour(lab, beyond), CLOTH)
}

/** The row in which the hook of a hanger ends, with the knob it hangs on; the upper end of the cloth where there is none. */
function hookEnd(mask: Mask, { top, bottom, left, right }: Bounds): number {
  const rows = Array.from({ length: bottom - top }, (_, row) => extentOfRow(mask, top + row))
  const widths = rows.map((row) => (row ? (row.right - row.left) / (right - left) : 0))
  const shoulders = widths.findIndex((wide) => wide > WIDEST)
  const isHook = (wide: number) => wide < HOOK.wide
  const hook = widths.slice(0, shoulders)
  return hook.filter(isHook).length > (bottom - top) * HOOK.long
    ? top + hook.findLastIndex(isHook) + 1
    : top
}

/** The row in which the shoulders begin, where an arm from the side of the picture is above them; 0 otherwise. */
function handEnd(mask: Mask, { top, bottom }: Bounds): number {
  const { width } = mask
  const rows = Array.from({ length: bottom - top }, (_, row) => runsOf(mask, top + row))
  const widths = rows.map((runs) => Math.max(0, ...runs.map(({ left, right }) => right - left)))
  const least = SHOULDERS * Math.max(...widths)
  const end = widths.slice(0, widths.length / 2).findLastIndex((wide) => wide < least) + 1
  const isCutOff = ({ left, right }: Run) => left < BORDER || right > width - BORDER
  return rows.slice(0, end).some((runs) => runs.some(isCutOff)) ? top + end : 0
}
