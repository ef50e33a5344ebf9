// From a customer's file to pixels: checked, decoded, turned upright, small enough to work on.
import { inspect, imageFile } from '@try-on/image-files'
import type { ImageFormat } from '@try-on/image-files'
import { OutOfMemory, type Codecs } from './codecs.ts'
import { orientationOf, upright } from './exif.ts'
import { holdsItsImage, maxPixels, unsupported } from './file.ts'
import type { Raster } from './raster.ts'

/** An image file. The format is what its first bytes say. */
export interface ImageFile {
  bytes: Uint8Array<ArrayBuffer>
  format: ImageFormat
}

type Problem = 'corrupt' | 'too_large' | 'unsupported_format'

/** An image file that cannot be used. */
export class UnusableImage extends Error {
  override readonly name = 'UnusableImage'
  readonly role: 'model' | 'garment'
  readonly problem: Problem

  constructor(role: 'model' | 'garment', problem: Problem, reason: string, cause?: unknown) {
    super(reason, { cause })
    this.role = role
    this.problem = problem
  }
}

/**
 * Checks and decodes an image file, applies its orientation and scales it down to `maxSide` pixels.
 * @throws UnusableImage
 */
export async function load(
  codecs: Codecs,
  image: ImageFile,
  role: 'model' | 'garment',
  maxSide: number,
): Promise<Raster> {
  const { bytes, format } = image
  const refuse = (problem: Problem, reason: string, cause?: unknown) =>
    new UnusableImage(role, problem, reason, cause)

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

/** The JPEG decoder throws numbers (addresses of C++ exceptions) and objects that are no errors. */
const describe = (cause: unknown) =>
  typeof cause === 'object' && cause !== null && 'message' in cause ? cause.message : cause
