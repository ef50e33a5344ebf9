// Starts TensorFlow.js on WebAssembly from a compiled module: a Worker may not compile bytes.
import { BackendWasm } from '@tensorflow/tfjs-backend-wasm'
import * as tf from '@tensorflow/tfjs-core'
import { freeFiltersAfterUse } from './filter-memory.ts'
import { pause } from './pause.ts'
import { startRuntime, type TensorRuntime } from './tensor-runtime.ts'

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
  const runtime = await register(NAME, compiled)
  freeFiltersAfterUse(NAME)
  if (!(await tf.setBackend(NAME))) throw new Error('the tensor backend did not start')
  return () => ({ tensors: tf.memory().numTensors, heapBytes: runtime.HEAPU8.byteLength })
}

/** Registers a backend. @returns its binary, which has a memory of its own */
async function register(name: string, compiled: WebAssembly.Module): Promise<TensorRuntime> {
  const runtime = await startRuntime(compiled)
  runtime.tfjs.init()
  // That which the package registers would fetch its binary by URL.
  if (tf.findBackendFactory(name)) tf.removeBackend(name)
  // The type describes a complete Emscripten module, of which the class uses this part.
  const emscripten: unknown = runtime
  const backend = new BackendWasm(emscripten as ConstructorParameters<typeof BackendWasm>[0])
  tf.registerBackend(name, () => backend)
  return runtime
}

let count = 0

/**
 * Computes in a memory of its own, which is free afterwards: that of `startBackend` never shrinks.
 * @param work uses the backend until it waits for `pause`, and again after it
 */
export async function inOwnMemory<T>(
  compiled: WebAssembly.Module,
  work: (pause: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const own = `${NAME}-${++count}`
  await register(own, compiled)
  tf.copyRegisteredKernels(NAME, own)
  use(own)
  try {
    return await work(async () => {
      // What runs meanwhile computes in the other one.
      use(NAME)
      await pause()
      use(own)
    })
  } finally {
    use(NAME)
    tf.removeBackend(own)
    for (const { kernelName } of tf.getKernelsForBackend(own)) tf.unregisterKernel(kernelName, own)
  }
}

/** A backend that has started is used at once. */
const use = (name: string) => void tf.setBackend(name)
