// The coefficients of pictures of which each scan has a part: of progressive ones, and of those with a scan for each
// component. All of them are in memory until the last scan: 3 bytes a pixel with chroma in half resolution, 6 in full.
import { pauseInRows } from '../pause.ts'
import type { Component, Frame, Scan, ScanPart } from './frame.ts'
import { ScanReader } from './scan-reader.ts'

/** The blocks of a component, row by row, each in the order of the file, in steps. */
export interface Coefficients {
  data: Int16Array
  /** The blocks of a row, those beyond the picture included. */
  stride: number
}

/**
 * @param units of the picture, across and down
 * @throws UnreadableScan
 */
export async function readCoefficients(
  file: Uint8Array,
  frame: Frame,
  units: { across: number; down: number },
): Promise<Coefficients[]> {
  const all = frame.components.map(({ columns, rows }) => ({
    data: new Int16Array(units.across * columns * units.down * rows * 64),
    stride: units.across * columns,
  }))
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
          const { data, stride } = all[part.index]!
          const { columns, rows } = only ? ONE : frame.components[part.index]!
          for (let row = y * rows; row < (y + 1) * rows; row++) {
            for (let column = x * columns; column < (x + 1) * columns; column++) {
              readBlock(reader, scan, part, data, (row * stride + column) * 64, means)
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
  data: Int16Array,
  at: number,
  means: number[],
): void {
  const { first, last, low, refines } = scan
  if (first === 0 && refines) data[at] = data[at]! | (reader.bit() << low)
  else if (first === 0) {
    means[index] = reader.readMean(codes!, means[index]!)
    data[at] = means[index] << low
  }
  if (last === 0) return
  if (refines) reader.refineBand(others!, scan, data, at)
  else reader.readBand(others!, scan, data, at)
}
