// The compositor's codecs for Node, which reads the WebAssembly modules from disk.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createCodecs } from '../src/codecs.ts'

const resolve = createRequire(import.meta.url).resolve
const read = (path: string) => new WebAssembly.Module(readFileSync(resolve(path)))

export const nodeCodecs = createCodecs({
  jpegDecoder: read('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm'),
  jpegEncoder: read('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm'),
  pngDecoder: read('@jsquash/png/codec/pkg/squoosh_png_bg.wasm'),
  webpDecoder: read('@jsquash/webp/codec/dec/webp_dec.wasm'),
})
