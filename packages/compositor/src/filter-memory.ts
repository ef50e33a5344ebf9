// Frees the filters of convolutions once they are in use, which makes the memory of the models 8 MB
// smaller. At its first run a convolution copies its filter into an operator of XNNPACK, which stays
// by the backend and found again by the filter's id. The tensor of the filter is never read again.
import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm'
import * as tf from '@tensorflow/tfjs-core'
import type { TensorRuntime } from './tensor-runtime.ts'

const CONVOLUTIONS = [
  'Conv2D',
  'DepthwiseConv2dNative',
  'FusedConv2D',
  'FusedDepthwiseConv2D',
] as const

let isWrapped = false
const freed = new WeakSet<object>()

/**
 * Wraps the convolutions of the backend `name`. It has to be registered and not yet started.
 * Traps: each filter may belong to one convolution only, whose input has one size, and a model may not
 * be disposed, which would free its filters again. In a copy of the backend each filter is used once, with its operator.
 */
export function freeFiltersAfterUse(name: string): void {
  if (isWrapped) return
  isWrapped = true
  for (const convolution of CONVOLUTIONS) {
    const kernel = tf.getKernel(convolution, name)
    const run = kernel.kernelFunc
    tf.unregisterKernel(convolution, name)
    tf.registerKernel({
      ...kernel,
      kernelFunc(call) {
        const output = run(call)
        const id = call.inputs['filter']?.dataId
        const backend = call.backend as BackendWasm
        if (id && tf.getBackend() !== name) {
          backend.disposeData(id)
        } else if (id && !freed.has(id)) {
          freed.add(id)
          const runtime: unknown = backend.wasm
          ;(runtime as TensorRuntime)._free(backend.getMemoryOffset(id))
        }
        return output
      },
    })
  }
}
