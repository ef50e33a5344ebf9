// The garment as it lies on the person, before light and order: one layer for the torso or the whole
// lower garment, one for sleeves, which pass before the torso.
import { stretchesOf } from './assess/stretch.ts'
import type { Body } from './body.ts'
import { fitLower } from './fit/lower.ts'
import { fitUpper } from './fit/upper.ts'
import { torsoChart, tubeChart, type Chart } from './garment-chart.ts'
import { isUpper, type Garment, type LowerGarment, type UpperGarment } from './garment.ts'
import { lerp, type Raster } from './raster.ts'
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
export function drape(
  garment: Garment,
  body: Body,
  scene: Scene,
  photo: { width: number; height: number },
  scale: number,
): Layers {
  const canvas: Canvas = {
    create: () => createWarpMap(photo.width, photo.height),
    enlarge: (chart) => (across, along) => {
      const point = chart(across, along)
      return { x: point.x * scale, y: point.y * scale }
    },
  }
  return isUpper(garment)
    ? drapeUpper(garment, body, scene, canvas)
    : drapeLower(garment, body, scene, canvas)
}

interface Canvas {
  create(): WarpMap
  /** A chart in pixels of the photo. */
  enlarge(chart: Chart): Chart
}

function drapeLower(
  garment: LowerGarment,
  body: Body,
  scene: Scene,
  { create, enlarge }: Canvas,
): Layers {
  const map = create()
  for (const { from, to } of fitLower(garment, body, scene)) {
    layPatch(map, tubeChart(from), enlarge(tubeChart(to)), {
      across: [-0.08, garment.legs ? 1.02 : 1.08],
      along: [-0.03, 1.03],
      columns: 24,
      rows: 64,
    })
  }
  const torso = render(map, garment.picture)
  return { torso, sleeves: null, hemY: NaN, reach: [0, 0], stretches: distortion(map) }
}

/** The sleeve is drawn in bands, whose margin grows from the shoulder to the cuff. */
const SLEEVE_BANDS = 14

function drapeUpper(
  garment: UpperGarment,
  body: Body,
  scene: Scene,
  { create, enlarge }: Canvas,
): Layers {
  const shape = fitUpper(garment, body, scene)
  const sleeved = garment.left.sleeve !== null || garment.right.sleeve !== null
  const map = create()
  const source = torsoChart(garment)
  const target = enlarge(torsoChart(shape))
  // Beside a sleeve the torso ends at the seam; without one its border is drawn in full.
  const across = sleeved ? ([-0.01, 1.01] as const) : ([-0.12, 1.12] as const)
  layPatch(map, source, target, { across, along: [-0.6, 0], columns: 24, rows: 12 })
  layPatch(map, source, target, { across, along: [0, 2], columns: 40, rows: 40 })
  layPatch(map, source, target, { across: [-0.06, 1.06], along: [2, 3.2], columns: 40, rows: 60 })
  const torso = render(map, garment.picture)
  const hems = [shape.left, shape.right].map((side) => body.frame.toFrame(side.side.at(-1)!).y)
  const layers = { torso, hemY: (hems[0]! + hems[1]!) / 2, reach: shape.reach }
  const stretches = distortion(map)
  if (!sleeved) return { ...layers, sleeves: null, stretches }

  clear(map)
  for (const side of ['left', 'right'] as const) {
    const from = garment[side].sleeve
    const to = shape[side].sleeve
    if (!from || !to) continue
    for (let band = 0; band < SLEEVE_BANDS; band++) {
      // Close to the shoulder, what is beside the sleeve's outline belongs to the torso.
      const margin = lerp(0.02, 0.12, Math.min(1, (2 * band) / SLEEVE_BANDS))
      layPatch(map, tubeChart(from), enlarge(tubeChart(to)), {
        across: [-margin, 1 + margin / 2],
        along: [(band / SLEEVE_BANDS) * 1.05, ((band + 1) / SLEEVE_BANDS) * 1.05],
        columns: 12,
        rows: 3,
      })
    }
  }
  const sleeves = render(map, garment.picture)
  return { ...layers, sleeves, stretches: [...stretches, ...distortion(map)] }
}

const distortion = (map: WarpMap) => stretchesOf(map, Math.max(1, Math.round(map.width / 128)))
