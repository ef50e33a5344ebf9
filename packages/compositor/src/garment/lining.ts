// Cuts away the inside of the back, which the neck opening of a garment without a wearer shows.
import type { Lab } from '../oklab.ts'
import { pause } from '../pause.ts'
import type { Point } from '../raster.ts'
import { areaOfRow, maskWhere, type Bounds, type Mask } from './mask.ts'
import { keepLarge, LEAST_PIECE, withoutHoles } from './regions.ts'
import { bodyRowsOf, chestHalf } from './body-rows.ts'
import { scoreOf } from './rim-score.ts'
import { sidesOf, type Sides } from './rim-sides.ts'
import { agreementOf, indexOfRay, rimsOf, withoutFringe, type Rim } from './rims.ts'
import { upperShape } from './shape.ts'

/**
 * The mask without the lining; the mask itself when no front edge of the opening is convincing.
 * @param label the box around the label in the neck; null for none
 */
export async function withoutLining(lab: Lab, mask: Mask, label: Bounds | null): Promise<Mask> {
  const rows = bodyRowsOf(mask)
  if (!rows) return mask
  const half = chestHalf(rows)
  if (half < 8) return mask
  // A slit at the back shows the ground through the opening.
  const inner = withoutFringe(withoutHoles(mask))
  await pause()
  const rim = await rimOf(lab, inner, rows.axis, half, label)
  if (!rim) return mask
  const sides = sidesOf(rim, lab, inner, half)
  const cut = keepLarge(cutAbove(rim.centre, sides, mask), LEAST_PIECE)
  return isCollar(rim, mask, cut) ? mask : cut
}

/**
 * Half way down an opening there is this much cloth on both sides together, in depths of the opening: shoulders are
 * less steep. Of 45 product photos a stand-up collar and one of fur have 0.8 and 0.4, the others from 1.2.
 */
const BESIDE_OPENING = 1

/** Whether the rim surrounds the front of a collar, of which only the sides remain. Straps may be as narrow. */
function isCollar({ centre, radii }: Rim, mask: Mask, cut: Mask): boolean {
  const depth = radii.at(-1)!
  if (areaOfRow(cut, Math.round(centre.y + depth / 2)) > depth * BESIDE_OPENING) return false
  return upperShape(mask)?.shoulders === 'sleeves'
}

/** Rays along the upper edge see no rim. Instead of them those count that end so many pixels lower. */
const LEVEL = 2

function cutAbove(centre: Point, [left, right]: Sides, mask: Mask): Mask {
  const first = left.findIndex((r) => !Number.isNaN(r))
  return maskWhere(mask, (i) => {
    if (mask.data[i] === 0) return false
    const x = (i % mask.width) + 0.5
    const across = Math.abs(x - centre.x)
    const down = Math.floor(i / mask.width) + 0.5 - centre.y
    const ray = Math.max(first, indexOfRay(across, Math.max(down, LEVEL)))
    const radii = x < centre.x ? left : right
    return !(Math.hypot(across, down) < radii[ray]!)
  })
}

/** Of the moved rim of a collar's band. `change` is a share of the rim's own change; widths are in half widths of the chest. */
const BAND = {
  coverage: 0.5,
  narrowest: 0.03,
  widest: 0.16,
  likely: { coherence: 0.63, change: 0.38 },
  sure: { coherence: 0.85, change: 0.45 },
}

/**
 * The curve that is most likely the front edge of the opening; null when none is likely.
 * @param mask the cloth without its fringe
 */
async function rimOf(
  lab: Lab,
  mask: Mask,
  axis: number,
  half: number,
  label: Bounds | null,
): Promise<Rim | null> {
  let best: Rim | null = null
  let most = 0
  for (const rim of await rimsOf(lab, mask, axis, half)) {
    await pause()
    const score = scoreOf(rim, lab, mask, half, label)
    if (score <= most) continue
    most = score
    best = rim
  }
  return best && bandTop(best, lab, mask, half)
}

/** The upper edge of the collar's band, when the curve is the lower one. */
function bandTop(rim: Rim, lab: Lab, mask: Mask, half: number): Rim {
  const own = Math.hypot(...agreementOf(rim, lab, mask).mean)
  const moved: { rim: Rim; evidence: number; isSure: boolean }[] = []
  for (let width = Math.max(3, half * BAND.narrowest); width < half * BAND.widest; width += 0.5) {
    const higher = { ...rim, radii: rim.radii.map((r) => Math.max(0, r - width)) }
    const { coherence, coverage, mean } = agreementOf(higher, lab, mask)
    const change = Math.hypot(...mean) / own
    const isAtLeast = (least: Record<'coherence' | 'change', number>) =>
      coverage > BAND.coverage && coherence > least.coherence && change > least.change
    moved.push({
      rim: higher,
      evidence: isAtLeast(BAND.likely) ? change * coherence : 0,
      isSure: isAtLeast(BAND.sure),
    })
  }
  // Nearest to the curve the change is still that across it.
  const peaks = moved.filter(({ evidence }, i) => {
    const beside = [moved[i - 1]?.evidence ?? Infinity, moved[i + 1]?.evidence ?? 0]
    return evidence > 0 && evidence >= Math.max(...beside)
  })
  // Where there are several, they may be folds, or a texture.
  const edges = peaks.length === 1 ? peaks : peaks.filter(({ isSure }) => isSure)
  return edges.toSorted((one, other) => other.evidence - one.evidence)[0]?.rim ?? rim
}
