// Cuts the garment out of its picture: which pixels are cloth, their coverage and their colour. Works
// for transparent, plain and gradient backgrounds.
import { smoothBackdrop } from './background.ts'
import { toLab, type Lab } from './oklab.ts'
import { blur, type Plane } from './plane.ts'
import { clamp, ramp, type Raster } from './raster.ts'
import { area, floodThick, keepLarge, regions, type Mask } from './regions.ts'

/**
 * The garment alone. Alpha is the feathered coverage, and colours continue beyond the edge, so that
 * soft edges do not show the old background.
 * @returns null when nothing stands out from the background, or everything does
 */
export function cutOut(picture: Raster): Raster | null {
  const { width, height } = picture
  if (width < 8 || height < 8) return null
  const mask = transparentBorder(picture) ? maskOfAlpha(picture) : maskOfColour(picture)
  const share = area(mask) / (width * height)
  if (share < 0.01 || share > 0.985) return null
  const alpha = feather(mask, picture)
  const result = bleed(picture, alpha)
  for (let i = 0; i < alpha.data.length; i++) result.data[i * 4 + 3] = alpha.data[i]! * 255
  return result
}

function transparentBorder({ width, height, data }: Raster): boolean {
  let clear = 0
  let total = 0
  for (let x = 0; x < width; x++) {
    for (const y of [0, height - 1]) {
      total++
      if (data[(y * width + x) * 4 + 3]! < 128) clear++
    }
  }
  for (let y = 0; y < height; y++) {
    for (const x of [0, width - 1]) {
      total++
      if (data[(y * width + x) * 4 + 3]! < 128) clear++
    }
  }
  return clear > total * 0.5
}

function maskOfAlpha({ width, height, data }: Raster): Mask {
  const bytes = new Uint8Array(width * height)
  for (let i = 0; i < bytes.length; i++) bytes[i] = data[i * 4 + 3]! >= 128 ? 1 : 0
  const radius = Math.max(1, Math.round(Math.max(width, height) * 0.003))
  return keepLarge(smoothEdge({ width, height, data: bytes }, radius), 0.08)
}

function maskOfColour(picture: Raster): Mask {
  const { width, height } = picture
  const lab = toLab(picture)
  const { distance, chroma, darker, noise } = smoothBackdrop(lab, { bottom: true })
  const limit = clamp(noise * 4.5, 0.014, 0.09)
  const slope = steepness(lab)
  const subject = (gentle: number) => {
    const passable = new Uint8Array(distance.length)
    for (let i = 0; i < passable.length; i++) {
      // A cast shadow is darker than the backdrop, of its colour, and has no edge of its own.
      const shadow = darker[i]! > 0 && darker[i]! < 0.34 && chroma[i]! < 0.03
      if (distance[i]! < limit || (shadow && slope[i]! < gentle)) passable[i] = 1
    }
    const outside = floodThick({ width, height, data: passable }, 1, 'all borders')
    return { width, height, data: outside.data.map((value) => 1 - value) }
  }
  let inside = subject(0)
  const whole = area(inside)
  for (const share of [1, 0.5, 0.25]) {
    const shadowless = subject((share * (11 + noise * 330)) / Math.max(width, height))
    // More was removed than a shadow: the flood fill has leaked into pale cloth.
    if (area(shadowless) < whole * 0.8) continue
    inside = shadowless
    break
  }
  const smoothed = smoothEdge(inside, Math.max(1, Math.round(Math.max(width, height) * 0.0022)))
  const kept = keepLarge(smoothed, 0.08)
  return fillHoles(kept, distance, limit)
}

/** Change of lightness and colour per pixel, measured over a few pixels because of noise. */
function steepness({ width, height, L, a, b }: Lab): Float32Array {
  const slope = new Float32Array(width * height).fill(1)
  const reach = 2
  for (let y = reach; y < height - reach; y++) {
    for (let x = reach; x < width - reach; x++) {
      const index = y * width + x
      let sum = 0
      for (const plane of [L, a, b]) {
        const across = plane[index + reach]! - plane[index - reach]!
        const down = plane[index + reach * width]! - plane[index - reach * width]!
        sum += across * across + down * down
      }
      slope[index] = Math.sqrt(sum) / (2 * reach)
    }
  }
  return slope
}

/** Removes details finer than the radius: specks, hairs, ragged edges. */
export function smoothEdge(mask: Mask, radius: number): Mask {
  const soft = blur({ ...mask, data: new Float32Array(mask.data) }, radius)
  const data = new Uint8Array(mask.data.length)
  for (let i = 0; i < data.length; i++) if (soft.data[i]! > 0.5) data[i] = 1
  return { ...mask, data }
}

/**
 * Fills holes that are prints in the colour of the backdrop, but not the gap between a sleeve and the
 * body. Prints are in the middle, gaps at the sides.
 */
