// Starts TensorFlow.js on WebAssembly from a compiled module: a Worker may not compile bytes.
import { BackendWasm } from '@tensorflow/tfjs-backend-wasm'
import * as tf from '@tensorflow/tfjs-core'
import { freeFiltersAfterUse } from './filter-memory.ts'
import { startRuntime } from './tensor-runtime.ts'

const NAME = 'wasm'

/** What the backend uses at the moment. */
export interface TensorUsage {
  /** Tensors in memory, the weights of the models included. */
  tensors: number
  /** The WebAssembly memory in bytes. It never shrinks. */
  heapBytes: number
}

/**
 * Starts the backend for all models of this isolate, and replaces the one that runs.
 * @returns a function that measures the usage
 * @throws Error when the module is not TensorFlow.js
 */
export async function startBackend(compiled: WebAssembly.Module): Promise<() => TensorUsage> {
  const runtime = await startRuntime(compiled)
  runtime.tfjs.init()
  // The backend that the package registers would fetch its binary by URL.
  tf.removeBackend(NAME)
  // The type describes a complete Emscripten module, of which the class uses this part.
  const emscripten: unknown = runtime
  const backend = new BackendWasm(emscripten as ConstructorParameters<typeof BackendWasm>[0])
  tf.registerBackend(NAME, () => backend)
  freeFiltersAfterUse(NAME)
  if (!(await tf.setBackend(NAME))) throw new Error('the tensor backend did not start')
  return () => ({ tensors: tf.memory().numTensors, heapBytes: runtime.HEAPU8.byteLength })
}
