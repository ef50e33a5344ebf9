// From a customer's file to pixels: checked, decoded, turned upright, small enough to work on.
import { inspect } from '../../images/format.ts'
import { imageFile } from '../../images/webp.ts'
import { EngineError, type CheckedImage } from '../engine.ts'
import { OutOfMemory, type Codecs } from './codecs.ts'
import { orientationOf, upright } from './exif.ts'
import { holdsItsImage, maxPixels, unsupported } from './file.ts'
import type { Raster } from './raster.ts'

/**
 * Decodes one of the job's two pictures.
 * @throws EngineError with the code that names the picture
 */
export async function load(
  codecs: Codecs,
  image: Pick<CheckedImage, 'bytes' | 'format'>,
  role: 'model' | 'garment',
  maxSide: number,
): Promise<Raster> {
  const { bytes, format } = image
  const refuse = (problem: Problem, reason: string, cause?: unknown) =>
    new EngineError(`${role}_image_${problem}`, reason, { cause })

  const header = inspect(bytes, format)
  if ('corrupt' in header) throw refuse('corrupt', header.corrupt)
  if (header.width * header.height > maxPixels(header)) {
    throw refuse('too_large', `${header.width} × ${header.height} pixels`)
  }
  const reason = unsupported(header)
  if (reason) throw refuse('unsupported_format', reason)
  // The decoder would fill the rest of a truncated JPEG with grey.
  if (header.format === 'jpeg' && !header.complete) throw refuse('corrupt', 'the JPEG has no end')
  if (header.format === 'png' && !(await holdsItsImage(bytes, header))) {
    throw refuse('corrupt', 'the PNG data is damaged, too short or far too long')
  }
  try {
    const file = header.format === 'webp' ? imageFile(bytes, header) : bytes
    const decoded = await codecs.decode(file, format, maxSide)
    return upright(decoded, orientationOf(bytes, format))
  } catch (cause) {
    if (cause instanceof OutOfMemory) throw refuse('too_large', cause.message, cause)
    throw refuse('corrupt', `cannot decode: ${String(describe(cause))}`, cause)
  }
}

type Problem = 'corrupt' | 'too_large' | 'unsupported_format'

/** The JPEG decoder throws numbers (addresses of C++ exceptions) and objects that are no errors. */
const describe = (cause: unknown) =>
  typeof cause === 'object' && cause !== null && 'message' in cause ? cause.message : cause
