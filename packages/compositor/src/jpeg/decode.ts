// Decodes usual JPEGs in rows of blocks, with pauses between them, and shrinks them meanwhile: by the
// transform to half, a quarter or an eighth, the rest row by row. A picture never exists in full size. Of progressive
// ones the coefficients that the transform needs do.
import { pauseInRows } from '../pause.ts'
import { fit, Shrinker, type Raster, type Size } from '../raster.ts'
import { readCoefficients, type Coefficients } from './coefficients.ts'
import { readFrame, type Component, type Frame, type Scan, type ScanPart } from './frame.ts'
import { INVERSE_TRANSFORMS, type BlockSide, type InverseTransform } from './inverse-transform.ts'
import { ScanReader, UnreadableScan } from './scan-reader.ts'
import { writeRow, type Plane } from './rows.ts'
import { ZIGZAG } from './zigzag.ts'

/**
 * Decodes and shrinks to `maxSide`.
 * @returns null for kinds that it does not read, such as RGB, and for damaged files
 */
export async function decodeJpeg(file: Uint8Array, maxSide: number): Promise<Raster | null> {
  const frame = readFrame(file)
  if (!frame) return null
  try {
    return await decodeFrame(file, frame, fit(frame, maxSide))
  } catch (error) {
    if (error instanceof UnreadableScan) return null
    throw error
  }
}

async function decodeFrame(file: Uint8Array, frame: Frame, target: Size): Promise<Raster> {
  const side = sideFor(frame, target)
  const size = { width: scaled(frame.width, side), height: scaled(frame.height, side) }
  const [columns, rows] = [frame.components[0]!.columns, frame.components[0]!.rows]
  const unit = { width: 8 * columns, height: 8 * rows }
  const across = Math.ceil(frame.width / unit.width)
  const down = Math.ceil(frame.height / unit.height)
  const scan = wholeScan(frame)
  const reader = scan && new ScanReader(file, scan)
  const channels = frame.components.map((component, i) => ({
    ...createChannel(component, side, across, { columns, rows }, size),
    codes: scan?.parts[i] ?? null,
  }))
  const counts = channels.map(({ factors }) => factors.findLastIndex((factor) => factor !== 0) + 1)
  const stored = scan ? [] : await readCoefficients(file, frame, { across, down }, counts)
  const planes = channels.map(({ plane }) => plane)
  const shrinker = new Shrinker(size, target)
  const row = new Uint8ClampedArray(size.width * 4).fill(255)
  let written = 0
  for (let y = 0; y < down; y++) {
    for (let x = 0; x < across; x++) {
      if (reader?.nextUnit()) for (const channel of channels) channel.mean = 0
      for (let i = 0; i < channels.length; i++) readUnit(reader, channels[i]!, stored[i], x, y)
    }
    reader?.check()
    // The last row may depend on chroma below it.
    const ready = y + 1 === down ? size.height : (y + 1) * rows * side - 1
    for (; written < ready; written++) {
      writeRow(planes, written, row)
      shrinker.add(row)
    }
    await pauseInRows(y, { width: frame.width * unit.height })
  }
  reader?.end()
  return shrinker.picture
}

/** The only scan of a picture, when it has all components: its blocks are complete one after the other. */
function wholeScan({ scans, components }: Frame): Scan | null {
  const [scan] = scans
  return scans.length === 1 && scan!.parts.length === components.length && scan!.last === 63
    ? scan!
    : null
}

/** The smallest side of transformed blocks with which the picture is not smaller than the target. */
function sideFor(frame: Size, target: Size): BlockSide {
  const isEnough = (side: BlockSide) =>
    scaled(frame.width, side) >= target.width && scaled(frame.height, side) >= target.height
  return ([1, 2, 4] as const).find(isEnough) ?? 8
}

const scaled = (length: number, side: BlockSide) => Math.ceil((length * side) / 8)

/** A component while it is decoded. */
interface Channel {
  component: Component
  plane: Plane
  side: BlockSide
  transform: InverseTransform
  /** Quantisation and scale of the transform, in the order of the file. */
  factors: Float64Array
  /** The mean of the last block in steps. */
  mean: number
  /** The codes of the only scan. */
  codes: ScanPart | null
}

/** @param most the blocks of a unit in luma */
function createChannel(
  component: Component,
  lumaSide: BlockSide,
  across: number,
  most: { columns: number; rows: number },
  size: Size,
): Omit<Channel, 'codes'> {
  // Chroma in half resolution is reduced less, as far as blocks are large enough.
  const isHalf = component.columns < most.columns && component.rows < most.rows
  const side = isHalf && lumaSide < 8 ? ((lumaSide * 2) as BlockSide) : lumaSide
  const half = {
    across: most.columns * lumaSide > component.columns * side,
    down: most.rows * lumaSide > component.rows * side,
  }
  const transform = INVERSE_TRANSFORMS[side]
  const factors = Float64Array.from(component.steps, (step, k) => {
    const place = ZIGZAG[k]!
    return step * (transform.scale[place >> 3] ?? 0) * (transform.scale[place & 7] ?? 0)
  })
  const stride = across * component.columns * side
  // Two rows of units: chroma is interpolated between rows of both.
  const rows = 2 * component.rows * side
  const plane = {
    data: new Uint8ClampedArray(stride * rows),
    stride,
    rows,
    half,
    line: new Uint8ClampedArray(2 * stride),
    width: Math.ceil(size.width / (half.across ? 2 : 1)),
    height: Math.ceil(size.height / (half.down ? 2 : 1)),
  }
  return { component, plane, side, transform, factors, mean: 0 }
}

const block = new Float64Array(64)

/**
 * Reads and transforms the blocks of one component in a unit.
 * @param stored the coefficients of all scans, unless there is only one
 * @throws UnreadableScan
 */
function readUnit(
  reader: ScanReader | null,
  channel: Channel,
  stored: Coefficients | undefined,
  x: number,
  y: number,
): void {
  const { component, plane, side, transform, factors, codes } = channel
  const { columns, rows } = component
  for (let row = y * rows; row < (y + 1) * rows; row++) {
    for (let column = x * columns; column < (x + 1) * columns; column++) {
      block.fill(0)
      if (reader && codes) {
        channel.mean = reader.readBlock(codes.means!, codes.others!, factors, block, channel.mean)
      } else if (stored) {
        loadBlock(stored.to(column, row), factors)
      }
      block[0] = block[0]! + 128
      const top = (row * side) % plane.rows
      transform.run(block, plane.data, top * plane.stride + column * side, plane.stride)
    }
  }
}

function loadBlock(stored: Coefficients, factors: Float64Array): void {
  for (let k = 0; k < stored.count; k++) {
    const steps = stored.get(k)
    if (steps !== 0) block[ZIGZAG[k]!] = steps * factors[k]!
  }
}
