// A small software rasteriser: shapes are signed distance functions, painted with soft edges on a
// floating-point canvas. The samples are drawn with it, so that they need no licence.

import { lerp, ramp, type Raster } from '../src/raster.ts'

export type Colour = readonly [red: number, green: number, blue: number]
/** Distance in pixels from a point to the shape's outline; negative inside. */
export type Shape = (x: number, y: number) => number
export type Paint = (x: number, y: number, depth: number) => Colour

export interface Canvas {
  width: number
  height: number
  /** Red, green, blue, alpha from 0 to 1; colours are not premultiplied. */
  data: Float32Array
}

export type { Raster as Rgba } from '../src/raster.ts'

export type Box = readonly [left: number, top: number, right: number, bottom: number]

/** A canvas painted with `paint`; transparent without it. */
export function createCanvas(width: number, height: number, paint?: Paint): Canvas {
  const data = new Float32Array(width * height * 4)
  if (paint) {
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0; x < width; x++, at += 4) {
        const colour = paint(x + 0.5, y + 0.5, 0)
        data[at] = colour[0]
        data[at + 1] = colour[1]
        data[at + 2] = colour[2]
        data[at + 3] = 1
      }
    }
  }
  return { width, height, data }
}

/** Paints a shape; `softness` is the width in pixels over which its edge fades. */
export function draw(
  canvas: Canvas,
  shape: Shape,
  paint: Paint,
  options: { box?: Box; softness?: number; opacity?: number } = {},
): void {
  const { box = [0, 0, canvas.width, canvas.height], softness = 1.2, opacity = 1 } = options
  const left = Math.max(0, Math.floor(box[0]))
  const top = Math.max(0, Math.floor(box[1]))
  const right = Math.min(canvas.width, Math.ceil(box[2]))
  const bottom = Math.min(canvas.height, Math.ceil(box[3]))
  const { data } = canvas
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const distance = shape(x + 0.5, y + 0.5)
      const cover = smooth(0.5 - distance / softness) * opacity
      if (cover <= 0) continue
      const colour = paint(x + 0.5, y + 0.5, -distance)
      const at = (y * canvas.width + x) * 4
      const under = data[at + 3]! * (1 - cover)
      const alpha = cover + under
      for (let c = 0; c < 3; c++) {
        data[at + c] = (colour[c]! * cover + data[at + c]! * under) / alpha
      }
      data[at + 3] = alpha
    }
  }
}

/** Adds film grain, deterministic for a seed. */
export function addGrain(canvas: Canvas, strength: number, seed: number): void {
  const random = createRandom(seed)
  const { data } = canvas
  for (let at = 0; at < data.length; at += 4) {
    const grain = (random() + random() + random() - 1.5) * strength
    for (let c = 0; c < 3; c++) data[at + c] = data[at + c]! + grain + (random() - 0.5) * strength
  }
}

export function toRgba(canvas: Canvas): Raster {
  const data = new Uint8ClampedArray(canvas.data.length)
  for (let at = 0; at < data.length; at++) data[at] = canvas.data[at]! * 255
  return { width: canvas.width, height: canvas.height, data }
}

/** Pseudo-random numbers from 0 to 1, deterministic for a seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** 0 below 0, 1 above 1, smooth between. */
export const smooth = (value: number) => ramp(value, 0, 1)

export const tint = (colour: Colour, light: number): Colour => [
  colour[0] * light,
  colour[1] * light,
  colour[2] * light,
]

export const blend = (from: Colour, to: Colour, share: number): Colour => [
  lerp(from[0], to[0], share),
  lerp(from[1], to[1], share),
  lerp(from[2], to[2], share),
]

/** `#rrggbb` as a colour. */
export const hex = (code: string): Colour => [
  parseInt(code.slice(1, 3), 16) / 255,
  parseInt(code.slice(3, 5), 16) / 255,
  parseInt(code.slice(5, 7), 16) / 255,
]
