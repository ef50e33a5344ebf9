// The lower end of a bodysuit, which trousers hide when it is worn.
import { bodyRowsOf, reachOf } from './body-rows.ts'
import { maskWhere, type Mask } from './mask.ts'

/**
 * Above the lower end, in heights of the garment, a bodysuit is narrower than `narrow`, and the legs are cut out
 * over at least `length`. They begin below the last row that is at least `hips` wide, in shares of the widest row
 * of the lower half. Where a row is wider than the next one by `leap`, in widths of the garment, its sleeves touch
 * it. By experiment on product photos: rounded hems are wider.
 */
const LEG_CUT = { above: 0.06, narrow: 0.5, length: 0.12, hips: 0.92, leap: 0.05 }

/** The mask without what lies between the legs; the mask itself for other garments. */
export function withoutLegCut(mask: Mask): Mask {
  const rows = bodyRowsOf(mask)
  if (!rows) return mask
  const { bounds, left, axis } = rows
  let last = bounds.bottom - 1
  while (last > bounds.top && Number.isNaN(left[last]!)) last--
  const height = last - bounds.top
  // A sleeve that touches one side does not belong to the width.
  const widthAt = (y: number) => 2 * Math.min(reachOf(rows, y, -1), reachOf(rows, y, 1))
  const leap = (bounds.right - bounds.left) * LEG_CUT.leap
  let widest = 0
  for (let y = last; y > last - height / 2; y--) {
    if (widthAt(y - 1) > widthAt(y) + leap) break
    widest = Math.max(widest, widthAt(y))
  }
  if (!(widthAt(last - Math.round(height * LEG_CUT.above)) < widest * LEG_CUT.narrow)) return mask
  let hips = last
  while (hips > bounds.top && !(widthAt(hips) >= widest * LEG_CUT.hips)) hips--
  if (last - hips < height * LEG_CUT.length) return mask
  return maskWhere(mask, (i) => {
    const aside = Math.abs((i % mask.width) + 0.5 - axis)
    return mask.data[i] === 1 && !(i >= (hips + 1) * mask.width && aside <= widthAt(hips) / 2 + 1)
  })
}
