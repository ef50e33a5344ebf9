// Reads the coefficients of a scan bit by bit (ITU-T T.81, F.2.2 and G.2).
import { QUICK_BITS, type DecodingTable } from './decoding-table.ts'
import { ZIGZAG } from './zigzag.ts'

/** The scan is damaged, or of an unusual kind. */
export class UnreadableScan extends Error {
  override readonly name = 'UnreadableScan'
}

/** The longest coefficients of 8-bit pictures, in bits. */
const MAX_SIZE = 11
const FIRST_RESTART = 0xd0
const END_OF_IMAGE = 0xd9

/** A block whose coefficients several scans have. */
interface Block {
  get(k: number): number
  set(k: number, value: number): void
}

/** From which coefficient to which a scan goes, without the first one of a block, and which is its lowest bit. */
interface Band {
  first: number
  last: number
  low: number
}

export class ScanReader {
  readonly #file: Uint8Array
  #at: number
  /** The next bits, the last of which is the lowest, and how many they are. */
  #bits = 0
  #count = 0
  /** How many of them are zeros that were added after the end of the data. */
  #added = 0
  readonly #restartInterval: number
  #units = 0
  /** How many of the next blocks have no other coefficients in this scan. */
  #emptyBlocks = 0

  constructor(file: Uint8Array, scan: { start: number; restartInterval: number }) {
    this.#file = file
    this.#at = scan.start
    this.#restartInterval = scan.restartInterval
  }

