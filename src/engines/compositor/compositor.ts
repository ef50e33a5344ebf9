// The embedded engine: dresses the person by classical image processing, with no account anywhere
// and no network. A preview; docs/compositor.md says how it works and where it fails.
import { Gate } from '../../gate.ts'
import { EngineError, type Engine, type EngineInput, type GeneratedImage } from '../engine.ts'
import { createCodecs, type Codecs } from './codecs.ts'
import { compose, NotFound } from './compose.ts'
import { load } from './load.ts'
import { flatten } from './raster.ts'
import { workerModules } from './worker-modules.ts'

const MODEL_MAX_SIDE = 1536
const GARMENT_MAX_SIDE = 1024
const JPEG_QUALITY = 90

/** Makes the engine around given codecs. */
function createCompositor(codecs: Codecs): Engine {
  // One at a time: a composition needs most of the memory that an isolate has. It takes seconds.
  const turns = new Gate(1, 60_000)
  return {
    name: 'compositor',
    async start(input) {
      return { done: true, image: await turns.run(() => dress(codecs, input)) }
    },
  }
}

export const compositor: Engine = createCompositor(createCodecs(workerModules))

async function dress(codecs: Codecs, input: EngineInput): Promise<GeneratedImage> {
  try {
    const garment = await load(codecs, input.garment, 'garment', GARMENT_MAX_SIDE)
    const model = await load(codecs, input.model, 'model', MODEL_MAX_SIDE)
    flatten(model)
    const bytes = await codecs.encodeJpeg(compose(model, garment), JPEG_QUALITY)
    return { bytes, format: 'jpeg' }
  } catch (cause) {
    if (cause instanceof EngineError) throw cause
    if (cause instanceof NotFound) {
      throw new EngineError(`${cause.what}_not_found`, cause.message, { cause })
    }
    throw new EngineError('generation_failed', 'the composition broke down', { cause })
  }
}
