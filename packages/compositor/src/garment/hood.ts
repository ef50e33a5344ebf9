// A hood that stands up above the shoulders. The wearer's head hides it, or it hangs at the back.
import { bodyRowsOf, extentOf, type BodyRows } from './body-rows.ts'
import { areaOfRow, maskWhere, type Mask } from './mask.ts'

/**
 * A hood is at least `narrow` and at most `wide`, in widths of the garment, ends at most so `low`, in heights, and is at least as
 * `tall`, in its own widths: collars are lower. It is round: at `tip`, in its own heights, it is at most `round` times as wide
 * as at its widest. Below it is a neck of at most `neck` times its width, and within `below`, in heights, are shoulders of
 * at least `shoulders` times its width. At the neck the cut is `deep`, in widths of the neck. By experiment on product photos.
 */
const HOOD = {
  narrow: 0.2,
  wide: 0.62,
  low: 0.4,
  tall: 0.4,
  tip: 0.1,
  round: 0.65,
  neck: 0.96,
  below: 0.12,
  shoulders: 1.2,
  deep: 0.2,
}

/** The mask without a hood, with a round neckline instead; the mask itself for other garments. */
export function withoutHood(mask: Mask): Mask {
  const rows = bodyRowsOf(mask)
  const neck = rows && neckOf(mask, rows)
  if (!neck) return mask
  const { width } = mask
  const [left, right] = [rows.farLeft[neck]!, rows.farRight[neck]!]
  const half = (right - left) / 2
  return maskWhere(mask, (i) => {
    if (mask.data[i] === 0) return false
    const off = ((i % width) + 0.5 - left - half) / half
    return Math.floor(i / width) > neck + 2 * half * HOOD.deep * Math.max(0, 1 - off * off)
  })
}

/** The row between hood and shoulders; null where there is no hood. */
function neckOf(mask: Mask, rows: BodyRows): number | null {
  const { top, bottom, left, right } = rows.bounds
  const [width, height] = [right - left, bottom - top]
  let widest = 0
  for (let y = top; y < top + height * HOOD.low; y++) {
    const here = extentOf(rows, y)
    if (areaOfRow(mask, y) < here) return null
    widest = Math.max(widest, here)
    const below = extentOf(rows, Math.round(y + height * HOOD.below))
    if (here > widest * HOOD.neck || here > extentOf(rows, y + 1)) continue
    if (below < widest * HOOD.shoulders) continue
    const tip = extentOf(rows, Math.round(top + (y - top) * HOOD.tip))
    const isHood =
      widest > width * HOOD.narrow &&
      widest < width * HOOD.wide &&
      y - top > widest * HOOD.tall &&
      tip < widest * HOOD.round
    return isHood ? y : null
  }
  return null
}
