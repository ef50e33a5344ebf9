// The decoders end with `new ImageData(new Uint8ClampedArray(pixels), width, height)`: a copy of the
// whole picture beside the one in WebAssembly memory, and a class that Workers do not have. During a
// decoder call these two globals are replaced with classes that shrink the picture directly from
// WebAssembly memory. For a JPEG of 12 megapixels (4,000 × 3,000, 3.9 MB; Node 24, maximum resident
// set size minus that of an idle process) the peak is 64 MB instead of 112 MB; an isolate has 128 MB.
// Invariant: the replacement is synchronous and undone in `finally`, so that no other code sees it.
import { shrink, type Raster } from './raster.ts'

/**
 * Returns a function that runs a synchronous call of one decoder with the replaced globals. Pictures
 * are shrunk to the `maxSide` of the call. A decoder keeps the first classes that it finds, so use the
 * same function for all its calls.
 */
export function shrinkingInPlace(): <T>(maxSide: number, call: () => T) => T {
  let currentMaxSide = 0
  const replacements = {
    Uint8ClampedArray: viewInsteadOfCopy,
    ImageData: imageDataOf(() => currentMaxSide),
  }
  return (maxSide, call) => {
    currentMaxSide = maxSide
    const originals = Object.keys(replacements).map(
      (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
    )
    for (const [name, value] of Object.entries(replacements)) {
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
    }
    try {
      return call()
    } finally {
      for (const [name, descriptor] of originals) {
        if (descriptor) Object.defineProperty(globalThis, name, descriptor)
        else Reflect.deleteProperty(globalThis, name)
      }
    }
  }
}

/** `Uint8ClampedArray`, but constructed from another view it shares that view's memory. */
const viewInsteadOfCopy = new Proxy(Uint8ClampedArray, {
  construct(original, [source, ...rest]) {
    if (ArrayBuffer.isView(source)) {
      return new original(source.buffer, source.byteOffset, source.byteLength)
    }
    return Reflect.construct(original, [source, ...rest])
  },
})

/** An `ImageData` that contains the shrunk picture, in memory of its own. */
const imageDataOf = (maxSide: () => number) =>
  class ImageData implements Raster {
    readonly width: number
    readonly height: number
    readonly data: Uint8ClampedArray

    constructor(data: Uint8ClampedArray, width: number, height: number) {
      const small = shrink({ data, width, height }, maxSide())
      this.width = small.width
      this.height = small.height
      this.data = small.data === data ? data.slice() : small.data
    }
  }
