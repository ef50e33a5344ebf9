// Memory of the codecs' WebAssembly instances: grows by what is needed, up to a limit.

const PAGE_BYTES = 64 * 1024

/**
 * To get memory, the glue code tries to grow it by 20, 10 and 5 %, or by what it needs if that is
 * more. Only the last try is granted.
 */
const GROWTH_TRIES = 3

export class MemoryLimit {
  wasExceeded = false
  readonly #maxBytes: number

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  apply(exports: WebAssembly.Exports): void {
    for (const memory of Object.values(exports)) {
      if (!(memory instanceof WebAssembly.Memory)) continue
      const grow = memory.grow.bind(memory)
      let tries = 0
      // The glue code calls this method and treats an exception as a failed try.
      memory.grow = (pages) => {
        tries = (tries + 1) % GROWTH_TRIES
        if (tries > 0) throw new RangeError('a smaller step is possible')
        if (memory.buffer.byteLength + pages * PAGE_BYTES <= this.#maxBytes) return grow(pages)
        this.wasExceeded = true
        throw new RangeError('the memory limit is reached')
      }
    }
  }
}

/** The options of the package's codec loaders that start an instance within a limit. */
export const instantiate = (module: WebAssembly.Module, limit: MemoryLimit): CodecOptions => ({
  noInitialRun: true,
  // Decoder warnings about customers' files are noise in the log.
  printErr: () => undefined,
  instantiateWasm(imports, ready) {
    const instance = new WebAssembly.Instance(module, imports)
    limit.apply(instance.exports)
    ready(instance)
    return instance.exports
  },
})
