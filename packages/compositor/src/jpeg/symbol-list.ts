// The symbols of a picture in the order of the file, until their codes are known.

/** Kinds of symbols, each with codes of its own: means and other coefficients, of luma and of chroma. */
const KINDS = 4
const SYMBOLS = 256

export class SymbolList {
  length = 0
  /** The kind and the symbol in the upper 16 bits, and what follows the code in the lower ones. */
  entries = new Uint32Array(1 << 18)
  readonly #frequencies = new Uint32Array(KINDS * SYMBOLS)

  /** Adds a symbol. Its lower four bits are the number of bits that follow its code. */
  add(kind: number, symbol: number, bits: number): void {
    if (this.length === this.entries.length) this.#grow()
    const place = kind * SYMBOLS + symbol
    this.#frequencies[place] = this.#frequencies[place]! + 1
    this.entries[this.length++] = (place << 16) | bits
  }

  /** Adds a coefficient of at most 15 bits, and how many zeros precede it (T.81, F.1.2). */
  addNumber(kind: number, zeros: number, value: number): void {
    const size = 32 - Math.clz32(Math.abs(value))
    const bits = value < 0 ? value + (1 << size) - 1 : value
    this.add(kind, (zeros << 4) | size, bits)
  }

  /** How often each symbol occurs, for each kind. */
  frequencies(): Uint32Array[] {
    return Array.from({ length: KINDS }, (_, kind) =>
      this.#frequencies.subarray(kind * SYMBOLS, (kind + 1) * SYMBOLS),
    )
  }

  /** The size of the compressed data, without stuffed bytes. @param lengths of all codes in bits */
  bytes(lengths: Uint8Array): number {
    const bits = this.#frequencies.reduce(
      (sum, frequency, place) => sum + frequency * (lengths[place]! + (place & 0x0f)),
      0,
    )
    return Math.ceil(bits / 8)
  }

  #grow(): void {
    const entries = new Uint32Array(this.entries.length * 2)
    entries.set(this.entries)
    this.entries = entries
  }
}
