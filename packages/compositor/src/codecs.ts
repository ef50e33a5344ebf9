// The WebAssembly codecs. Every picture gets a fresh instance that is dropped afterwards: their
// memories never shrink, and one that has trapped on a broken file must not be trusted again.
// The modules are passed in, since a Worker imports them and Node reads them from disk.
import loadJpegDecoder from '@jsquash/jpeg/codec/dec/mozjpeg_dec.js'
import loadJpegEncoder from '@jsquash/jpeg/codec/enc/mozjpeg_enc.js'
import loadWebpDecoder from '@jsquash/webp/codec/dec/webp_dec.js'
import type { ImageFormat } from '@try-on/image-files'
import { pictureChunks } from './file.ts'
import { shrink, type Raster } from './raster.ts'

export interface CodecModules {
  jpegDecoder: WebAssembly.Module
  jpegEncoder: WebAssembly.Module
  pngDecoder: WebAssembly.Module
  webpDecoder: WebAssembly.Module
}

/** The decoder asked for more memory than it may have. */
export class OutOfMemory extends Error {
  override readonly name = 'OutOfMemory'
}

export interface Codecs {
  /**
   * Decodes and shrinks to `maxSide`.
   * @throws OutOfMemory
   * @throws anything at all for broken bytes
   */
  decode(bytes: Uint8Array, format: ImageFormat, maxSide: number): Promise<Raster>
  encodeJpeg(picture: Raster, quality: number): Promise<Uint8Array<ArrayBuffer>>
}

export function createCodecs(modules: CodecModules): Codecs {
  return {
    async decode(bytes, format, maxSide) {
      if (format === 'png') return decodePng(modules.pngDecoder, bytes, maxSide)
      const inPlace = shrinkingInPlace(maxSide)
      const memory = new MemoryLimit()
      // The decoders look their result's classes up once, when they are loaded or first used.
      try {
        let decoded: Raster | null
        if (format === 'jpeg') {
          const options = instantiate(modules.jpegDecoder, memory)
          const decoder = await inPlace(() => loadJpegDecoder(options))
          decoded = inPlace(() => decoder.decode(bytes, false))
        } else {
          const options = instantiate(modules.webpDecoder, memory)
          const decoder = await inPlace(() => loadWebpDecoder(options))
          decoded = inPlace(() => decoder.decode(bytes))
        }
        if (!decoded) throw new Error(`the ${format} decoder gave no picture`)
        return decoded
      } catch (cause) {
        if (memory.wasRefused)
          throw new OutOfMemory(`the ${format} needs too much memory`, { cause })
        throw cause
      }
    },

    async encodeJpeg(picture, quality) {
      const encoder = await loadJpegEncoder(instantiate(modules.jpegEncoder))
      const { data, width, height } = picture
      return encoder.encode(data, width, height, { ...JPEG_OPTIONS, quality }).slice()
    },
  }
}

/** Baseline and without trellis search: a third of the CPU for a few per cent more bytes. */
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
 * Decoders that grow their memory through JavaScript get no more than this. A lossless WebP of one
 * megapixel can make its decoder reserve 1.4 GB for Huffman tables, which no header announces.
 */
const MAX_MEMORY_BYTES = 96 * 1024 * 1024

const PAGE_BYTES = 64 * 1024

class MemoryLimit {
  wasRefused = false

  apply(exports: WebAssembly.Exports): void {
    for (const memory of Object.values(exports)) {
      if (!(memory instanceof WebAssembly.Memory)) continue
      const grow = memory.grow.bind(memory)
      // The glue code calls this method and takes an exception for a failed allocation.
      memory.grow = (pages) => {
        if (memory.buffer.byteLength + pages * PAGE_BYTES <= MAX_MEMORY_BYTES) return grow(pages)
        this.wasRefused = true
        throw new RangeError('the memory limit is reached')
      }
    }
  }
}

const instantiate = (module: WebAssembly.Module, limit?: MemoryLimit): CodecOptions => ({
  noInitialRun: true,
  // Its remarks on customers' broken files would only fill the log.
  printErr: () => undefined,
  instantiateWasm(imports, ready) {
    const instance = new WebAssembly.Instance(module, imports)
    limit?.apply(instance.exports)
    ready(instance)
    return instance.exports
  },
})

/**
 * The decoders end with `new ImageData(new Uint8ClampedArray(pixels), width, height)`, a copy of the
 * whole picture beside the one in their own memory, and Workers have no `ImageData` at all. During
 * the synchronous calls that the returned function makes, the two names mean classes that shrink
 * the picture where it lies, which halves the peak: phones' photos fit only so.
 */
function shrinkingInPlace(maxSide: number): <T>(call: () => T) => T {
  const bytes = new Proxy(Uint8ClampedArray, {
    construct(real, [source, ...rest]) {
      if (ArrayBuffer.isView(source)) {
        return new real(source.buffer, source.byteOffset, source.byteLength)
      }
      return Reflect.construct(real, [source, ...rest])
    },
  })
  class ImageData implements Raster {
    readonly width: number
    readonly height: number
    readonly data: Uint8ClampedArray

    constructor(data: Uint8ClampedArray, width: number, height: number) {
      const small = shrink({ data, width, height }, maxSide)
      this.width = small.width
      this.height = small.height
      this.data = small.data === data ? data.slice() : small.data
    }
  }
  const stand = { Uint8ClampedArray: bytes, ImageData }
  return (call) => {
    const before = Object.entries(stand).map(
      ([name]) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
    )
    for (const [name, value] of Object.entries(stand)) {
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
    }
    try {
      return call()
    } finally {
      for (const [name, descriptor] of before) {
        if (descriptor) Object.defineProperty(globalThis, name, descriptor)
        else Reflect.deleteProperty(globalThis, name)
      }
    }
  }
}

/**
 * The package's own loader keeps one instance for ever and copies the whole picture out of it. This
 * one shrinks straight from the instance's memory, and hands over only the chunks that the picture is
 * made of: the decoder would inflate profiles and copy texts.
 */
function decodePng(module: WebAssembly.Module, bytes: Uint8Array, maxSide: number): Raster {
  let picture: Raster | null = null
  const receive = (start: number, length: number, width: number, height: number) => {
    const data = new Uint8ClampedArray(exports.memory.buffer, start >>> 0, length >>> 0)
    const shrunk = shrink({ data, width: width >>> 0, height: height >>> 0 }, maxSide)
    picture = shrunk.data === data ? { ...shrunk, data: data.slice() } : shrunk
    return 0
  }
  const refuse = () => {
    throw new Error('the png decoder gave up')
  }
  const glue: Record<string, (...values: number[]) => number> = {}
  for (const { name } of WebAssembly.Module.imports(module)) {
    if (name.startsWith('__wbg_newwithownedu8clampedarray')) {
      glue[name] = (start = 0, length = 0, width = 0, height = 0) =>
        receive(start, length, width, height)
    } else glue[name] = name === '__wbindgen_object_drop_ref' ? () => 0 : refuse
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
  return picture ?? refuse()
}

function pngExports({ exports }: WebAssembly.Instance) {
  const { memory, decode, __wbindgen_malloc: malloc } = exports
  if (!(memory instanceof WebAssembly.Memory) || !isFunction(decode) || !isFunction(malloc)) {
    throw new Error('the png module exports something else than expected')
  }
  return {
    memory,
    malloc: (size: number) => Number(malloc(size, 1)) >>> 0,
    decode: (start: number, length: number) => void decode(start, length),
  }
}

const isFunction = (value: unknown): value is (...values: number[]) => unknown =>
  typeof value === 'function'
