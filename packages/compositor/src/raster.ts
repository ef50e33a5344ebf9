// Decoded pictures and basic operations on them.

export interface Size {
  width: number
  height: number
}

export interface Raster extends Size {
  /** Red, green, blue, alpha; not premultiplied. */
  data: Uint8ClampedArray
}

export interface Point {
  x: number
  y: number
}

/** The index of the pixel that contains a point; -1 outside of the picture. */
export function indexAt({ width, height }: Size, { x, y }: Point): number {
  const [column, row] = [Math.floor(x), Math.floor(y)]
  return column < 0 || row < 0 || column >= width || row >= height ? -1 : row * width + column
}

/** The lightness of a pixel from 0 to 255, by the weights of ITU-R BT.601. */
export const lumaAt = ({ data }: Raster, at: number) =>
  0.3 * data[at * 4]! + 0.59 * data[at * 4 + 1]! + 0.11 * data[at * 4 + 2]!

export const lerp = (from: number, to: number, share: number) => from + (to - from) * share

export const clamp = (value: number, low: number, high: number) =>
  value < low ? low : value > high ? high : value

/** 0 below `low`, 1 above `high`, smooth between. */
export function ramp(value: number, low: number, high: number): number {
  const t = clamp((value - low) / (high - low), 0, 1)
  return t * t * (3 - 2 * t)
}

/** Fits the size into a square of `maxSide`. Never enlarges. */
function fit(width: number, height: number, maxSide: number) {
  const scale = Math.min(1, maxSide / Math.max(width, height))
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  }
}

/**
 * Shrinks by averaging the area under each new pixel, weighted by alpha so that the hidden colour
 * of transparent pixels does not bleed in. Returns the picture itself when it already fits.
 */
export function shrink(source: Raster, maxSide: number): Raster {
  const { width, height } = fit(source.width, source.height, maxSide)
  if (width === source.width && height === source.height) return source
  const data = new Uint8ClampedArray(width * height * 4)
  const sums = new Float64Array(width * 4)
  const columns = new Uint32Array(width + 1)
  for (let x = 0; x <= width; x++) columns[x] = Math.floor((x * source.width) / width)
  for (let y = 0; y < height; y++) {
    const top = Math.floor((y * source.height) / height)
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * source.height) / height))
    sums.fill(0)
    for (let row = top; row < bottom; row++) addRow(source, row, columns, sums)
    for (let x = 0; x < width; x++) {
      const pixels = Math.max(1, columns[x + 1]! - columns[x]!) * (bottom - top)
      const alpha = sums[x * 4 + 3]!
      const at = (y * width + x) * 4
      if (alpha > 0) for (let c = 0; c < 3; c++) data[at + c] = sums[x * 4 + c]! / alpha
      data[at + 3] = alpha / pixels
    }
  }
  return { width, height, data }
}

function addRow(source: Raster, row: number, columns: Uint32Array, sums: Float64Array): void {
  const { data } = source
  const start = row * source.width
  for (let x = 0; x + 1 < columns.length; x++) {
    const from = columns[x]!
    const to = Math.max(from + 1, columns[x + 1]!)
    let red = 0
    let green = 0
    let blue = 0
    let alpha = 0
    for (let at = (start + from) * 4; at < (start + to) * 4; at += 4) {
      const weight = data[at + 3]!
      red += data[at]! * weight
      green += data[at + 1]! * weight
      blue += data[at + 2]! * weight
      alpha += weight
    }
    sums[x * 4] = sums[x * 4]! + red
    sums[x * 4 + 1] = sums[x * 4 + 1]! + green
    sums[x * 4 + 2] = sums[x * 4 + 2]! + blue
    sums[x * 4 + 3] = sums[x * 4 + 3]! + alpha
  }
}

/** Draws the picture on white, in place: a JPEG has no alpha. */
export function flatten(picture: Raster): void {
  const { data } = picture
  for (let at = 0; at < data.length; at += 4) {
    const alpha = data[at + 3]! / 255
    if (alpha === 1) continue
    for (let c = 0; c < 3; c++) data[at + c] = data[at + c]! * alpha + 255 * (1 - alpha)
    data[at + 3] = 255
  }
}
