// The files of codecs and models, bundled by wrangler. Node cannot load this file.
import jpegDecoder from '@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm'
import pngDecoder from '@jsquash/png/codec/pkg/squoosh_png_bg.wasm'
import webpDecoder from '@jsquash/webp/codec/dec/webp_dec.wasm'
import backend from '@tensorflow/tfjs-backend-wasm/wasm-out/tfjs-backend-wasm-simd.wasm'
import movenetWeights from '../models/movenet-lightning.bin'
import movenetTopology from '../models/movenet-lightning.json'
import openingWeights from '../models/opening.bin'
import openingTopology from '../models/opening.json'
import partsWeights from '../models/parts.bin'
import partsTopology from '../models/parts.json'
import productWeights from '../models/product.bin'
import productTopology from '../models/product.json'
import selfieWeights from '../models/selfie.bin'
import selfieTopology from '../models/selfie.json'
import u2netpWeights from '../models/u2netp.bin'
import u2netpTopology from '../models/u2netp.json'
import type { CodecModules } from './codecs.ts'
import type { PerceptionModules } from './perception.ts'

export const workerModules: CodecModules = { jpegDecoder, pngDecoder, webpDecoder }

/** TypeScript reads the JSON files, but the rule of type Data in wrangler.toml bundles their bytes. */
const bytes = (file: unknown) => file as ArrayBuffer

export const perceptionModules: PerceptionModules = {
  backend,
  movenet: { topology: bytes(movenetTopology), weights: movenetWeights },
  selfie: { topology: bytes(selfieTopology), weights: selfieWeights },
  u2netp: { topology: bytes(u2netpTopology), weights: u2netpWeights },
  opening: { topology: bytes(openingTopology), weights: openingWeights },
  parts: { topology: bytes(partsTopology), weights: partsWeights },
  product: { topology: bytes(productTopology), weights: productWeights },
}
