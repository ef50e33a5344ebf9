// Types of `.wasm` and `.bin` imports and of the codec loaders. The loaders' own types depend on the DOM and on
// undeclared globals.
declare module '*.wasm' {
  const module: WebAssembly.Module
  export default module
}

// Declared by name: a declaration file in the package describes its exports instead.
declare module '@jsquash/png/codec/pkg/squoosh_png_bg.wasm' {
  const module: WebAssembly.Module
  export default module
}

interface CodecOptions {
  noInitialRun: true
  printErr(message: string): void
  instantiateWasm(
    imports: WebAssembly.Imports,
    ready: (instance: WebAssembly.Instance) => void,
  ): WebAssembly.Exports
}

interface DecodedPixels {
  width: number
  height: number
  data: Uint8ClampedArray
}

declare module '@jsquash/jpeg/codec/dec/mozjpeg_dec.js' {
  export default function load(options: CodecOptions): Promise<{
    decode(bytes: Uint8Array, preserveOrientation: boolean): DecodedPixels | null
  }>
}

declare module '@jsquash/webp/codec/dec/webp_dec.js' {
  export default function load(options: CodecOptions): Promise<{
    decode(bytes: Uint8Array): DecodedPixels | null
  }>
}

declare module '*.bin' {
  const bytes: ArrayBuffer
  export default bytes
}
