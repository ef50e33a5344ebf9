// Draws the draped garment into the photo: shadow, light, and what stays in front of it.
import { pauseInRows } from './pause.ts'
import { createPlane, sample, type Plane } from './plane.ts'
import { clamp, ramp, type Raster, type Size } from './raster.ts'
import { blur } from './smoothing.ts'

/** A layer's alpha from 0 to 1, at the size of the analysis. */
export function coverOf(layer: Raster, { width, height }: Size): Plane {
  const plane = createPlane(width, height)
  const scale = layer.width / width
  for (let y = 0, i = 0; y < height; y++) {
    const row = Math.min(layer.height - 1, Math.floor((y + 0.5) * scale)) * layer.width
    for (let x = 0; x < width; x++, i++) {
      const column = Math.min(layer.width - 1, Math.floor((x + 0.5) * scale))
      plane.data[i] = layer.data[(row + column) * 4 + 3]! / 255
    }
  }
  return plane
}

export interface Shadow {
  /** What casts it, at the size of the analysis. */
  cover: Plane
  /** How dark it is next to the cloth, from 0 to 1. */
  strength: number
  /** How much of it falls on a pixel of the analysis, from 0 to 1. */
  receives(index: number): number
}

// Lengths are relative to the body's size, at least one pixel; all numbers were chosen by eye.
/** The softness of a shadow, and how far it falls. */
const SHADOW = { soft: 0.035, drop: 0.03 }
/** Less than this share of a shadow is not seen. */
const NOTHING = 0.01
/** The darker rim of cloth, for the form of the body: reach, cover within, darkness. A darker one blurs white cloth. */
const FORM = { reach: 0.05, from: 0.45, dark: 0.045 }
/** The softness, in pixels of the analysis, of the border to what stays in front, and the shares between. */
const FRONT = { soft: 0.7, from: 0.3, to: 0.7 }

/** Darkens what lies around and just below the cloth. `size` is the body's, in pixels of the analysis. */
export async function castShadow(
  photo: Raster,
  { cover, strength, receives }: Shadow,
  size: number,
): Promise<void> {
  const soft = blur(cover, Math.max(1, size * SHADOW.soft))
  const drop = Math.max(1, Math.round(size * SHADOW.drop))
  const dark = createPlane(cover.width, cover.height)
  for (let y = 0, i = 0; y < cover.height; y++) {
    for (let x = 0; x < cover.width; x++, i++) {
      const share = receives(i)
      if (share > 0) dark.data[i] = share * soft.data[Math.max(0, y - drop) * cover.width + x]!
    }
  }
  const { width, height, data } = photo
  const scale = width / cover.width
  const spans = spansOf(dark)
  for (let y = 0; y < height; y++) {
    await pauseInRows(y, photo)
    const py = (y + 0.5) / scale
    // Rounding makes the photo a little longer or shorter than the analysis.
    const row = clamp(Math.floor(py - 0.5), 0, dark.height - 1)
    const above = spans[row]!
    const below = spans[Math.min(dark.height - 1, row + 1)]!
    // With what lies between the shadow's end and the next pixels of the analysis.
    const left = Math.max(0, Math.floor((Math.min(above.left, below.left) - 0.5) * scale))
    const right = Math.min(width, Math.ceil((Math.max(above.right, below.right) + 0.5) * scale))
    for (let x = left, i = y * width + left; x < right; x++, i++) {
      const share = sample(dark, (x + 0.5) / scale, py)
      if (share < NOTHING) continue
      for (let c = 0; c < 3; c++) data[i * 4 + c] = data[i * 4 + c]! * (1 - strength * share)
    }
  }
}

/** Of each row, the first and the last value that is not 0; an empty span without one. */
function spansOf({ width, height, data }: Plane) {
  return Array.from({ length: height }, (_, y) => {
    const row = data.subarray(y * width, (y + 1) * width)
    const first = row.findIndex((value) => value !== 0)
    if (first < 0) return { left: width, right: 0 }
    return { left: first, right: row.findLastIndex((value) => value !== 0) + 1 }
  })
}

/** The shade with the cloth's rim darker, as on a round body. */
export function rounded(shade: Plane, cover: Plane, size: number): Plane {
  const wide = blur(cover, Math.max(1, size * FORM.reach))
  const result = createPlane(shade.width, shade.height)
  for (let i = 0; i < result.data.length; i++) {
    const form = 1 - ramp(wide.data[i]!, FORM.from, 1)
    result.data[i] = shade.data[i]! * (1 - FORM.dark * form)
  }
  return result
}

/** The exponent that turns a factor of Oklab's lightness into one of sRGB values, near the middle. */
const LIGHTNESS_TO_RGB = 1.36

/**
 * Draws a layer over the photo.
 * @param front 1 where something stays in front of the layer, at the size of the analysis
 * @param shade the factor of the cloth's lightness
 */
export async function drawLayer(
  photo: Raster,
  layer: Raster,
  front: Plane,
  shade: Plane,
): Promise<void> {
  const soft = blur(front, FRONT.soft)
  const { width, height, data } = photo
  const scale = width / front.width
  for (let y = 0, i = 0; y < height; y++) {
    await pauseInRows(y, photo)
    for (let x = 0; x < width; x++, i++) {
      const alpha = layer.data[i * 4 + 3]! / 255
      if (alpha === 0) continue
      const px = (x + 0.5) / scale
      const py = (y + 0.5) / scale
      const cover = alpha * (1 - ramp(sample(soft, px, py), FRONT.from, FRONT.to))
      if (cover === 0) continue
      const light = sample(shade, px, py) ** LIGHTNESS_TO_RGB
      for (let c = 0; c < 3; c++) {
        data[i * 4 + c] = data[i * 4 + c]! * (1 - cover) + layer.data[i * 4 + c]! * light * cover
      }
    }
  }
}
