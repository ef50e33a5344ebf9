// The compositor's codecs for Node, which reads the WebAssembly modules from disk.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createCodecs } from '../src/codecs.ts'

const resolve = createRequire(import.meta.url).resolve

/** Compiles a file of a package. The types of Workers, which some callers have, forbid `new Module`. */
export const compile = (path: string): WebAssembly.Module =>
  Reflect.construct(WebAssembly.Module, [readFileSync(resolve(path))])

export const nodeCodecs = createCodecs({
  jpegDecoder: compile('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm'),
  pngDecoder: compile('@jsquash/png/codec/pkg/squoosh_png_bg.wasm'),
  webpDecoder: compile('@jsquash/webp/codec/dec/webp_dec.wasm'),
})
