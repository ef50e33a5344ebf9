// Draws a person, realistic enough to judge a try-on by eye. Lengths are in heads: the figure is about
// 7.5 heads tall, measured from the crown, with x to the right of the figure's middle.
import { addGrain, blend, createCanvas, draw, hex, smooth, tint, toRgba } from './canvas.ts'
import type { Canvas, Colour, Rgba, Shape } from './canvas.ts'
import {
  drawHead,
  drawHairBehind,
  drawHairInFront,
  symmetric,
  type Body,
  type Hair,
} from './head.ts'
import { ellipse, intersect, limb, union, weld, type Point } from './shapes.ts'

export interface FigureOptions {
  width?: number
  height?: number
  skin?: string
  hair?: Hair
  hairColour?: string
  /** Angle of each arm to the body in degrees: left in the picture, right. */
  arms?: readonly [number, number]
  /** Bend of the elbows towards the body in degrees. */
  elbow?: number
  shirt?: string
  sleeves?: 'short' | 'long'
  trousers?: string
  wall?: readonly [string, string]
  floor?: string
  /** From -1 (light from the left) to 1 (right). */
  light?: number
  grain?: number
  /** Share of the picture's height that one head takes; larger crops the legs. */
  scale?: number
}

/** Renders the figure in front of a studio wall. Deterministic for the same options. */
export function drawFigure(options: FigureOptions = {}): Rgba {
  const { width = 900, height = 1350, light = -0.5, grain = 0.012 } = options
  const unit = height * (options.scale ?? 0.122)
  const body: Body = {
    unit,
    at: (x, y) => [width / 2 + x * unit, height * 0.06 + y * unit],
  }
  const skin = hex(options.skin ?? '#d9a987')
  const hairColour = hex(options.hairColour ?? '#3a2a20')
  const hair = options.hair ?? 'short'
  const canvas = drawStudio(width, height, options, body)
  drawHairBehind(canvas, body, hair, hairColour)
  drawLegs(canvas, body, hex(options.trousers ?? '#39424f'), light)
  drawArms(canvas, body, options, skin, light)
  drawNeck(canvas, body, skin)
  drawShirt(canvas, body, options, light)
  drawHead(canvas, body, hair, skin, hairColour, light)
  drawHairInFront(canvas, body, hair, hairColour)
  if (grain > 0) addGrain(canvas, grain, 1)
  return toRgba(canvas)
}

function drawStudio(width: number, height: number, options: FigureOptions, body: Body): Canvas {
  const [top, bottom] = options.wall ?? ['#d9dcdf', '#bfc3c7']
  const wall = [hex(top), hex(bottom)] as const
  const floor = hex(options.floor ?? '#b0aca6')
  const light = options.light ?? -0.5
  const horizon = Math.max(height * 0.86, body.at(0, 6.6)[1])
  const feet = body.at(0, 7.5)
  const canvas = createCanvas(width, height, (x, y) => {
    const side = 1 + 0.07 * light * (x / width - 0.5) * 2
    const onWall = tint(blend(wall[0], wall[1], y / height), side)
    const onFloor = tint(floor, side * (0.94 + (0.1 * (y - horizon)) / height))
    return blend(onWall, onFloor, smooth((y - horizon) / (height * 0.05) + 0.5))
  })
  const unit = body.unit
  draw(canvas, ellipse([feet[0], feet[1]], unit * 1.5, unit * 0.2), () => [0.18, 0.18, 0.2], {
    softness: unit * 0.5,
    opacity: 0.55,
  })
  return canvas
}

/** Shades a round body: darker at the outline and on the side away from the light. */
const round =
  (colour: Colour, radius: number, light: number, middle: number, reach: number) =>
  (x: number, y: number, depth: number): Colour => {
    const edge = 1 - Math.min(1, Math.max(0, depth / radius))
    const side = Math.max(-1, Math.min(1, (x - middle) / reach))
    const fold = 0.012 * Math.sin(x * 0.05 + y * 0.021)
    return tint(colour, 1.04 - 0.3 * edge * edge + 0.12 * light * side + fold)
  }

const LEATHER: Colour = [0.16, 0.15, 0.15]

function drawLegs(canvas: Canvas, body: Body, colour: Colour, light: number): void {
  const { at, unit } = body
  const hip = 0.4
  for (const side of [-1, 1]) {
    const shoe = ellipse(at(side * 0.5, 7.42), unit * 0.22, unit * 0.13)
    const leather = round(LEATHER, unit * 0.1, light, at(side * 0.5, 0)[0], unit * 0.2)
    draw(canvas, shoe, leather)
    const [root, knee, ankle] = [
      at(side * hip * 0.86, 3.75),
      at(side * 0.46, 5.5),
      at(side * 0.48, 7.2),
    ]
    const thigh = limb(root, knee, unit * 0.34, unit * 0.24)
    const leg = weld(unit * 0.1, thigh, limb(knee, ankle, unit * 0.24, unit * 0.16))
    draw(canvas, leg, round(colour, unit * 0.2, light, at(side * 0.45, 0)[0], unit * 0.4))
  }
  const hips = symmetric(body, '0.5 3.1, 0.62 3.5, 0.66 3.8, 0.3 4.12')
  draw(canvas, hips, round(colour, unit * 0.25, light, at(0, 0)[0], unit * 0.7))
}

interface Arm {
  shoulder: Point
  elbow: Point
  wrist: Point
  hand: Point
}

