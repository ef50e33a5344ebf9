// The coefficients of pictures of which each scan has a part: of progressive ones, and of those with a scan for each
// component. They are in memory until the last scan, as far as the transform to the target's size needs them.
import { pauseInRows } from '../pause.ts'
import type { Component, Frame, Scan, ScanPart } from './frame.ts'
import { ScanReader } from './scan-reader.ts'

/** The blocks of a component, row by row, each in the order of the file, in steps. */
export class Coefficients {
  /** The blocks of a row, those beyond the picture included. */
  readonly stride: number
  /** How many coefficients of a block have a value, the first ones. Of the others only is known whether they are 0. */
  readonly count: number
  readonly #values: Int16Array
  readonly #others: Uint8Array
  #block = 0

  constructor(stride: number, rows: number, count: number) {
    this.stride = stride
    this.count = count
    this.#values = new Int16Array(stride * rows * count)
    this.#others = new Uint8Array(count < 64 ? stride * rows * 8 : 0)
  }

  /** Goes to a block. */
  to(column: number, row: number): this {
    this.#block = row * this.stride + column
    return this
  }

  /** A coefficient of the block; any number but 0 for one without a value that is not 0. */
  get(k: number): number {
    if (k < this.count) return this.#values[this.#block * this.count + k]!
    return this.#others[this.#block * 8 + (k >> 3)]! & (1 << (k & 7))
  }

  set(k: number, value: number): void {
    if (k < this.count) this.#values[this.#block * this.count + k] = value
    else if (value !== 0) {
      const at = this.#block * 8 + (k >> 3)
      this.#others[at] = this.#others[at]! | (1 << (k & 7))
    }
  }
}

/**
 * @param units of the picture, across and down
 * @param counts how many coefficients of a block are needed, for each component
 * @throws UnreadableScan
 */
export async function readCoefficients(
  file: Uint8Array,
  frame: Frame,
  units: { across: number; down: number },
  counts: readonly number[],
): Promise<Coefficients[]> {
  const all = frame.components.map(
    ({ columns, rows }, i) =>
      new Coefficients(units.across * columns, units.down * rows, counts[i]!),
  )
  for (const scan of frame.scans) {
    const reader = new ScanReader(file, scan)
    const means = frame.components.map(() => 0)
    // The units of a scan with one component are the blocks that the picture covers.
    const only = scan.parts.length === 1 ? frame.components[scan.parts[0]!.index]! : null
    const size = only ? blocksOf(frame, only) : units
    for (let y = 0; y < size.down; y++) {
      for (let x = 0; x < size.across; x++) {
        if (reader.nextUnit()) means.fill(0)
        for (const part of scan.parts) {
          const { columns, rows } = only ? ONE : frame.components[part.index]!
          for (let row = y * rows; row < (y + 1) * rows; row++) {
            for (let column = x * columns; column < (x + 1) * columns; column++) {
              readBlock(reader, scan, part, all[part.index]!.to(column, row), means)
            }
          }
        }
      }
      reader.check()
      await pauseInRows(y, { width: size.across * 64 })
    }
  }
  return all
}

const ONE = { columns: 1, rows: 1 }

/** The blocks of a component that the picture covers (ITU-T T.81, A.2.2). */
function blocksOf({ width, height, components }: Frame, { columns, rows }: Component) {
  const most = components[0]!
  return {
    across: Math.ceil((width * columns) / most.columns / 8),
    down: Math.ceil((height * rows) / most.rows / 8),
  }
}

/** @param means of the last block of each component in steps, without the lower bits */
function readBlock(
  reader: ScanReader,
  scan: Scan,
  { index, means: codes, others }: ScanPart,
  block: Coefficients,
  means: number[],
): void {
  const { first, last, low, refines } = scan
  if (first === 0 && refines) block.set(0, block.get(0) | (reader.bit() << low))
  else if (first === 0) {
    means[index] = reader.readMean(codes!, means[index]!)
    block.set(0, means[index] << low)
  }
  if (last === 0) return
  if (refines) reader.refineBand(others!, scan, block)
  else reader.readBand(others!, scan, block)
}
