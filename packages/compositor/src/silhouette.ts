// Finds the pixels of the person in the model photo, and the colours of skin, hair and the old top.
// Works on a small copy of the photo.
import { rowBackdrop, smoothBackdrop } from './background.ts'
import { toLab, type Lab, type LabColour } from './oklab.ts'
import { median } from './plane.ts'
import { smoothEdge } from './cutout.ts'
import { boundsOf } from './profile.ts'
import { clamp, type Raster } from './raster.ts'
import { area, flood, floodThick, keepLarge, regions, type Mask } from './regions.ts'

export interface Silhouette {
  mask: Mask
  lab: Lab
}

/** @returns null when nothing, or everything, stands out from the background */
export function findSilhouette(small: Raster): Silhouette | null {
  const { width, height } = small
  if (width < 24 || height < 32) return null
  const lab = toLab(small)
  const smooth = smoothBackdrop(lab, { bottom: false })
  const rows = rowBackdrop(lab)
  const noise = Math.min(smooth.noise, rows.noise)
  const limit = clamp(noise * 4, 0.016, 0.1)
  const distance = smooth.distance.map((value, i) => Math.min(value, rows.distance[i]!))
  // Flooding from the borders, not thresholding: clothes may have the background's colour.
  const passable = Uint8Array.from(distance, (value) => (value < limit ? 1 : 0))
  const outside = floodThick({ width, height, data: passable }, 1, 'sides and top')
  const inside = { width, height, data: outside.data.map((value) => 1 - value) }
  const mask = openGaps(keepLarge(smoothEdge(inside, 1), 0.5), distance, limit)
  const share = area(mask) / (width * height)
  return share < 0.03 || share > 0.9 ? null : { mask, lab }
}

/**
 * The flood fill cannot reach background that the body encloses. Such background is removed beside the
 * body, inside a bent arm, and low in the middle, between the legs. In the middle of the chest it is
 * more likely a shirt in the colour of the wall.
 */
function openGaps(mask: Mask, distance: Float32Array, limit: number): Mask {
  const { width, height } = mask
  const bounds = boundsOf(mask)
  const filled = fillHoles(mask)
  if (!bounds) return filled
  const tall = bounds.bottom - bounds.top
  const axis = (bounds.left + bounds.right) / 2
  const like = {
    width,
    height,
    data: filled.data.map((value, i) => (value === 1 && distance[i]! < limit * 0.75 ? 1 : 0)),
  }
  for (const gap of regions(smoothEdge(like, 1), 1, width * height * 0.0007)) {
    let x = 0
    let y = 0
    for (const index of gap.pixels) {
      x += index % width
      y += Math.floor(index / width)
    }
    const low = y / gap.size > bounds.top + tall * 0.55
    const beside = Math.abs(x / gap.size - axis) > tall * 0.075
    if (low || beside) for (const index of gap.pixels) filled.data[index] = 0
  }
  return filled
}

function fillHoles(mask: Mask): Mask {
  const { width, height } = mask
  const open = flood(width, height, (i) => mask.data[i] === 0)
  return { width, height, data: open.data.map((value) => 1 - value) }
}

export interface ColourModel {
  colour: LabColour
  /** Typical distance of the sampled pixels from the colour. */
  spread: number
}

/** Distance of colours in which lightness counts less, since shading changes it most. */
export const off = (one: LabColour, other: LabColour) =>
  Math.hypot((one[0] - other[0]) * 0.35, one[1] - other[1], one[2] - other[2])

/** The median colour of the pixels of a box that `accept` allows; null for fewer than `least`. */
export function colourOf(
  silhouette: Silhouette,
  box: { left: number; top: number; right: number; bottom: number },
  accept: (L: number, a: number, b: number) => boolean,
  least: number,
): ColourModel | null {
  const { lab, mask } = silhouette
  const found: number[] = []
  for (let y = Math.max(0, Math.floor(box.top)); y < Math.min(lab.height, box.bottom); y++) {
    for (let x = Math.max(0, Math.floor(box.left)); x < Math.min(lab.width, box.right); x++) {
      const i = y * lab.width + x
      if (mask.data[i] === 1 && accept(lab.L[i]!, lab.a[i]!, lab.b[i]!)) found.push(i)
    }
  }
  if (found.length < least) return null
  const middle = (plane: Float32Array) => median(found.map((i) => plane[i]!))
  const colour = [middle(lab.L), middle(lab.a), middle(lab.b)] as const
  const spread = median(found.map((i) => off([lab.L[i]!, lab.a[i]!, lab.b[i]!], colour)))
  return { colour, spread }
}

/** Human skin of any lightness is a muted orange: a narrow range of hues. */
export function isSkinLike(L: number, a: number, b: number): boolean {
  const chroma = Math.hypot(a, b)
  const hue = (Math.atan2(b, a) * 180) / Math.PI
  return L > 0.22 && L < 0.97 && chroma > 0.022 && chroma < 0.17 && hue > 18 && hue < 88
}
