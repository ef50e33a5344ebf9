// The gap between the legs of trousers, in which the ground lies in the shade.
import type { Backdrop } from './background.ts'
import type { Edges } from './edges.ts'
import { area, boundsOf, emptyMask, maskWhere, type Mask } from './mask.ts'
import { painted, regions } from './regions.ts'
import { changesAlong, looksShaded } from './shadow.ts'

/**
 * The gap between legs in the shade: the garment is this many times as tall as wide, and the gap is so large a share of it, so
 * slim, so far from the middle in widths, and begins so low in heights; the most that it is darker than the ground, the
 * least change at its edge to the cloth, and the most of its outline on the ground. Of 544 product photos six have one, and
 * no other of these shapes has a piece like it.
 */
const GAP = {
  tall: 1.85,
  size: 0.005,
  slim: 3,
  aside: 0.15,
  top: { least: 0.2, most: 0.5 },
  darker: 0.25,
  cloth: 0.25,
  share: 0.25,
}

/** The mask of long trousers without the shaded ground that is seen between their legs. */
export function withoutShadedGap(mask: Mask, ground: Backdrop, edges: Edges): Mask {
  const whole = boundsOf(mask)
  if (!whole || whole.bottom - whole.top < GAP.tall * (whole.right - whole.left)) return mask
  const shaded = maskWhere(mask, (i) => mask.data[i] === 1 && looksShaded(ground, i, GAP.darker))
  const isGap = (pixels: Int32Array) => {
    if (pixels.length < GAP.size * area(mask)) return false
    const { left, right, top, bottom } = boundsOf(painted(emptyMask(mask), [pixels], 1))!
    const start = (top - whole.top) / (whole.bottom - whole.top)
    const aside = Math.abs(left + right - whole.left - whole.right) / 2
    const { toCloth, share } = changesAlong(pixels, mask, edges)
    return (
      start > GAP.top.least &&
      start < GAP.top.most &&
      aside < GAP.aside * (whole.right - whole.left) &&
      (bottom - top) ** 2 > GAP.slim * pixels.length &&
      toCloth > GAP.cloth ** 2 &&
      share > 0 &&
      share < GAP.share
    )
  }
  return painted(mask, regions(shaded, 1).filter(isGap), 0)
}
