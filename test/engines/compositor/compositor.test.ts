// The compositor's promises, kept on pictures that the sample generator draws.
import { beforeAll, describe, expect, it } from 'vitest'
import { compositor } from '../../../src/engines/compositor/compositor.ts'
import { createCodecs } from '../../../src/engines/compositor/codecs.ts'
import { workerModules } from '../../../src/engines/compositor/worker-modules.ts'
import type { CheckedImage, EngineInput } from '../../../src/engines/engine.ts'
import { dimensions, recognise, type ImageFormat } from '../../../src/images/format.ts'
import { drawFigure } from '../../../samples/figure.ts'
import { drawGarment } from '../../../samples/garment.ts'
import { encodePng } from '../../../samples/png.ts'
import type { Rgba } from '../../../samples/canvas.ts'

const codecs = createCodecs(workerModules)

const file = (bytes: Uint8Array): CheckedImage => {
  const format: ImageFormat = recognise(bytes) ?? 'jpeg'
  return {
    bytes: Uint8Array.from(bytes),
    format,
    ...(dimensions(bytes, format) ?? { width: 0, height: 0 }),
    url: () => Promise.reject(new Error('the compositor fetches nothing')),
  }
}

const png = async (picture: Rgba) => file(await encodePng(picture))

const job = (model: CheckedImage, garment: CheckedImage): EngineInput => ({
  jobId: 'job_1',
  startedAt: new Date(0),
  model,
  garment,
})

async function run(model: CheckedImage, garment: CheckedImage): Promise<Rgba> {
  const progress = await compositor.start(job(model, garment))
  if (!progress.done) throw new Error('the compositor always finishes at once')
  return codecs.decode(progress.image.bytes, progress.image.format, 9999)
}

const figure = (options = {}) =>
  drawFigure({ width: 300, height: 450, grain: 0, light: 0, ...options })
const garment = (options = {}) => drawGarment({ width: 300, height: 340, ...options })

describe('a person and a garment', () => {
  let before: Rgba
  let after: Rgba
  beforeAll(async () => {
    before = figure()
    after = await run(await png(before), await png(garment({ colour: '#d02818' })))
  })

  it('keeps the size of the photo', () => {
    expect([after.width, after.height]).toEqual([300, 450])
  })

  it('shows the garment on the torso', () => {
    const at = (220 * 300 + 150) * 4
    expect(after.data[at]).toBeGreaterThan(130)
    expect(after.data[at + 1]).toBeLessThan(90)
  })
})
