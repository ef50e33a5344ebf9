// The WebAssembly codecs. Every job gets fresh instances, because WebAssembly memory never shrinks and
// may still contain the pictures of the last customer. The modules are passed in: a Worker imports
// them, Node reads them from disk.
import loadJpegDecoder from '@jsquash/jpeg/codec/dec/mozjpeg_dec.js'
import loadJpegEncoder from '@jsquash/jpeg/codec/enc/mozjpeg_enc.js'
import loadWebpDecoder from '@jsquash/webp/codec/dec/webp_dec.js'
import type { ImageFormat } from '@try-on/image-files'
import { pictureChunks } from './file.ts'
import { shrink, type Raster } from './raster.ts'
import { shrinkingInPlace } from './shrink-in-place.ts'

export interface CodecModules {
  jpegDecoder: WebAssembly.Module
  jpegEncoder: WebAssembly.Module
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
   * @throws OutOfMemory; for malformed files any value, not always an Error
   */
  decode(bytes: Uint8Array, format: ImageFormat, maxSide: number): Promise<Raster>
}

export interface Codecs extends Decoder {
  /**
   * A decoder for the pictures of one job. It decodes the second picture of a format in the memory of
   * the first: the memory of a dropped instance is not free before the next garbage collection.
   * Drop it before encoding, and never share it between customers.
   */
  decoderForJob(): Decoder
  encodeJpeg(picture: Raster, quality: number): Promise<Uint8Array<ArrayBuffer>>
}

export function createCodecs(modules: CodecModules): Codecs {
  return {
    decode: (...file) => createDecoder(modules).decode(...file),
    decoderForJob: () => createDecoder(modules),
    async encodeJpeg(picture, quality) {
      const encoder = await loadJpegEncoder(
        instantiate(modules.jpegEncoder, new MemoryLimit(Infinity)),
      )
      const { data, width, height } = picture
      return encoder.encode(data, width, height, { ...JPEG_OPTIONS, quality }).slice()
    },
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
    async decode(bytes, format, maxSide) {
      if (format === 'png') return decodePng(modules.pngDecoder, bytes, maxSide)
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
  const memory = new MemoryLimit(MAX_MEMORY_BYTES)
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

/** Baseline without trellis search: a third of the CPU time, and files a few per cent larger. */
const JPEG_OPTIONS = {
  baseline: true,
  progressive: false,
  arithmetic: false,
  optimize_coding: true,
  smoothing: 0,
  color_space: 3,
  quant_table: 3,
  trellis_multipass: false,
  trellis_opt_zero: false,
  trellis_opt_table: false,
  trellis_loops: 1,
  auto_subsample: false,
  chroma_subsample: 1,
  separate_chroma_quality: false,
  chroma_quality: 90,
}

/**
 * The limit for decoders that grow their memory through JavaScript. A lossless WebP of one megapixel
 * can make its decoder reserve 1.4 GB for Huffman tables, and no header shows it.
 */
const MAX_MEMORY_BYTES = 72 * 1024 * 1024

const PAGE_BYTES = 64 * 1024

/**
 * To get memory, the glue code tries to grow it by 20, 10 and 5 %, or by what it needs if that is
 * more. Only the last try is granted.
 */
const GROWTH_TRIES = 3

class MemoryLimit {
  wasExceeded = false
  readonly #maxBytes: number

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  apply(exports: WebAssembly.Exports): void {
    for (const memory of Object.values(exports)) {
      if (!(memory instanceof WebAssembly.Memory)) continue
      const grow = memory.grow.bind(memory)
      let tries = 0
      // The glue code calls this method and treats an exception as a failed try.
      memory.grow = (pages) => {
        tries = (tries + 1) % GROWTH_TRIES
        if (tries > 0) throw new RangeError('a smaller step is possible')
        if (memory.buffer.byteLength + pages * PAGE_BYTES <= this.#maxBytes) return grow(pages)
        this.wasExceeded = true
        throw new RangeError('the memory limit is reached')
      }
    }
  }
}

const instantiate = (module: WebAssembly.Module, limit: MemoryLimit): CodecOptions => ({
  noInitialRun: true,
  // Decoder warnings about customers' files are noise in the log.
  printErr: () => undefined,
  instantiateWasm(imports, ready) {
    const instance = new WebAssembly.Instance(module, imports)
    limit.apply(instance.exports)
    ready(instance)
    return instance.exports
  },
})

/**
 * Replaces the loader of the codec package, which reuses one instance and copies the whole picture out
 * of it. Shrinks directly from the instance's memory, and passes only the chunks of the image itself:
 * the decoder would also inflate profiles and copy texts.
 */
function decodePng(module: WebAssembly.Module, bytes: Uint8Array, maxSide: number): Raster {
  let picture: Raster | null = null
  const receive = (start: number, length: number, width: number, height: number) => {
    const data = new Uint8ClampedArray(exports.memory.buffer, start >>> 0, length >>> 0)
    const shrunk = shrink({ data, width: width >>> 0, height: height >>> 0 }, maxSide)
    picture = shrunk.data === data ? { ...shrunk, data: data.slice() } : shrunk
    return 0
  }
  const fail = () => {
    throw new Error('the png decoder failed')
  }
  const glue: Record<string, (...values: number[]) => number> = {}
  for (const { name } of WebAssembly.Module.imports(module)) {
    if (name.startsWith('__wbg_newwithownedu8clampedarray')) {
      glue[name] = (start = 0, length = 0, width = 0, height = 0) =>
        receive(start, length, width, height)
    } else glue[name] = name === '__wbindgen_object_drop_ref' ? () => 0 : fail
  }
  const exports = pngExports(new WebAssembly.Instance(module, { wbg: glue }))
  const parts = [bytes.subarray(0, 8), ...pictureChunks(bytes)]
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const start = exports.malloc(length)
  const memory = new Uint8Array(exports.memory.buffer)
  let at = start
  for (const part of parts) {
    memory.set(part, at)
    at += part.length
  }
  exports.decode(start, length)
  return picture ?? fail()
}

function pngExports({ exports }: WebAssembly.Instance) {
  const { memory, decode, __wbindgen_malloc: malloc } = exports
  if (!(memory instanceof WebAssembly.Memory) || !isFunction(decode) || !isFunction(malloc)) {
    throw new Error('the png module has unexpected exports')
  }
  return {
    memory,
    malloc: (size: number) => Number(malloc(size, 1)) >>> 0,
    decode: (start: number, length: number) => void decode(start, length),
  }
}

const isFunction = (value: unknown): value is (...values: number[]) => unknown =>
  typeof value === 'function'
