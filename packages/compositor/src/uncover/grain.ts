// How strong a photo's grain is on skin and on the ground.
import type { Parsing } from '../parsing.ts'
import type { Raster } from '../raster.ts'
import type { Grain } from './noise.ts'
import { quantile } from './skin-model.ts'

/** The usual difference between pixels one and four apart where the labels match; edges do not count. */
export function measureGrain(
  photo: Raster,
  parsing: Parsing,
  matches: (label: number) => boolean,
): Grain {
  const cell = Math.max(3, (2.2 * photo.width) / parsing.width)
  const far = Math.round(cell)
  const fine: number[] = []
  const coarse: number[] = []
  for (let y = 1; y + 1 < parsing.height; y += 2) {
    for (let x = 1; x + 1 < parsing.width; x += 2) {
      const at = y * parsing.width + x
      if (
        ![at, at - 1, at + 1, at - parsing.width, at + parsing.width].every((i) =>
          matches(parsing.labels[i]!),
        )
      )
        continue
      const px = Math.floor(((x + 0.5) * photo.width) / parsing.width)
      const py = Math.floor(((y + 0.5) * photo.height) / parsing.height)
      const middle = luma(photo, px, py)
      fine.push(Math.abs(middle - (luma(photo, px - 1, py) + luma(photo, px + 1, py)) / 2))
      coarse.push(Math.abs(middle - (luma(photo, px - far, py) + luma(photo, px + far, py)) / 2))
    }
  }
  if (fine.length < 20) return { fine: 0.6, coarse: 0.4, cell }
  // From the median of absolute second differences to the deviation.
  const small = Math.min(2.5, quantile(fine, 0.5) * 1.2)
  return {
    fine: small,
    coarse: Math.min(1.2, Math.max(0, quantile(coarse, 0.3) * 0.4 - 0.4 * small)),
    cell,
  }
}

function luma(photo: Raster, x: number, y: number): number {
  const px = Math.min(photo.width - 1, Math.max(0, x))
  const py = Math.min(photo.height - 1, Math.max(0, y))
  const at = (py * photo.width + px) * 4
  return 0.3 * photo.data[at]! + 0.59 * photo.data[at + 1]! + 0.11 * photo.data[at + 2]!
}