/** Joints of one arm in pixels; `side` is -1 for the arm on the left of the picture. */
export function armOf(body: Body, side: -1 | 1, degrees: number, bend: number): Arm {
  const shoulder: Point = [side * 0.72, 1.62]
  const swing = (from: Point, angle: number, length: number): Point => [
    from[0] + side * Math.sin((angle * Math.PI) / 180) * length,
    from[1] + Math.cos((angle * Math.PI) / 180) * length,
  ]
  const elbow = swing(shoulder, degrees, 1.3)
  const wrist = swing(elbow, degrees - bend, 1.12)
  const hand = swing(wrist, degrees - bend, 0.3)
  const place = (point: Point) => body.at(point[0], point[1])
  return { shoulder: place(shoulder), elbow: place(elbow), wrist: place(wrist), hand: place(hand) }
}

/** The arms on the left and on the right of the picture. */
function armsOf(body: Body, { arms = [14, 14], elbow = 6 }: FigureOptions): Arm[] {
  return [armOf(body, -1, arms[0], elbow), armOf(body, 1, arms[1], elbow)]
}

function drawArms(
  canvas: Canvas,
  body: Body,
  options: FigureOptions,
  skin: Colour,
  light: number,
): void {
  const { unit } = body
  for (const [i, arm] of armsOf(body, options).entries()) {
    const side = i === 0 ? -1 : 1
    const flesh = weld(
      unit * 0.05,
      limb(arm.shoulder, arm.elbow, unit * 0.19, unit * 0.15),
      limb(arm.elbow, arm.wrist, unit * 0.15, unit * 0.095),
    )
    const palm = limb(arm.wrist, arm.hand, unit * 0.1, unit * 0.125)
    const tip: Point = [
      arm.hand[0] + (arm.hand[0] - arm.wrist[0]) * 0.8,
      arm.hand[1] + (arm.hand[1] - arm.wrist[1]) * 0.8,
    ]
    const fingers = limb(arm.hand, tip, unit * 0.12, unit * 0.06)
    const thumb = limb(
      [arm.wrist[0] - side * unit * 0.05, arm.wrist[1] + unit * 0.08],
      [arm.hand[0] - side * unit * 0.14, arm.hand[1] + unit * 0.05],
      unit * 0.05,
      unit * 0.035,
    )
    const shape = weld(unit * 0.05, flesh, union(palm, fingers, thumb))
    draw(canvas, shape, round(skin, unit * 0.12, light, arm.elbow[0], unit * 0.3))
  }
}

function drawNeck(canvas: Canvas, body: Body, skin: Colour): void {
  const { at, unit } = body
  const neck = limb(at(0, 0.75), at(0, 1.3), unit * 0.2, unit * 0.22)
  const chest = symmetric(body, '0.24 1.16, 0.5 1.42, 0.5 2')
  draw(canvas, weld(unit * 0.15, neck, chest), (_, y, depth) => {
    const underChin = smooth(1 - Math.abs((y - at(0, 1)[1]) / (unit * 0.16)))
    const edge = 1 - Math.min(1, depth / (unit * 0.14))
    return tint(skin, 0.99 - 0.2 * underChin - 0.18 * edge * edge)
  })
}

/** The outline of the torso in clothes, from the neck to the hip. */
const TORSO =
  '0.25 1.19, 0.5 1.32, 0.78 1.46, 0.8 1.7, 0.7 2.1, 0.62 2.7, 0.66 3.2, 0.7 3.62, 0.4 3.68'

function drawShirt(canvas: Canvas, body: Body, options: FigureOptions, light: number): void {
  const { at, unit } = body
  const colour = hex(options.shirt ?? '#9aa3ad')
  const middle = at(0, 0)[0]
  let shape = symmetric(body, TORSO)
  for (const arm of armsOf(body, options)) {
    shape = weld(unit * 0.08, shape, sleeveOf(arm, unit, options.sleeves ?? 'short'))
  }
  const neckline = ellipse(at(0, 1.14), unit * 0.29, unit * 0.26)
  const worn: Shape = (x, y) => Math.max(shape(x, y), -neckline(x, y))
  const base = round(colour, unit * 0.2, light, middle, unit * 0.9)
  draw(canvas, worn, (x, y, depth) => {
    const u = (x - middle) / unit
    const v = (y - at(0, 0)[1]) / unit
    const drape =
      0.035 * Math.sin(u * 7 + Math.sin(v * 2.3) * 1.5) * smooth((v - 1.6) / 1.5) +
      0.03 * Math.sin(v * 9 - Math.abs(u) * 6) * smooth((v - 2.6) / 0.8)
    const collar = smooth(1 - Math.abs(neckline(x, y) - unit * 0.05) / (unit * 0.02)) * 0.12
    return tint(base(x, y, depth), 1 + drape - collar)
  })
}

/** A sleeve about an arm, cut straight across at its end. */
function sleeveOf(arm: Arm, unit: number, kind: 'short' | 'long'): Shape {
  const upper = limb(arm.shoulder, arm.elbow, unit * 0.235, unit * 0.2)
  const lower = limb(arm.elbow, arm.wrist, unit * 0.2, unit * 0.13)
  const long = weld(unit * 0.08, upper, lower)
  const [from, to, share] =
    kind === 'short' ? [arm.shoulder, arm.elbow, 0.55] : [arm.elbow, arm.wrist, 0.96]
  const dx = to[0] - from[0]
  const dy = to[1] - from[1]
  const length = Math.hypot(dx, dy)
  const cut: Shape = (x, y) => ((x - from[0]) * dx + (y - from[1]) * dy) / length - length * share
  return intersect(kind === 'short' ? upper : long, cut)
}
