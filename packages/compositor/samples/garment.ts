// Draws garments as in shop photos: laid flat or on an invisible mannequin, from the front,
// on a plain, gradient or transparent background. Lengths are shares of the picture's height.
import { createCanvas, draw, hex, smooth, tint, toRgba } from './canvas.ts'
import type { Canvas, Colour, Rgba, Shape } from './canvas.ts'
import { dyeOf, RED, type Dye } from './dye.ts'
import { curve, ellipse, limb, mirrored, pointsOf, polygon, type Point } from './shapes.ts'

export type GarmentKind = 'tshirt' | 'longsleeve' | 'hoodie' | 'tank' | 'dress'

export interface GarmentOptions extends Dye {
  width?: number
  height?: number
  kind?: GarmentKind
  background?: 'plain' | 'gradient' | 'transparent'
  backdrop?: string
  /** A soft shadow on the backdrop. */
  shadow?: boolean
}

/** Renders the garment. Deterministic for the same options. */
export function drawGarment(options: GarmentOptions = {}): Rgba {
  const { width = 800, height = 900, kind = 'tshirt', background = 'plain' } = options
  const backdrop = hex(options.backdrop ?? '#f2f2f0')
  const canvas =
    background === 'transparent'
      ? createCanvas(width, height)
      : createCanvas(width, height, (x, y) =>
          background === 'plain'
            ? backdrop
            : tint(backdrop, 1 - 0.22 * (y / height) - 0.1 * (x / width)),
        )
  const at = (x: number, y: number): Point => [width / 2 + x * height, y * height]
  const cut = outlineOf(kind, at)
  const { shape } = cut
  if (options.shadow && background !== 'transparent') {
    draw(
      canvas,
      (x, y) => shape(x - 4, y - height * 0.012),
      () => tint(backdrop, 0.55),
      { softness: height * 0.035, opacity: 0.5 },
    )
  }
  drawLining(canvas, cut, options)
  drawCloth(canvas, cut, options, at, height)
  return toRgba(canvas)
}

interface Cut {
  shape: Shape
  /** The opening at the neck; seen from the front, the garment's back shows through it. */
  neckline: Shape
  lining: Shape | null
  hem: number
  /** Where sleeves end: a point and the direction of the sleeve. */
  cuffs: readonly (readonly [Point, Point])[]
}

type Place = (x: number, y: number) => Point

function outlineOf(kind: GarmentKind, at: Place): Cut {
  const neck = { tshirt: 0.085, longsleeve: 0.08, hoodie: 0.085, tank: 0.1, dress: 0.1 }[kind]
  const depth = { tshirt: 0.075, longsleeve: 0.06, hoodie: 0.08, tank: 0.13, dress: 0.11 }[kind]
  const centre = at(0, 0.1)
  const height = at(0, 1)[1]
  const neckline = ellipse(centre, neck * height, depth * height)
  const body = polygon(
    mirrored(
      centre[0],
      HALVES[kind].map(([x, y]): Point => [x * height, y * height]),
    ),
  )
  const rounded: Shape = (x, y) => body(x, y) - 0.006 * height
  const shape: Shape = (x, y) => Math.max(rounded(x, y), -neckline(x, y))
  const back = ellipse(at(0, 0.085), neck * height * 1.04, 0.035 * height)
  const lining: Shape = (x, y) => Math.max(neckline(x, y), -back(x, y), 0.085 * height - y)
  const cuff = CUFFS[kind]
  return {
    shape,
    neckline,
    lining: kind === 'tank' || kind === 'dress' ? null : lining,
    hem: Math.max(...HALVES[kind].map(([, y]) => y)) * height,
    cuffs: cuff
      ? [-1, 1].map(
          (side) => [at(side * cuff[0], cuff[1]), [side * cuff[2], cuff[3]] as Point] as const,
        )
      : [],
  }
}

/** The right half of an outline in three lines of "x y" points: from the neck to the shoulder, the sleeve, the side. */
const half = (shoulder: string, sleeve: string, side: string): Point[] => [
  ...pointsOf(shoulder),
  ...pointsOf(sleeve),
  ...bend(pointsOf(side)),
]

/** Straight where cloth is cut, curved where it falls. */
function bend(points: Point[]): Point[] {
  const ends = [points[0]!, ...points, points[points.length - 1]!]
  const loop = curve(ends, 5)
  return loop.slice(5, (points.length - 1) * 5 + 6)
}