  /**
   * Begins a unit, after the restart marker that may precede it.
   * @returns whether there was one: means are counted from 0 then
   * @throws UnreadableScan
   */
  nextUnit(): boolean {
    const units = this.#units++
    if (units === 0 || this.#restartInterval === 0 || units % this.#restartInterval > 0)
      return false
    this.#restart(units / this.#restartInterval - 1)
    return true
  }

  /**
   * Reads the coefficients of a block, multiplied by `factors`, into `block`, which has to be zero.
   * @param previous the mean of the block before, in steps
   * @returns the mean of this block in steps
   * @throws UnreadableScan
   */
  readBlock(
    means: DecodingTable,
    others: DecodingTable,
    factors: Float64Array,
    block: Float64Array,
    previous: number,
  ): number {
    const mean = previous + this.#number(this.#symbol(means))
    block[0] = mean * factors[0]!
    for (let k = 1; k < 64; k++) {
      const symbol = this.#symbol(others)
      const size = symbol & 0x0f
      const zeros = symbol >> 4
      if (size === 0) {
        if (zeros < 15) break
        k += 15
        continue
      }
      k += zeros
      if (k > 63) throw new UnreadableScan('a block has more than 64 coefficients')
      block[ZIGZAG[k]!] = this.#number(size) * factors[k]!
    }
    return mean
  }

  /**
   * The mean of a block of which further scans follow, in steps.
   * @param previous the mean of the block before
   * @throws UnreadableScan
   */
  readMean(means: DecodingTable, previous: number): number {
    return previous + this.#number(this.#symbol(means))
  }

  /**
   * Reads a band of a block.
   * @throws UnreadableScan
   */
  readBand(others: DecodingTable, { first, last, low }: Band, block: Block): void {
    if (this.#emptyBlocks > 0) {
      this.#emptyBlocks--
      return
    }
    for (let k = Math.max(first, 1); k <= last; k++) {
      const symbol = this.#symbol(others)
      const size = symbol & 0x0f
      const zeros = symbol >> 4
      if (size === 0 && zeros < 15) {
        this.#emptyBlocks = (1 << zeros) - 1 + this.#unsigned(zeros)
        return
      }
      k += zeros
      if (k > last) throw new UnreadableScan('a block has too many coefficients')
      if (size > 0) block.set(k, this.#number(size) << low)
    }
  }

  /**
   * Adds the lowest bit of a band to its coefficients that are not zero, and those that begin with it.
   * @throws UnreadableScan
   */
  refineBand(others: DecodingTable, band: Band, block: Block): void {
    const { first, last, low } = band
    let k = first
    while (k <= last && this.#emptyBlocks === 0) {
      const symbol = this.#symbol(others)
      const size = symbol & 0x0f
      const zeros = symbol >> 4
      if (size === 0 && zeros < 15) {
        this.#emptyBlocks = (1 << zeros) + this.#unsigned(zeros)
        break
      }
      if (size > 1) throw new UnreadableScan('a new coefficient has more than one bit')
      const value = size === 0 ? 0 : this.bit() === 1 ? 1 << low : -1 << low
      k = this.#refine(block, k, band, zeros)
      if (k > last && value !== 0) throw new UnreadableScan('a block has too many coefficients')
      if (value !== 0) block.set(k, value)
      k++
    }
    if (this.#emptyBlocks === 0) return
    this.#refine(block, k, band, 64)
    this.#emptyBlocks--
  }

  /** @returns the place of the zero after so many others, or the one after `last` */
  #refine(block: Block, from: number, { last, low }: Band, zeros: number): number {
    let k = from
    for (let left = zeros; k <= last; k++) {
      const value = block.get(k)
      if (value === 0) {
        if (left-- === 0) break
      } else if (this.bit() === 1) block.set(k, value + (value > 0 ? 1 << low : -1 << low))
    }
    return k
  }

  bit(): number {
    return this.#unsigned(1)
  }

  /** Skips the restart marker that has to follow. @param count how many were before it */
  #restart(count: number): void {
    if (this.#nextMarker() !== FIRST_RESTART + (count % 8)) {
      throw new UnreadableScan('a restart marker is missing')
    }
    this.#at += 2
    this.#bits = 0
    this.#count = 0
    this.#added = 0
    this.#emptyBlocks = 0
  }

  /** @throws UnreadableScan when more was read than there is */
  check(): void {
    if (this.#added > this.#count) throw new UnreadableScan('the data of the scan is too short')
  }

  /** @throws UnreadableScan unless the image ends after the blocks that were read */
  end(): void {
    if (this.#nextMarker() !== END_OF_IMAGE) throw new UnreadableScan('the scan has no end')
  }

  /** Goes to the next marker: bytes before it were either read or are superfluous. */
  #nextMarker(): number {
    this.check()
    const file = this.#file
    while (this.#at + 1 < file.length) {
      const next = file[this.#at + 1]!
      if (file[this.#at] === 0xff && next !== 0 && next !== 0xff) return next
      this.#at++
    }
    return 0
  }

  #fill(): void {
    while (this.#count <= 24) {
      let byte = this.#at < this.#file.length ? this.#file[this.#at]! : 0xff
      if (byte !== 0xff) this.#at++
      else if (this.#file[this.#at + 1] === 0) this.#at += 2
      else {
        byte = 0
        this.#added += 8
      }
      this.#bits = (this.#bits << 8) | byte
      this.#count += 8
    }
  }

  #symbol({ quick, ends, offsets, symbols }: DecodingTable): number {
    if (this.#count < 16) this.#fill()
    const entry = quick[(this.#bits >>> (this.#count - QUICK_BITS)) & ((1 << QUICK_BITS) - 1)]!
    if (entry > 0) {
      this.#count -= entry >> 8
      return entry & 0xff
    }
    const next = (this.#bits >>> (this.#count - 16)) & 0xffff
    let length = QUICK_BITS + 1
    while (length <= 16 && next >= ends[length]!) length++
    if (length > 16) throw new UnreadableScan('the scan has an unknown code')
    this.#count -= length
    return symbols[(next >> (16 - length)) + offsets[length]!]!
  }

  /** The number of `size` bits that follows a symbol (table F.1). */
  #number(size: number): number {
    if (size === 0) return 0
    if (size > MAX_SIZE) throw new UnreadableScan('a coefficient is too large')
    const value = this.#unsigned(size)
    return value < 1 << (size - 1) ? value - (1 << size) + 1 : value
  }

  #unsigned(size: number): number {
    if (this.#count < size) this.#fill()
    this.#count -= size
    return (this.#bits >>> this.#count) & ((1 << size) - 1)
  }
}
