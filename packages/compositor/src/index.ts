// Renders a person wearing a garment: two image files in, one JPEG out. See docs/compositor.md.
import type { Codecs } from './codecs.ts'
import { compose } from './compose.ts'
import { load, type ImageFile } from './load.ts'
import type { Perceiver } from './perception.ts'
import { flatten } from './raster.ts'

export { createCodecs } from './codecs.ts'
export { NotFound } from './compose.ts'
export { createPerceiver } from './perception.ts'
export { load, UnusableImage } from './load.ts'

const MODEL_MAX_SIDE = 1536
const GARMENT_MAX_SIDE = 1024
const JPEG_QUALITY = 90

/** What a composition needs besides the images. */
export interface Tools {
  codecs: Codecs
  /** Starts the models, or returns the running ones. */
  perceiver(): Promise<Perceiver>
}

/**
 * Renders the person of the model image wearing the garment of the garment image.
 * @returns a JPEG whose longer side has at most 1,536 pixels
 * @throws UnusableImage when a file is corrupt, too large or of an unsupported kind
 * @throws NotFound when no person or no garment is found
 */
export async function dress(
  { codecs, perceiver }: Tools,
  images: { model: ImageFile; garment: ImageFile },
): Promise<Uint8Array<ArrayBuffer>> {
  const garment = await load(codecs, images.garment, 'garment', GARMENT_MAX_SIDE)
  const model = await load(codecs, images.model, 'model', MODEL_MAX_SIDE)
  flatten(model)
  await perceiver()
  return codecs.encodeJpeg(compose(model, garment), JPEG_QUALITY)
}
