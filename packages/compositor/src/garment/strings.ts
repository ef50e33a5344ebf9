// Strings that hang from a hem, such as the drawstring of a jacket. They would be the garment's lower end.
import { boundsOf, runsOf, type Mask } from './mask.ts'
import { painted, regions } from './regions.ts'

/**
 * A string is at most `wide` and at least `long`, and `above` it the cloth is at least `hem` wide, in widths of the
 * garment. By experiment on product photos: cuffs below a hem are wider, pointed hems become wide sooner, and ties at the
 * side become wider slowly.
 */
const STRING = { wide: 0.05, long: 0.1, above: 0.03, hem: 0.3 }

/** The mask without the strings below its hem. */
export function withoutStrings(mask: Mask): Mask {
  const bounds = boundsOf(mask)
  if (!bounds) return mask
  const { width, data } = mask
  const whole = bounds.right - bounds.left
  // From below: a run is thin as long as no run below it is wide.
  const thin = new Uint8Array(data.length)
  for (let y = bounds.bottom - 1; y >= bounds.top; y--) {
    for (const { left, right } of runsOf(mask, y)) {
      const start = y * width
      if (right - left > whole * STRING.wide) continue
      let isFree = true
      for (let x = left; x < right && isFree; x++) {
        const below = start + width + x
        isFree = below >= data.length || data[below] === 0 || thin[below] === 1
      }
      if (isFree) thin.fill(1, start + left, start + right)
    }
  }
  const strings = regions({ ...mask, data: thin }, 1).filter((pixels) => {
    const [first, last] = [pixels[0]!, Math.max(...pixels)]
    if ((last - first) / width < whole * STRING.long) return false
    const row = Math.floor(first / width) - Math.round(whole * STRING.above)
    const hem = row < 0 ? undefined : runAt(mask, row, first % width)
    return hem !== undefined && hem.right - hem.left >= whole * STRING.hem
  })
  return strings.length === 0 ? mask : painted(mask, strings, 0)
}

const runAt = (mask: Mask, row: number, column: number) =>
  runsOf(mask, row).find(({ left, right }) => left <= column && column < right)
