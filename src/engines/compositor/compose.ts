// The whole picture operation without codecs: a person and a garment in, the person wearing it out.
import { readBody } from './body-shape.ts'
import { torsoChart, tubeChart } from './chart.ts'
import { cutOut, shapeOf } from './cutout.ts'
import { fitGarment, type Fit } from './fit.ts'
import { readGarment, type GarmentShape, type Tube } from './garment-shape.ts'
import { shrink, type Point, type Raster } from './raster.ts'
import { findSilhouette } from './silhouette.ts'
import { createWarpMap, layPatch, render } from './warp.ts'

/** Longest side on which shapes are analysed. */
const ANALYSIS_SIDE = 384

/** The picture shows no person, or no garment, that we can make out. */
export class NotFound extends Error {
  readonly what: 'person' | 'garment'

  constructor(what: 'person' | 'garment', reason: string) {
    super(reason)
    this.what = what
  }
}

/**
 * Dresses the person. Changes `model` in place and returns it.
 * @throws NotFound
 */
export function compose(model: Raster, garment: Raster): Raster {
  const cutout = cutOut(garment)
  if (!cutout) throw new NotFound('garment', 'nothing stands out from the background')
  const cloth = shrink(cutout, ANALYSIS_SIDE)
  const shape = readGarment(shapeOf(cloth))
  if (!shape) throw new NotFound('garment', 'the silhouette is no upper garment')
  const small = shrink(model, ANALYSIS_SIDE)
  const silhouette = findSilhouette(small)
  if (!silhouette) throw new NotFound('person', 'nothing stands out from the background')
  const body = readBody(silhouette)
  if (!body) throw new NotFound('person', 'the silhouette has no head on shoulders')
  const fit = fitGarment(shape, body, null)
  const layer = drape(
    cutout,
    cutout.width / cloth.width,
    shape,
    fit,
    model.width,
    model.height,
    model.width / small.width,
  )
  for (let i = 0; i < layer.data.length; i += 4) {
    const a = layer.data[i + 3]! / 255
    for (let c = 0; c < 3; c++)
      model.data[i + c] = model.data[i + c]! * (1 - a) + layer.data[i + c]! * a
  }
  return model
}

/** The warped garment alone, at the photo's size. */
function drape(
  cutout: Raster,
  clothScale: number,
  shape: GarmentShape,
  fit: Fit,
  width: number,
  height: number,
  bodyScale: number,
): Raster {
  const map = createWarpMap(width, height)
  const enlarge = (scale: number) => (point: Point) => ({ x: point.x * scale, y: point.y * scale })
  const sleeves = [
    [shape.left.sleeve, fit.leftSleeve],
    [shape.right.sleeve, fit.rightSleeve],
  ] as const
  for (const [from, to] of sleeves) {
    if (!from || !to) continue
    const grow = (tube: Tube, scale: number) =>
      tubeChart({ outer: tube.outer.map(enlarge(scale)), inner: tube.inner.map(enlarge(scale)) })
    layPatch(map, grow(from, clothScale), grow(to, bodyScale), {
      across: [-0.12, 1.12],
      along: [-0.02, 1.05],
      columns: 10,
      rows: 40,
    })
  }
  const scaled = (chart: ReturnType<typeof torsoChart>, scale: number) => (s: number, t: number) =>
    enlarge(scale)(chart(s, t))
  const source = scaled(torsoChart(shape), clothScale)
  const target = scaled(torsoChart(fit.torso), bodyScale)
  const sleeved = shape.left.sleeve !== null || shape.right.sleeve !== null
  layPatch(map, source, target, {
    across: sleeved ? [-1, 1] : [-1.1, 1.1],
    along: [-0.35, 1],
    columns: 44,
    rows: 36,
  })
  layPatch(map, source, target, { across: [-1.1, 1.1], along: [1, 2.04], columns: 44, rows: 60 })
  return render(map, cutout)
}
