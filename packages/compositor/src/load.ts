// From a customer's file to pixels: checked, decoded, rotated upright and scaled down.
import { imageFile, inspect, orientationOf } from '@try-on/image-files'
import type { ImageFormat } from '@try-on/image-files'
import { OutOfMemory, type Decoder } from './codecs.ts'
import { upright } from './upright.ts'
import { containsItsImage, isTooLarge, isTooLargeJpeg, unsupported } from './decode-limits.ts'
import type { Raster } from './raster.ts'

/** An image file with the format that its first bytes show. */
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
 * @param otherBytes the size of the job's other file, which leaves less memory for this one
 * @throws UnusableImage
 */
export async function load(
  decoder: Decoder,
  image: ImageFile,
  role: 'model' | 'garment',
  maxSide: number,
  otherBytes = 0,
): Promise<Raster> {
  const { bytes, format } = image
  const unusable = (problem: Problem, reason: string, cause?: unknown) =>
    new UnusableImage(role, problem, reason, cause)

  const header = inspect(bytes, format)
  if ('corrupt' in header) throw unusable('corrupt', header.corrupt)
  const byLibrary = !isTooLarge(header, bytes.length, otherBytes)
  const asUsual =
    header.format === 'jpeg' && !isTooLargeJpeg(header, maxSide, bytes.length + otherBytes)
  if (!byLibrary && !asUsual) {
    const reason = `${header.width} × ${header.height} pixels in ${bytes.length} bytes`
    throw unusable('too_large', reason)
  }
  const reason = unsupported(header)
  if (reason) throw unusable('unsupported_format', reason)
  // The decoder would fill the rest of a truncated JPEG with grey.
  if (header.format === 'jpeg' && !header.complete) throw unusable('corrupt', 'the JPEG has no end')
  if (header.format === 'png' && !(await containsItsImage(bytes, header))) {
    throw unusable('corrupt', 'the PNG data is damaged, too short or far too long')
  }
  try {
    const file = header.format === 'webp' ? imageFile(bytes, header) : bytes
    const decoded = await decoder.decode(file, format, maxSide, byLibrary)
    return upright(decoded, orientationOf(bytes, format))
  } catch (cause) {
    if (cause instanceof OutOfMemory) throw unusable('too_large', cause.message, cause)
    throw unusable('corrupt', `cannot decode: ${String(describe(cause))}`, cause)
  }
}

/** The JPEG decoder throws numbers (addresses of C++ exceptions) and objects that are not errors. */
const describe = (cause: unknown) =>
  typeof cause === 'object' && cause !== null && 'message' in cause ? cause.message : cause
