// The garment as it lies on the person, before light and order: one layer for the torso or the whole
// lower garment, one for sleeves, which pass before the torso.
import { stretchesOf } from './assess/stretch.ts'
import type { Body } from './body.ts'
import { fitLower } from './fit/lower.ts'
import { fitUpper, withLongerSleeve } from './fit/upper.ts'
import {
  straightened,
  torsoChart,
  tubeChart,
  type Chart,
  type UpperShape,
} from './garment-chart.ts'
import {
  isUpper,
  type Garment,
  type LowerGarment,
  type Sleeve,
  type UpperGarment,
} from './garment.ts'
import { pause } from './pause.ts'
import { distance } from './lines.ts'
import { lerp, type Point, type Raster, type Size } from './raster.ts'
import { roundCorner } from './round-shoulders.ts'
import type { Scene } from './scene.ts'
import { clear, createWarpMap, layPatch, render, type WarpMap } from './warp.ts'

export interface Layers {
  torso: Raster
  sleeves: Raster | null
  /** The mean height of an upper garment's hem in the body's frame. */
  hemY: number
  /** The share of the left and the right arm that the sleeves cover. */
  reach: readonly [number, number]
  /** The distortion of the cloth at samples of the warps; see `stretchesOf`. */
  stretches: number[]
}

/** @param scale pixels of the photo for one pixel of the body's measures */
export async function drape(
  garment: Garment,
  body: Body,
  scene: Scene,
  photo: Size,
  scale: number,
): Promise<Layers> {
  const canvas: Canvas = {
    create: () => createWarpMap(photo.width, photo.height),
    scale,
    enlarge: (chart) => (across, along) => scaledBy(scale, chart(across, along)),
  }
  return isUpper(garment)
    ? drapeUpper(withLongerSleeve(garment), body, scene, canvas)
    : drapeLower(garment, body, scene, canvas)
}

/** The samples of the distortion on the longer side of a picture. */
const STRETCH_SAMPLES = 128

const scaledBy = (scale: number, { x, y }: Point): Point => ({ x: x * scale, y: y * scale })

interface Canvas {
  create(): WarpMap
  scale: number
  /** A chart in pixels of the photo. */
  enlarge(chart: Chart): Chart
}

// Patches in coordinates of the charts, which run from 0 to 1 across; they end a little outside, where the edge of
// the cloth is soft. There are as many rows and columns as experiments needed for bends without corners.
const LEG = { along: [-0.03, 1.03], columns: 24, rows: 64 } as const
const LEG_ACROSS = [-0.08, 1.02] as const
const SKIRT_ACROSS = [-0.08, 1.08] as const
/** Beside a sleeve the torso ends at the seam; without one its border is drawn in full. */
const TO_SEAM = [-0.01, 1.01] as const
const TO_BORDER = [-0.12, 1.12] as const
/** Along, 0 is the neck, 2 the armpit and 3 the hem. */
const HEM = 3
const NECK = { along: [-0.6, 0], columns: 24, rows: 12 } as const
const CHEST = { along: [0, 2], columns: 40, rows: 40 } as const
const SIDES = { across: [-0.06, 1.06], along: [2, 3.2], columns: 40, rows: 60 } as const

async function drapeLower(
  garment: LowerGarment,
  body: Body,
  scene: Scene,
  { create, enlarge }: Canvas,
): Promise<Layers> {
  const map = create()
  const chartOf = (tube: Sleeve) =>
    garment.legs ? tubeChart(tube) : straightened(tubeChart(tube), 1)
  for (const { from, to } of fitLower(garment, body, scene)) {
    layPatch(map, chartOf(from), enlarge(chartOf(to)), {
      ...LEG,
      across: garment.legs ? LEG_ACROSS : SKIRT_ACROSS,
    })
  }
  await pause()
  const torso = await render(map, garment.picture)
  return { torso, sleeves: null, hemY: NaN, reach: [0, 0], stretches: distortion(map) }
}

/** The sleeve is drawn in bands, whose margin grows from the shoulder to the cuff, in widths of the sleeve. */
const SLEEVE_BANDS = 14
const SLEEVE_MARGIN = { least: 0.02, most: 0.12 }
/** The radius of a shoulder in body sizes, and the most of it as a share of the shoulder's length. */
const ROUND = { radius: 0.16, most: 0.4 }
/** A sleeve is drawn a little beyond its cuff, where its edge is soft. */
const SLEEVE_END = 1.05

async function drapeUpper(
  garment: UpperGarment,
  body: Body,
  scene: Scene,
  { create, scale, enlarge }: Canvas,
): Promise<Layers> {
  const shape = fitUpper(garment, body, scene)
  await pause()
  const sleeved = garment.left.sleeve !== null || garment.right.sleeve !== null
  const map = create()
  const source = straightened(torsoChart(garment), HEM)
  const target = enlarge(straightened(torsoChart(shape), HEM))
  const across = sleeved ? TO_SEAM : TO_BORDER
  layPatch(map, source, target, { ...NECK, across })
  layPatch(map, source, target, { ...CHEST, across })
  await pause()
  layPatch(map, source, target, SIDES)
  await pause()
  const torso = await render(map, garment.picture)
  const hems = [shape.left, shape.right].map((side) => body.frame.toFrame(side.side.at(-1)!).y)
  const layers = { torso, hemY: (hems[0]! + hems[1]!) / 2, reach: shape.reach }
  const stretches = distortion(map)
  if (!sleeved) return { ...layers, sleeves: null, stretches }

  await pause()
  clear(map)
  laySleeves(map, garment, shape, enlarge)
  await pause()
  const sleeves = await render(map, garment.picture)
  for (const { neck, shoulder, sleeve } of [shape.left, shape.right]) {
    if (!sleeve) continue
    const radius = Math.min(ROUND.radius * body.size, ROUND.most * distance(neck, shoulder))
    const [corner, inner] = [scaledBy(scale, shoulder), scaledBy(scale, neck)]
    roundCorner([torso, sleeves], corner, inner, radius * scale)
  }
  return { ...layers, sleeves, stretches: [...stretches, ...distortion(map)] }
}

function laySleeves(
  map: WarpMap,
  garment: UpperGarment,
  shape: UpperShape,
  enlarge: Canvas['enlarge'],
): void {
  for (const side of ['left', 'right'] as const) {
    const from = garment[side].sleeve
    const to = shape[side].sleeve
    if (!from || !to) continue
    for (let band = 0; band < SLEEVE_BANDS; band++) {
      // Close to the shoulder, what is beside the sleeve's outline belongs to the torso.
      const { least, most } = SLEEVE_MARGIN
      const margin = lerp(least, most, Math.min(1, (2 * band) / SLEEVE_BANDS))
      layPatch(map, tubeChart(from), enlarge(tubeChart(to)), {
        across: [-margin, 1 + margin / 2],
        along: [(band / SLEEVE_BANDS) * SLEEVE_END, ((band + 1) / SLEEVE_BANDS) * SLEEVE_END],
        columns: 12,
        rows: 3,
      })
    }
  }
}

const distortion = (map: WarpMap) =>
  stretchesOf(map, Math.max(1, Math.round(map.width / STRETCH_SAMPLES)))
