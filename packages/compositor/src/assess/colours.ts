// The colours of cloth: are those that were drawn the product's?
import { labOf } from '../oklab.ts'
import { clamp, type Raster } from '../raster.ts'

/** How often each cell of Oklab occurs; the cells sum to 1. */
export interface Palette {
  cells: Float32Array
}

/** The cells of Oklab, along lightness and along a and b; chosen by experiment. */
const LIGHT_STEPS = 12
const HUE_STEPS = 20
/** Half the range of a and b. */
const HUE_REACH = 0.3
/** Pixels that are counted: more do not change the palette. */
const MAX_SAMPLES = 60_000
const CELLS = LIGHT_STEPS * HUE_STEPS * HUE_STEPS

/** The palette of the pixels for which `isIn` holds, softened so that near colours meet. */
export function paletteOf({ data }: Raster, isIn: (i: number) => boolean): Palette {
  const counts = new Float32Array(CELLS)
  const pixels = data.length / 4
  const step = Math.max(1, Math.floor(pixels / MAX_SAMPLES))
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

/** How many steps of lightness, of 9 % each, a colour of cloth may be lighter or darker. */
const LIGHTER = 2

/** Whether a colour occurs in the palette, or one that is a little lighter or darker. */
export function occursIn(
  { cells }: Palette,
  [red, green, blue]: readonly [number, number, number],
): boolean {
  const { light, a, b } = placeOf(red, green, blue)
  for (let dl = -LIGHTER; dl <= LIGHTER; dl++) {
    const cell = cellAt(Math.round(light) + dl, Math.round(a), Math.round(b))
    if (cells[cell]! > RARE) return true
  }
  return false
}

/** The share of the pixels in a cell up to which its colours do not count as those of the cloth. */
const RARE = 0.0015

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

const cellAt = (light: number, a: number, b: number) =>
  (clamp(light, 0, LIGHT_STEPS - 1) * HUE_STEPS + clamp(a, 0, HUE_STEPS - 1)) * HUE_STEPS +
  clamp(b, 0, HUE_STEPS - 1)

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