function fillHoles(mask: Mask, distance: Float32Array, limit: number): Mask {
  const { width, height } = mask
  const data = mask.data.slice()
  const [left, right] = columnsOf(mask)
  for (const hole of regions(mask, 0)) {
    let x = 0
    let near = 0
    let open = false
    for (const index of hole.pixels) {
      const column = index % width
      x += column
      if (distance[index]! < limit) near++
      if (column === 0 || column === width - 1 || index < width || index >= width * (height - 1)) {
        open = true
        break
      }
    }
    if (open) continue
    const place = Math.abs((x / hole.size - left) / (right - left) - 0.5)
    const gap = place > 0.24 && near > hole.size * 0.85 && hole.size > width * height * 0.0006
    if (!gap) for (const index of hole.pixels) data[index] = 1
  }
  return { width, height, data }
}

function columnsOf({ width, data }: Mask): [number, number] {
  let left = width
  let right = 0
  for (let i = 0; i < data.length; i++) {
    if (data[i] === 0) continue
    left = Math.min(left, i % width)
    right = Math.max(right, i % width)
  }
  return [left, right + 1]
}

/** A soft edge slightly inside the mask, where the colour is the cloth's own. */
function feather(mask: Mask, picture: Raster): Plane {
  const radius = Math.max(1, Math.round(Math.max(mask.width, mask.height) * 0.0015))
  const soft = blur({ ...mask, data: new Float32Array(mask.data) }, radius)
  for (let i = 0; i < soft.data.length; i++) {
    const own = picture.data[i * 4 + 3]! / 255
    soft.data[i] = Math.min(ramp(soft.data[i]!, 0.45, 0.95), ramp(own, 0.1, 0.95))
  }
  return soft
}

/**
 * Replaces the colours at and beyond the edge by those of the nearest cloth well inside, which
 * removes the fringe of the old background. Then softens the resulting seams.
 */
function bleed(picture: Raster, alpha: Plane): Raster {
  const { width, height } = picture
  const depth = Math.max(2, Math.round(Math.max(width, height) * 0.003))
  const deep = blur(alpha, depth)
  const nearest = nearestOf(width, height, alpha.data, deep.data)
  const data = picture.data.slice()
  for (let i = 0; i < nearest.length; i++) {
    const from = nearest[i]!
    if (from < 0) continue
    const keep = ramp(deep.data[i]!, 0.8, 0.985)
    for (let c = 0; c < 3; c++) {
      const old = picture.data[i * 4 + c]!
      data[i * 4 + c] = old * keep + picture.data[from * 4 + c]! * (1 - keep)
    }
  }
  return { width, height, data }
}

/**
 * For each half-covered pixel the index of the nearest pixel well inside the cloth, by two sweeps; -1
 * when none is near.
 */
function nearestOf(
  width: number,
  height: number,
  alpha: Float32Array,
  deep: Float32Array,
): Int32Array {
  const nearest = new Int32Array(width * height).fill(-1)
  for (let i = 0; i < nearest.length; i++) if (deep[i]! > 0.985) nearest[i] = i
  const gap = (index: number, x: number, y: number) => {
    const dx = (index % width) - x
    const dy = Math.floor(index / width) - y
    return dx * dx + dy * dy
  }
  const relax = (x: number, y: number, dx: number, dy: number) => {
    const at = y * width + x
    if (alpha[at] === 0 || nearest[at] === at) return
    const fromX = x + dx
    const fromY = y + dy
    if (fromX < 0 || fromY < 0 || fromX >= width || fromY >= height) return
    const offered = nearest[fromY * width + fromX]!
    if (offered < 0) return
    const held = nearest[at]!
    if (held < 0 || gap(offered, x, y) < gap(held, x, y)) nearest[at] = offered
  }
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) for (const dx of [-1, 0, 1]) relax(x, y, dx, -1)
    for (let x = 0; x < width; x++) relax(x, y, -1, 0)
    for (let x = width - 1; x >= 0; x--) relax(x, y, 1, 0)
  }
  for (let y = height - 1; y >= 0; y--) {
    for (let x = 0; x < width; x++) for (const dx of [-1, 0, 1]) relax(x, y, dx, 1)
    for (let x = width - 1; x >= 0; x--) relax(x, y, 1, 0)
    for (let x = 0; x < width; x++) relax(x, y, -1, 0)
  }
  return nearest
}

/** The mask of the cloth. */
export function shapeOf(cutout: Raster): Mask {
  const { width, height, data } = cutout
  const mask = new Uint8Array(width * height)
  for (let i = 0; i < mask.length; i++) mask[i] = data[i * 4 + 3]! > 127 ? 1 : 0
  return { width, height, data: mask }
}
