// The figure's head and hair. Split from the body because the face has many small parts.
import { blend, draw, smooth, tint, type Canvas, type Colour, type Shape } from './canvas.ts'
import {
  curve,
  ellipse,
  limb,
  mirrored,
  pointsOf,
  polygon,
  subtract,
  union,
  weld,
} from './shapes.ts'
import type { Point } from './shapes.ts'

export type Hair = 'short' | 'long'

/** Maps heads to pixels. */
export interface Body {
  at: (x: number, y: number) => Point
  unit: number
}

/** A smooth closed outline about the body's middle; its right half is "x y" pairs in heads, from top to bottom. */
export function symmetric({ at, unit }: Body, half: string): Shape {
  const points = pointsOf(half).map(([x, y]): Point => [unit * x, at(0, y)[1]])
  return polygon(curve(mirrored(at(0, 0)[0], points)))
}

/** The part of long hair behind the shoulders. */
export function drawHairBehind(canvas: Canvas, body: Body, hair: Hair, colour: Colour): void {
  if (hair !== 'long') return
  const mane = symmetric(body, '0.22 0.02, 0.44 0.4, 0.5 1.1, 0.46 1.6')
  draw(canvas, mane, strands(body, colour, 0.75))
}

/** Hair in front of the shoulders, which must stay in front of the garment. */
export function drawHairInFront(canvas: Canvas, body: Body, hair: Hair, colour: Colour): void {
  if (hair !== 'long') return
  const { at, unit } = body
  for (const side of [-1, 1]) {
    const lock = weld(
      unit * 0.1,
      limb(at(side * 0.36, 0.35), at(side * 0.38, 1.1), unit * 0.09, unit * 0.13),
      limb(at(side * 0.38, 1.1), at(side * 0.34, 1.85), unit * 0.13, unit * 0.03),
    )
    draw(canvas, lock, strands(body, colour, 1))
  }
}

/** Head, face and the hair on it. */
export function drawHead(
  canvas: Canvas,
  body: Body,
  hair: Hair,
  skin: Colour,
  hairColour: Colour,
  light: number,
): void {
  const { at, unit } = body
  const middle = at(0, 0)[0]
  for (const side of [-1, 1]) {
    draw(canvas, ellipse(at(side * 0.36, 0.55), unit * 0.06, unit * 0.11), () => tint(skin, 0.88))
  }
  const face = symmetric(body, '0.16 0.02, 0.35 0.3, 0.34 0.62, 0.24 0.87, 0.1 0.99')
  const cheeks: Colour = [skin[0] * 1.02, skin[1] * 0.86, skin[2] * 0.82]
  draw(canvas, face, (x, y, depth) => {
    const edge = 1 - Math.min(1, Math.max(0, depth / (unit * 0.25)))
    const u = (x - middle) / unit
    const v = (y - at(0, 0)[1]) / unit
    const blush = smooth(1 - Math.hypot(Math.abs(u) - 0.19, v - 0.66) / 0.14) * 0.5
    const nose = smooth(1 - Math.hypot((u + light * 0.03) * 1.6, v - 0.67) / 0.1) * 0.1
    return tint(blend(skin, cheeks, blush), 1.06 - 0.24 * edge * edge + 0.1 * light * u - nose)
  })
  drawFeatures(canvas, body, skin, hairColour)
  drawHairOnTop(canvas, body, hair, hairColour)
}

function drawFeatures(canvas: Canvas, body: Body, skin: Colour, hairColour: Colour): void {
  const { at, unit } = body
  const thin = { softness: Math.max(1, unit * 0.015) }
  for (const side of [-1, 1]) {
    const white = ellipse(at(side * 0.15, 0.5), unit * 0.065, unit * 0.034)
    draw(canvas, white, () => [0.93, 0.92, 0.9], thin)
    const iris = ellipse(at(side * 0.15, 0.5), unit * 0.03, unit * 0.034)
    draw(canvas, iris, () => [0.2, 0.15, 0.12], thin)
    const lid = limb(at(side * 0.08, 0.485), at(side * 0.22, 0.48), unit * 0.012, unit * 0.014)
    draw(canvas, lid, () => tint(skin, 0.4), thin)
    const brow = limb(at(side * 0.08, 0.41), at(side * 0.23, 0.405), unit * 0.018, unit * 0.01)
    draw(canvas, brow, () => blend(hairColour, skin, 0.25), thin)
    const nostril = ellipse(at(side * 0.035, 0.705), unit * 0.014, unit * 0.009)
    draw(canvas, nostril, () => tint(skin, 0.55), thin)
  }
  const lips = union(
    limb(at(-0.085, 0.815), at(0, 0.808), unit * 0.008, unit * 0.024),
    limb(at(0.085, 0.815), at(0, 0.808), unit * 0.008, unit * 0.024),
    limb(at(-0.05, 0.825), at(0.05, 0.825), unit * 0.02, unit * 0.02),
  )
  draw(canvas, lips, () => [skin[0] * 0.85, skin[1] * 0.58, skin[2] * 0.58], thin)
  const mouth = limb(at(-0.085, 0.815), at(0.085, 0.815), unit * 0.005, unit * 0.005)
  draw(canvas, mouth, () => tint(skin, 0.45), thin)
}

function drawHairOnTop(canvas: Canvas, body: Body, hair: Hair, colour: Colour): void {
  const { at, unit } = body
  const skull = ellipse(at(0, 0.36), unit * 0.4, unit * 0.42)
  const forehead: Point = at(0, 0.62)
  const hairline = ellipse(forehead, unit * 0.325, unit * (hair === 'short' ? 0.4 : 0.45))
  const clipped = subtract(skull, hairline)
  const limit = at(0, hair === 'short' ? 0.52 : 0.75)[1]
  const shape = (x: number, y: number) => Math.max(clipped(x, y), y - limit)
  draw(canvas, shape, strands(body, colour, 1))
}

const strands =
  (body: Body, colour: Colour, light: number) =>
  (x: number, y: number, depth: number): Colour => {
    const [middle, top] = body.at(0, 0)
    const u = (x - middle) / body.unit
    const v = (y - top) / body.unit
    const streak =
      0.09 * Math.sin(Math.abs(u) * 70 + v * 6) + 0.06 * Math.sin(Math.abs(u) * 31 - v * 9)
    const shine = 0.35 * smooth(1 - Math.abs(v - 0.16 - u * u) / 0.14)
    const edge = 1 - Math.min(1, Math.max(0, depth / (body.unit * 0.08)))
    return tint(colour, light * (1 + streak + shine - 0.2 * edge))
  }
