// Decodes PNG without the loader of the codec package, which reuses one instance and copies the whole
// picture out of it.
import { pngChunks } from '@try-on/image-files'
import { shrink, type Raster } from './raster.ts'

/** The chunks of a PNG that contain the picture: no text, profiles or animation. */
function* pictureChunks(file: Uint8Array): Generator<Uint8Array> {
  for (const { type, whole } of pngChunks(file)) if (PICTURE_CHUNKS.has(type)) yield whole
}

const PICTURE_CHUNKS = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'])

/**
 * Decodes and shrinks to `maxSide`, directly from the memory of a fresh instance. Passes only the chunks
 * of the image itself: the decoder would also inflate profiles and copy texts.
 */
export function decodePng(module: WebAssembly.Module, bytes: Uint8Array, maxSide: number): Raster {
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
