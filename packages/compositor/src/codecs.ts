// The decoders. Usual JPEGs are decoded without WebAssembly; every job gets fresh instances for the rest,
// because WebAssembly memory never shrinks and may still contain the pictures of the last customer. The
// modules are passed in: a Worker imports them, Node reads them from disk.
import loadJpegDecoder from '@jsquash/jpeg/codec/dec/mozjpeg_dec.js'
import loadWebpDecoder from '@jsquash/webp/codec/dec/webp_dec.js'
import type { ImageFormat } from '@try-on/image-files'
import { instantiate, MemoryLimit } from './codec-memory.ts'
import { MAX_DECODER_BYTES } from './decode-limits.ts'
import { decodeJpeg } from './jpeg/decode.ts'
import { decodePng } from './png-decoder.ts'
import type { Raster } from './raster.ts'
import { shrinkingInPlace } from './shrink-in-place.ts'

export interface CodecModules {
  jpegDecoder: WebAssembly.Module
  pngDecoder: WebAssembly.Module
  webpDecoder: WebAssembly.Module
}

/** The decoder exceeded its memory limit. */
export class OutOfMemory extends Error {
  override readonly name = 'OutOfMemory'
}

export interface Decoder {
  /**
   * Decodes and shrinks to `maxSide`.
   * @param byLibrary whether the library may decode the file, when it is no usual JPEG
   * @throws OutOfMemory; for malformed files any value, not always an Error
   */
  decode(
    bytes: Uint8Array,
    format: ImageFormat,
    maxSide: number,
    byLibrary?: boolean,
  ): Promise<Raster>
}

export interface Codecs extends Decoder {
  /**
   * A decoder for the pictures of one job. It decodes the second picture of a format in the memory of
   * the first: the memory of a dropped instance is not free before the next garbage collection.
   * Never share it between customers.
   */
  decoderForJob(): Decoder
}

export function createCodecs(modules: CodecModules): Codecs {
  return {
    decode: (...file) => createDecoder(modules).decode(...file),
    decoderForJob: () => createDecoder(modules),
  }
}

/** A running decoder of JPEG or WebP. */
interface Instance {
  memory: MemoryLimit
  decode(bytes: Uint8Array, maxSide: number): Raster | null
}

function createDecoder(modules: CodecModules): Decoder {
  const idle = new Map<ImageFormat, Instance>()
  return {
    async decode(bytes, format, maxSide, byLibrary = true) {
      if (format === 'png') return decodePng(modules.pngDecoder, bytes, maxSide)
      const usual = format === 'jpeg' ? await decodeJpeg(bytes, maxSide) : null
      if (usual) return usual
      if (!byLibrary) throw new OutOfMemory('a JPEG of this size must be a usual one')
      const instance = idle.get(format) ?? (await startDecoder(modules, format))
      idle.delete(format)
      try {
        const decoded = instance.decode(bytes, maxSide)
        if (!decoded) throw new Error(`the ${format} decoder returned no picture`)
        // Only after a success: an instance that trapped on a malformed file may be corrupt.
        idle.set(format, instance)
        return decoded
      } catch (cause) {
        if (instance.memory.wasExceeded)
          throw new OutOfMemory(`the ${format} needs too much memory`, { cause })
        throw cause
      }
    },
  }
}

async function startDecoder(modules: CodecModules, format: 'jpeg' | 'webp'): Promise<Instance> {
  const memory = new MemoryLimit(MAX_DECODER_BYTES)
  const inPlace = shrinkingInPlace()
  // A decoder looks up the classes of its result when it is loaded or when it first decodes.
  if (format === 'jpeg') {
    const options = instantiate(modules.jpegDecoder, memory)
    const decoder = await inPlace(0, () => loadJpegDecoder(options))
    return {
      memory,
      decode: (bytes, maxSide) => inPlace(maxSide, () => decoder.decode(bytes, false)),
    }
  }
  const options = instantiate(modules.webpDecoder, memory)
  const decoder = await inPlace(0, () => loadWebpDecoder(options))
  return { memory, decode: (bytes, maxSide) => inPlace(maxSide, () => decoder.decode(bytes)) }
}
