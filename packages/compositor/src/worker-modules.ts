// The codecs' WebAssembly modules, bundled by wrangler. Node cannot load this file.
import jpegDecoder from '@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm'
import jpegEncoder from '@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm'
import pngDecoder from '@jsquash/png/codec/pkg/squoosh_png_bg.wasm'
import webpDecoder from '@jsquash/webp/codec/dec/webp_dec.wasm'
import type { CodecModules } from './codecs.ts'

export const workerModules: CodecModules = { jpegDecoder, jpegEncoder, pngDecoder, webpDecoder }
