// From a customer's file to pixels: checked, decoded, turned upright, small enough to work on.
import { dimensions } from '../../images/format.ts'
import { EngineError, type CheckedImage } from '../engine.ts'
import type { Codecs } from './codecs.ts'
import { orientationOf, upright } from './exif.ts'
import { isCmykJpeg, isWholeJpeg, needsMuchMemory, stillOf } from './file.ts'
import type { Raster } from './raster.ts'

/**
 * Pixels a decoder may be asked for. A Worker has 128 MB for everything; decoders take 4 bytes a
 * pixel, for some kinds of file 10, besides the file itself. Measured in docs/compositor.md.
 */
const MAX_PIXELS = { usual: 14_000_000, heavy: 6_000_000 }

/**
 * Decodes one of the job's two pictures.
 * @throws EngineError with the code that names the picture
 */
export async function load(
  codecs: Codecs,
  image: CheckedImage,
  role: 'model' | 'garment',
  maxSide: number,
): Promise<Raster> {
  const { bytes, format } = image
  const size = dimensionsOf(image)
  const still = stillOf(bytes, format) // what will be decoded, so what is to be judged
  const limit = needsMuchMemory(still, format) ? MAX_PIXELS.heavy : MAX_PIXELS.usual
  if (size.width * size.height > limit) {
    throw new EngineError(`${role}_image_too_large`, `${size.width} × ${size.height} pixels`)
  }
  if (format === 'jpeg' && isCmykJpeg(bytes)) {
    throw new EngineError(`${role}_image_unsupported_format`, 'a CMYK JPEG')
  }
  try {
    if (format === 'jpeg' && !isWholeJpeg(bytes)) throw new Error('the file ends too early')
    const decoded = await codecs.decode(still, format, maxSide)
    return upright(decoded, orientationOf(bytes, format))
  } catch (cause) {
    throw new EngineError(`${role}_image_corrupt`, `cannot decode: ${describe(cause)}`, { cause })
  }

  function dimensionsOf({ bytes: file, format: kind }: CheckedImage) {
    try {
      const found = dimensions(file, kind)
      if (found) return found
    } catch {
      // A header that ends in the middle of a number.
    }
    throw new EngineError(`${role}_image_corrupt`, 'the header gives no dimensions')
  }
}

/** The JPEG decoder throws numbers: addresses of C++ exceptions. */
const describe = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))
