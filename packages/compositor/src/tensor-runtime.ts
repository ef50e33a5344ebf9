// Runs the WebAssembly binary of TensorFlow.js without its Emscripten loader. That loader takes a
// Worker for Node: it asks for `__dirname`, installs process-wide handlers of uncaught errors, and
// lets the memory grow by a fifth at a time.

const PAGE_BYTES = 64 * 1024

/** Beyond this an allocation fails and the call throws: the isolate has 128 MB in total. */
const MAX_HEAP_BYTES = 48 * 1024 * 1024

/** The error number of a WASI function that does not exist. */
const NOT_SUPPORTED = 52

type Native = (...values: number[]) => number
type Argument = number | boolean | Uint8Array

/** The part of an Emscripten module that `BackendWasm` uses. */
export interface TensorRuntime {
  /** A view of the current memory. The memory moves when it grows, so do not keep the view. */
  readonly HEAPU8: Uint8Array
  _malloc(bytes: number): number
  _free(address: number): void
  /** A function of the binary. An argument of type `array` is copied to the stack for the call. */
  cwrap(name: string, result: string | null, types: string[]): (...values: Argument[]) => number
  tfjs: Record<
    | 'init'
    | 'initWithThreadsCount'
    | 'getThreadsCount'
    | 'registerTensor'
    | 'disposeData'
    | 'dispose',
    Native
  >
}

/**
 * Instantiates the binary `tfjs-backend-wasm-simd.wasm`.
 * @throws Error when the binary is not the one of TensorFlow.js
 */
export async function startRuntime(compiled: WebAssembly.Module): Promise<TensorRuntime> {
  const { exports } = await WebAssembly.instantiate(
    compiled,
    importsFor(() => memory),
  )
  const memory = memoryOf(exports)
  const heap = () => new Uint8Array(memory.buffer)
  const native = (name: string): Native => {
    const found = exports[name]
    if (typeof found !== 'function') throw new Error(`the binary has no function ${name}`)
    return found as Native
  }
  native('__wasm_call_ctors')()
  const save = native('stackSave')
  const reserve = native('stackAlloc')
  const restore = native('stackRestore')
  const free = native('free')
  return {
    get HEAPU8() {
      return heap()
    },
    _malloc: native('malloc'),
    _free: (address) => void free(address),
    cwrap(name, _, types) {
      const call = native(name)
      if (!types.includes('array')) return call as (...values: Argument[]) => number
      return (...values) => {
        const top = save()
        try {
          const copied = values.map((value) => {
            if (!(value instanceof Uint8Array)) return Number(value)
            const address = reserve(value.length)
            heap().set(value, address)
            return address
          })
          return call(...copied)
        } finally {
          restore(top)
        }
      }
    },
    tfjs: {
      init: native('init'),
      initWithThreadsCount: native('init_with_threads_count'),
      getThreadsCount: native('get_threads_count'),
      registerTensor: native('register_tensor'),
      disposeData: native('dispose_data'),
      dispose: native('dispose'),
    },
  }
}

function memoryOf({ memory }: WebAssembly.Exports): WebAssembly.Memory {
  if (!(memory instanceof WebAssembly.Memory)) throw new Error('the binary exports no memory')
  return memory
}

/** The functions that the binary calls. It writes to no file and prints nothing. */
function importsFor(current: () => WebAssembly.Memory): WebAssembly.Imports {
  return {
    env: {
      abort() {
        throw new Error('the tensor backend ran out of memory or failed')
      },
      emscripten_get_heap_max: () => MAX_HEAP_BYTES,
      emscripten_memcpy_big(to: number, from: number, bytes: number) {
        new Uint8Array(current().buffer).copyWithin(to >>> 0, from >>> 0, (from + bytes) >>> 0)
      },
      emscripten_resize_heap(bytes: number) {
        const memory = current()
        const missing = (bytes >>> 0) - memory.buffer.byteLength
        if (bytes >>> 0 > MAX_HEAP_BYTES) return 0
        memory.grow(Math.max(0, Math.ceil(missing / PAGE_BYTES)))
        return 1
      },
    },
    wasi_snapshot_preview1: {
      fd_close: () => NOT_SUPPORTED,
      fd_seek: () => NOT_SUPPORTED,
      fd_write: () => NOT_SUPPORTED,
    },
  }
}
