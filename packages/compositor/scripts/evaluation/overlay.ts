// What the engine understood, drawn over the pictures it looked at.
import { isUpper, type Garment } from '../../src/garment.ts'
import { between, distance } from '../../src/lines.ts'
import { LABEL } from '../../src/parsing.ts'
import { isConfident } from '../../src/perception.ts'
import type { Steps } from '../../src/compose.ts'
import type { Plane } from '../../src/plane.ts'
import { lerp, type Point, type Raster } from '../../src/raster.ts'

type Colour = readonly [number, number, number]

const LABEL_COLOURS: Record<number, Colour> = {
  [LABEL.hair]: [120, 60, 0],
  [LABEL.face]: [255, 220, 0],
  [LABEL.skin]: [255, 140, 90],
  [LABEL.top]: [0, 120, 255],
  [LABEL.bottom]: [0, 170, 60],
  [LABEL.shoes]: [150, 0, 200],
  [LABEL.item]: [255, 0, 160],
}
const GREEN: Colour = [0, 200, 0]
const RED: Colour = [255, 0, 0]
const BLUE: Colour = [0, 60, 255]
const MAGENTA: Colour = [255, 0, 200]
const CYAN: Colour = [0, 190, 200]

/** The photo with the labels' colours, the person's edge, the target's edge (white) and the joints. */
export function personOverlay({ before, perception, parsing, covered }: Steps): Raster {
  const result = { ...before, data: before.data.slice() }
  for (const [i, label] of parsing.labels.entries()) {
    const colour = LABEL_COLOURS[label]
    if (colour) mix(result, i, colour, 0.5)
  }
  drawEdge(result, perception.person, RED)
  drawEdge(result, covered, [255, 255, 255])
  for (const [name, joint] of Object.entries(perception.pose)) {
    const side = name.startsWith('left') ? BLUE : GREEN
    dot(result, joint, isConfident(joint) ? side : RED, 3)
  }
  return result
}

/** The cloth with its landmarks: neck magenta, shoulders and armpits red, edges green and blue. */
export function garmentOverlay(garment: Garment): Raster {
  const { picture } = garment
  const result = { ...picture, data: picture.data.slice() }
  const size = Math.max(2, Math.round(Math.max(picture.width, picture.height) / 110))
  const draw = (points: readonly Point[], colour: Colour) => {
    for (const [i, point] of points.entries()) {
      const next = points[i + 1]
      if (next) line(result, point, next, colour, Math.ceil(size / 3))
      dot(result, point, colour, Math.ceil(size * 0.6))
    }
  }
  if (!isUpper(garment)) {
    draw(garment.waist, MAGENTA)
    draw(garment.left, GREEN)
    draw(garment.right, BLUE)
    if (garment.legs) {
      draw(garment.legs.leftInner, CYAN)
      draw(garment.legs.rightInner, CYAN)
      dot(result, garment.legs.crotch, RED, size)
    }
    return result
  }
  draw(garment.neckline, MAGENTA)
  draw(garment.hem, CYAN)
  for (const [side, colour] of [
    [garment.left, GREEN],
    [garment.right, BLUE],
  ] as const) {
    draw(side.side, colour)
    draw(side.armhole, CYAN)
    if (side.sleeve) for (const edge of [side.sleeve.outer, side.sleeve.inner]) draw(edge, colour)
    for (const point of [side.neck, side.shoulder, side.armpit]) dot(result, point, RED, size)
  }
  return result
}

function mix({ data }: Raster, index: number, colour: Colour, share: number): void {
  for (let c = 0; c < 3; c++) {
    data[index * 4 + c] = lerp(data[index * 4 + c]!, colour[c]!, share)
  }
  data[index * 4 + 3] = 255
}

function drawEdge(picture: Raster, plane: Plane, colour: Colour): void {
  const { width, height, data } = plane
  const inside = (i: number) => data[i]! >= 0.5
  for (let y = 0; y + 1 < height; y++) {
    for (let x = 0; x + 1 < width; x++) {
      const i = y * width + x
      if (inside(i) !== inside(i + 1) || inside(i) !== inside(i + width)) mix(picture, i, colour, 1)
    }
  }
}

function dot(picture: Raster, centre: Point, colour: Colour, radius: number): void {
  const { width, height } = picture
  const [left, top] = [Math.round(centre.x - radius), Math.round(centre.y - radius)]
  for (let y = Math.max(0, top); y <= Math.min(height - 1, top + 2 * radius); y++) {
    for (let x = Math.max(0, left); x <= Math.min(width - 1, left + 2 * radius); x++) {
      if (Math.hypot(x - centre.x, y - centre.y) <= radius) mix(picture, y * width + x, colour, 1)
    }
  }
}

function line(picture: Raster, from: Point, to: Point, colour: Colour, radius: number): void {
  const steps = Math.min(2000, Math.ceil(distance(from, to)))
  for (let i = 0; i < steps; i++) dot(picture, between(from, to, i / steps), colour, radius)
}
