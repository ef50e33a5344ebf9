// What holds a garment: the hook of a hanger, the sides of a dummy that is as pale as the ground, its stand.
import { boundsOf, runsOf, type Bounds, type Mask, type Run } from './mask.ts'

/** What the picture's border cuts off is at most this wide, in widths of all that is cut out. By experiment. */
const WIDEST = 0.2
/** A hook is at most this wide, and at least this long, in widths and heights of all that is cut out. By experiment. */
const HOOK = { wide: 0.1, long: 0.04 }

/** The mask without a hook, and without what the upper and the lower border of the picture cut off. */
export function withoutHolder(mask: Mask): Mask {
  const bounds = boundsOf(mask)
  if (!bounds) return mask
  const { width, height } = mask
  const widest = (bounds.right - bounds.left) * WIDEST
  const data = mask.data.slice()
  const end = hookEnd(mask, bounds)
  data.fill(0, 0, end * width)
  for (const down of [1, -1]) {
    let before: Run[] = [{ left: 0, right: width }]
    for (let row = 0; row < height && before.length > 0; row++) {
      const y = down > 0 ? row : height - 1 - row
      before = runsOf(mask, y).filter(
        ({ left, right }) =>
          right - left <= widest && before.some((run) => run.left < right && left < run.right),
      )
      for (const { left, right } of before) data.fill(0, y * width + left, y * width + right)
    }
  }
  return { ...mask, data }
}

/** The row in which the hook of a hanger ends; the upper end of the cloth where there is none. */
function hookEnd(mask: Mask, { top, bottom, left, right }: Bounds): number {
  const isHook = (y: number) => {
    const [run, other] = runsOf(mask, y)
    return run !== undefined && !other && run.right - run.left < (right - left) * HOOK.wide
  }
  let end = top
  while (end < bottom && isHook(end)) end++
  return end - top > (bottom - top) * HOOK.long ? end : top
}
