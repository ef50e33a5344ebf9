// The composition without codecs: pixels of a person and a garment in, the person wearing it out.
import { blendIn, hideBehindHands } from './blend.ts'
import { readBody } from './body-shape.ts'
import { torsoChart, tubeChart, type Chart } from './chart.ts'
import { cutOut, shapeOf } from './cutout.ts'
import { fitGarment, type Fit } from './fit.ts'
import { addGrain, grainOf } from './grain.ts'
import { readGarment, type GarmentShape } from './garment-shape.ts'
import { cutLining } from './lining.ts'
import { shrink, type Point, type Raster } from './raster.ts'
import { findSilhouette } from './silhouette.ts'
import { studyWearer } from './wearer.ts'
import { createWarpMap, layPatch, render } from './warp.ts'

/** Longest side on which shapes are analysed. */
const ANALYSIS_SIDE = 384

/** No person was found in the model image, or no garment in the garment image. */
export class NotFound extends Error {
  override readonly name = 'NotFound'
  readonly what: 'person' | 'garment'

  constructor(what: 'person' | 'garment', reason: string) {
    super(reason)
    this.what = what
  }
}

/**
 * Draws the garment on the person. Changes `model` in place and returns it.
 * @throws NotFound
 */
export function compose(model: Raster, garment: Raster): Raster {
  const cutout = cutOut(garment)
  if (!cutout) throw new NotFound('garment', 'nothing stands out from the background')
  const cloth = shrink(cutout, ANALYSIS_SIDE)
  const shape = readGarment(shapeOf(cloth))
  if (!shape) throw new NotFound('garment', 'the silhouette is not an upper garment')
  const small = shrink(model, ANALYSIS_SIDE)
  const silhouette = findSilhouette(small)
  if (!silhouette) throw new NotFound('person', 'nothing stands out from the background')
  const body = readBody(silhouette)
  if (!body) throw new NotFound('person', 'the silhouette has no head on shoulders')
  const clothScale = cutout.width / cloth.width
  const bodyScale = model.width / small.width
  const wearer = studyWearer(silhouette, body)
  cutLining(cutout, shape, clothScale)
  const fit = fitGarment(shape, body, wearer.oldHemY)
  const { torso, sleeves } = drape(cutout, clothScale, shape, fit, model, bodyScale)
  hideBehindHands(torso, model, wearer, bodyScale)
  if (sleeves) layOver(torso, sleeves)
  addGrain(torso, grainOf(model))
  blendIn(model, torso, wearer, bodyScale, (body.neckY - body.head * 0.1) * bodyScale)
  return model
}

/** The warped garment at the photo's size. Sleeves are separate, because they pass before hands. */
function drape(
  cutout: Raster,
  clothScale: number,
  shape: GarmentShape,
  fit: Fit,
  { width, height }: Raster,
  bodyScale: number,
): { torso: Raster; sleeves: Raster | null } {
  const enlarge = (scale: number) => (point: Point) => ({ x: point.x * scale, y: point.y * scale })
  const scaled = (chart: Chart, scale: number) => (across: number, along: number) =>
    enlarge(scale)(chart(across, along))
  const map = createWarpMap(width, height)
  const source = scaled(torsoChart(shape), clothScale)
  const target = scaled(torsoChart(fit.torso), bodyScale)
  const tubes = [
    [shape.left.sleeve, fit.leftSleeve],
    [shape.right.sleeve, fit.rightSleeve],
  ] as const
  const sleeved = tubes.some(([from, to]) => from && to)
  // Past the edge of the body comes its soft border, then the sleeve.
  const wide = sleeved ? ([-1.01, 1.01] as const) : ([-1.1, 1.1] as const)
  // The seam is covered from both sides; the sleeve lies on top.
  const upper = { across: sleeved ? ([-1.04, 1.04] as const) : wide, along: [-0.35, 1] as const }
  layPatch(map, source, target, { ...upper, columns: 44, rows: 36 })
  layPatch(map, source, target, { across: wide, along: [1, 2.15], columns: 44, rows: 60 })
  const torso = render(map, cutout)
  if (!sleeved) return { torso, sleeves: null }
  map.x.fill(NaN)
  for (const [from, to] of tubes) {
    if (!from || !to) continue
    layPatch(map, scaled(tubeChart(from), clothScale), scaled(tubeChart(to), bodyScale), {
      across: [-0.12, 1.05],
      along: [-0.05, 1.05],
      columns: 10,
      rows: 40,
    })
  }
  return { torso, sleeves: render(map, cutout) }
}

/** Draws `upper` over `lower`, in place. */
function layOver(lower: Raster, upper: Raster): void {
  for (let at = 0; at < lower.data.length; at += 4) {
    const share = upper.data[at + 3]! / 255
    if (share === 0) continue
    const under = (lower.data[at + 3]! / 255) * (1 - share)
    const alpha = share + under
    for (let c = 0; c < 3; c++) {
      lower.data[at + c] = (upper.data[at + c]! * share + lower.data[at + c]! * under) / alpha
    }
    lower.data[at + 3] = alpha * 255
  }
}
