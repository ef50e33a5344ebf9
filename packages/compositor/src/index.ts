// Renders a person wearing a garment: two image files in, one JPEG out. See docs/compositor.md.
import { verdict } from './assess/verdict.ts'
import type { Codecs, Decoder } from './codecs.ts'
import { compose } from './compose.ts'
import { encodeJpeg } from './jpeg/encode.ts'
import { load, type ImageFile } from './load.ts'
import type { Perceiver } from './perception.ts'
import { pause } from './pause.ts'
import { flatten } from './raster.ts'

export { createCodecs } from './codecs.ts'
export { encodeJpeg } from './jpeg/encode.ts'
export { createPerceiver } from './perception.ts'
export { load, UnusableImage } from './load.ts'
export { CompositionError } from './composition-error.ts'

/** The longer side of the decoded pictures, in pixels, and the quality of the result. */
export const MODEL_MAX_SIDE = 1536
export const GARMENT_MAX_SIDE = 1024
export const JPEG_QUALITY = 90
const THUMBNAIL_QUALITY = 70

/** What a composition needs besides the images. */
export interface Tools {
  codecs: Codecs
  /** Starts the models, or returns the running ones. */
  perceiver(): Promise<Perceiver>
}

interface Images {
  model: ImageFile
  garment: ImageFile
}

/**
 * Renders the person of the model image wearing the garment of the garment image. Pauses often, for the other
 * work of the isolate.
 * @returns a JPEG whose longer side has at most 1,536 pixels
 * @throws UnusableImage when a file is corrupt, too large or of an unsupported kind
 * @throws CompositionError when no person or no garment is found, or when the picture is broken
 */
export async function dress(
  { codecs, perceiver }: Tools,
  images: Images,
): Promise<Uint8Array<ArrayBuffer>> {
  const { garment, model } = await loadBoth(codecs.decoderForJob(), images)
  await pause()
  flatten(model)
  const { picture, assessment } = await compose(model, garment, await perceiver())
  const problem = verdict(assessment)
  if (problem) throw problem
  await pause()
  return encodeJpeg(picture, JPEG_QUALITY)
}

/**
 * Creates a small JPEG of a picture, on white. Never enlarges.
 * @param maxSide of the longer side, pixels
 * @throws UnusableImage when the file is corrupt or too large to decode
 */
export async function thumbnailOf(
  codecs: Codecs,
  image: ImageFile,
  maxSide: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const picture = await load(codecs.decoderForJob(), image, 'model', maxSide)
  flatten(picture)
  return encodeJpeg(picture, THUMBNAIL_QUALITY)
}

/** The larger file is decoded first, so that the other one fits into the memory of the decoder. */
async function loadBoth(decoder: Decoder, { model, garment }: Images) {
  const [modelBytes, garmentBytes] = [model.bytes.length, garment.bytes.length]
  const loadModel = () => load(decoder, model, 'model', MODEL_MAX_SIDE, garmentBytes)
  const loadGarment = () => load(decoder, garment, 'garment', GARMENT_MAX_SIDE, modelBytes)
  if (modelBytes < garmentBytes) {
    const loaded = await loadGarment()
    await pause()
    return { garment: loaded, model: await loadModel() }
  }
  const loaded = await loadModel()
  await pause()
  return { model: loaded, garment: await loadGarment() }
}
