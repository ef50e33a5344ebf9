// Everything a composition needs, for Node, which reads the files of codecs and models from disk.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tools } from '../src/index.ts'
import { createPerceiver } from '../src/perception.ts'
import type { ModelFiles } from '../src/tensor-model.ts'
import { compile, nodeCodecs } from './node-codecs.ts'

const read = (name: string) =>
  Uint8Array.from(readFileSync(join(import.meta.dirname, '../models', name))).buffer

const model = (name: string): ModelFiles => ({
  topology: read(`${name}.json`),
  weights: read(`${name}.bin`),
})

export const nodeTools: Tools = {
  codecs: nodeCodecs,
  perceiver: () =>
    createPerceiver(async () => ({
      backend: compile('@tensorflow/tfjs-backend-wasm/wasm-out/tfjs-backend-wasm-simd.wasm'),
      movenet: model('movenet-lightning'),
      selfie: model('selfie'),
      u2netp: model('u2netp'),
      opening: model('opening'),
      parts: model('parts'),
      product: model('product'),
    })),
}
