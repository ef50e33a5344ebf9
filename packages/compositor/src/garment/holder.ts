// What holds a garment: a hand, the hook of a hanger, the sides of a dummy that is as pale as the ground, its stand.
import { boundsOf, extentOfRow, runsOf, type Bounds, type Mask, type Run } from './mask.ts'

/** What the picture's border cuts off, and the knob that a hook hangs on, is at most this wide, in widths of all that is cut out. By experiment. */
const WIDEST = 0.2
/** The same beside the garment: what is wider there is a sleeve. */
const BESIDE = 0.05
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
export function withoutHolder(mask: Mask): Mask {
  const bounds = boundsOf(mask)
  if (!bounds) return mask
  const { width, height } = mask
  const span = bounds.right - bounds.left
  const data = mask.data.slice()
  const end = Math.max(hookEnd(mask, bounds), handEnd(mask, bounds))
  data.fill(0, 0, end * width)
  for (const down of [1, -1]) {
    let before: Run[] = [{ left: 0, right: width }]
    for (let row = 0; row < height && before.length > 0; row++) {
      const y = down > 0 ? row : height - 1 - row
      const runs = runsOf(mask, y)
      const isBeside = runs.some(({ left, right }) => right - left > span * WIDEST)
      const widest = span * (isBeside ? BESIDE : WIDEST)
      before = runs.filter(
        ({ left, right }) =>
          right - left <= widest && before.some((run) => run.left < right && left < run.right),
      )
      for (const { left, right } of before) data.fill(0, y * width + left, y * width + right)
    }
  }
  return { ...mask, data }
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
