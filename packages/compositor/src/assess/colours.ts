// The colours of cloth: are those that were drawn the product's?
import { labOf } from '../oklab.ts'
import type { Raster } from '../raster.ts'

/** How often each cell of Oklab occurs; the cells sum to 1. */
export interface Palette {
  cells: Float32Array
}

const LIGHT_STEPS = 12
const HUE_STEPS = 20
/** Half the range of a and b. */
const HUE_REACH = 0.3
const CELLS = LIGHT_STEPS * HUE_STEPS * HUE_STEPS

/** The palette of the pixels for which `isIn` holds, softened so that near colours meet. */
export function paletteOf({ data }: Raster, isIn: (i: number) => boolean): Palette {
  const counts = new Float32Array(CELLS)
  const pixels = data.length / 4
  // More samples do not change the palette.
  const step = Math.max(1, Math.floor(pixels / 60_000))
  let total = 0
  for (let i = 0; i < pixels; i += step) {
    if (!isIn(i)) continue
    spread(counts, placeOf(data[i * 4]!, data[i * 4 + 1]!, data[i * 4 + 2]!))
    total++
  }
  if (total > 0) for (let cell = 0; cell < CELLS; cell++) counts[cell] = counts[cell]! / total
  return { cells: counts }
}

/** What two palettes have in common, from 0 to 1. */
export function likeness(one: Palette, other: Palette): number {
  let common = 0
  for (let cell = 0; cell < CELLS; cell++) {
    common += Math.min(one.cells[cell]!, other.cells[cell]!)
  }
  return common
}

/**
 * Whether a colour occurs in the palette.
 * @param steps how many steps of lightness, of 9 % each, it may be lighter or darker
 */
export function occursIn(
  { cells }: Palette,
  [red, green, blue]: readonly [number, number, number],
  steps = 2,
): boolean {
  const { light, a, b } = placeOf(red, green, blue)
  for (let dl = -steps; dl <= steps; dl++) {
    const cell = cellAt(Math.round(light) + dl, Math.round(a), Math.round(b))
    if (cells[cell]! > RARE) return true
  }
  return false
}

const RARE = 0.004

interface Place {
  light: number
  a: number
  b: number
}

function placeOf(red: number, green: number, blue: number): Place {
  const [L, a, b] = labOf(red, green, blue)
  return {
    light: L * (LIGHT_STEPS - 1),
    a: ((a + HUE_REACH) / (2 * HUE_REACH)) * (HUE_STEPS - 1),
    b: ((b + HUE_REACH) / (2 * HUE_REACH)) * (HUE_STEPS - 1),
  }
}

const bounded = (value: number, steps: number) => Math.min(steps - 1, Math.max(0, value))

const cellAt = (light: number, a: number, b: number) =>
  (bounded(light, LIGHT_STEPS) * HUE_STEPS + bounded(a, HUE_STEPS)) * HUE_STEPS +
  bounded(b, HUE_STEPS)

/** Counts a colour in the cells around it, by closeness. */
function spread(counts: Float32Array, { light, a, b }: Place): void {
  const [l0, a0, b0] = [Math.floor(light), Math.floor(a), Math.floor(b)]
  for (let dl = 0; dl <= 1; dl++) {
    const wl = dl === 1 ? light - l0 : 1 - light + l0
    for (let da = 0; da <= 1; da++) {
      const wa = da === 1 ? a - a0 : 1 - a + a0
      for (let db = 0; db <= 1; db++) {
        const wb = db === 1 ? b - b0 : 1 - b + b0
        const cell = cellAt(l0 + dl, a0 + da, b0 + db)
        counts[cell] = counts[cell]! + wl * wa * wb
      }
    }
  }
}