const HALVES: Record<GarmentKind, readonly Point[]> = {
  tshirt: half(
    '0.07 0.095, 0.14 0.105, 0.245 0.14',
    '0.4 0.31, 0.315 0.385, 0.25 0.315',
    '0.242 0.45, 0.24 0.65, 0.25 0.905, 0 0.905',
  ),
  longsleeve: half(
    '0.07 0.095, 0.14 0.105, 0.235 0.14, 0.29 0.24',
    '0.39 0.78, 0.315 0.8, 0.24 0.35',
    '0.235 0.5, 0.235 0.7, 0.24 0.885, 0 0.885',
  ),
  hoodie: half(
    '0.08 0.09, 0.15 0.11, 0.255 0.16, 0.315 0.27',
    '0.415 0.8, 0.33 0.825, 0.255 0.4',
    '0.262 0.55, 0.262 0.75, 0.245 0.9, 0 0.9',
  ),
  tank: half(
    '0.09 0.075, 0.15 0.08, 0.155 0.14, 0.17 0.22',
    '0.235 0.31',
    '0.23 0.45, 0.225 0.6, 0.245 0.905, 0 0.905',
  ),
  dress: half(
    '0.085 0.05, 0.125 0.055, 0.13 0.1, 0.14 0.15',
    '0.175 0.21',
    '0.16 0.3, 0.145 0.4, 0.2 0.6, 0.27 0.93, 0.14 0.95, 0 0.955',
  ),
}

const CUFFS: Partial<Record<GarmentKind, readonly [number, number, number, number]>> = {
  tshirt: [0.36, 0.345, 0.66, 0.75],
  longsleeve: [0.352, 0.79, 0.18, 0.98],
  hoodie: [0.372, 0.812, 0.18, 0.98],
}

function drawLining(canvas: Canvas, cut: Cut, options: GarmentOptions): void {
  if (!cut.lining) return
  const inside = tint(hex(options.colour ?? RED), 0.62)
  draw(canvas, cut.lining, () => inside)
}

function drawCloth(
  canvas: Canvas,
  cut: Cut,
  options: GarmentOptions,
  at: Place,
  height: number,
): void {
  const dye = dyeOf(options, height)
  const ribbed = options.kind !== 'tank' && options.kind !== 'dress'
  const base = hex(options.colour ?? RED)
  const middle = at(0, 0)[0]
  draw(canvas, cut.shape, (x, y, depth) => {
    const u = (x - middle) / height
    const v = y / height
    const fold =
      0.03 * Math.sin(u * 22 + Math.sin(v * 7) * 1.4) * smooth((v - 0.25) * 2) +
      0.02 * Math.sin(v * 31 + Math.abs(u) * 25)
    const edge = 1 - Math.min(1, Math.max(0, depth / (height * 0.05)))
    const collar = cut.neckline(x, y) / height
    const hem = (cut.hem - y) / height
    const onRib = ribbed && collar < 0.022
    const line = (distance: number) => smooth(1 - Math.abs(distance) / 0.0025) * 0.16
    let seam = line(hem - 0.025) + (ribbed ? line(collar - 0.022) : line(collar - 0.01))
    for (const [[cx, cy], [dx, dy]] of cut.cuffs) {
      if ((x - middle) * (cx - middle) > 0 && Math.hypot(x - cx, y - cy) < 0.085 * height) {
        seam += line(((x - cx) * dx + (y - cy) * dy) / height + 0.022)
      }
    }
    const cloth = onRib
      ? tint(base, 0.93 + 0.03 * Math.sin(Math.atan2(v - 0.1, u) * 160))
      : dye(u, v)
    return tint(cloth, 1.02 + fold - seam - 0.16 * edge * edge)
  })
  if (options.kind === 'hoodie') drawPocket(canvas, base, at, height)
}

function drawPocket(canvas: Canvas, base: Colour, at: Place, height: number): void {
  const pocket = polygon([at(-0.1, 0.66), at(0.1, 0.66), at(0.16, 0.84), at(-0.16, 0.84)])
  draw(
    canvas,
    (x, y) => Math.abs(pocket(x, y)) - height * 0.0015,
    () => tint(base, 0.72),
  )
  for (const side of [-1, 1]) {
    const cord = limb(at(side * 0.045, 0.17), at(side * 0.05, 0.33), height * 0.004, height * 0.004)
    draw(canvas, cord, () => [0.93, 0.92, 0.9])
  }
}
