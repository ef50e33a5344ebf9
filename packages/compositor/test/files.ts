// Image files for the compositor's tests: drawn, encoded and rotated.
import { detectFormat, type ImageFormat } from '@try-on/image-files'
import {
  CompositionError,
  createCodecs,
  createPerceiver,
  encodeJpeg,
  UnusableImage,
  type Tools,
} from '../src/index.ts'
import { perceptionModules, workerModules } from '../src/worker-modules.ts'
import type { ImageFile } from '../src/load.ts'
import {
  drawFigure,
  drawGarment,
  type FigureOptions,
  type GarmentOptions,
  type Rgba,
} from '../samples/index.ts'
import { encodePng, concat } from '@try-on/image-files/samples'
import { eachPixel } from './pixels.ts'

export const codecs = createCodecs(workerModules)

export const tools: Tools = {
  codecs,
  perceiver: () => createPerceiver(() => Promise.resolve(perceptionModules)),
}

/** The format is detected; `fallback` applies to bytes of no known format. */
export function toFile(bytes: Uint8Array, fallback: ImageFormat = 'jpeg'): ImageFile {
  return { bytes: Uint8Array.from(bytes), format: detectFormat(bytes) ?? fallback }
}

export const figure = (options: FigureOptions = {}) =>
  drawFigure({ width: 240, height: 360, grain: 0, light: 0, ...options })

export const garment = (options: GarmentOptions = {}) =>
  drawGarment({ width: 240, height: 270, colour: '#d02818', ...options })

export const png = async (picture: Rgba) => toFile(await encodePng(picture))

export const jpeg = async (picture: Rgba) => toFile(await encodeJpeg(picture, 92))

export const decode = ({ bytes, format }: ImageFile) => codecs.decode(bytes, format, 9999)

/** The code of an image error or of a refusal. Throws any other error, so that its test fails. */
export function codeOf(error: unknown): string {
  if (error instanceof UnusableImage) return `${error.role}_image_${error.problem}`
  if (error instanceof CompositionError) return error.code
  throw error
}

/** The same JPEG as a kind that only the library decodes: with an empty table for arithmetic coding. */
export const forLibrary = (file: Uint8Array): Uint8Array<ArrayBuffer> =>
  concat([file.subarray(0, 2), Uint8Array.of(0xff, 0xcc, 0, 2), file.subarray(2)])

/** The same JPEG with an EXIF orientation. */
export function withOrientation(file: Uint8Array, orientation: number): Uint8Array {
  const tiff = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1]
  const body = [0x45, 0x78, 0x69, 0x66, 0, 0, ...tiff, 0, orientation, 0, 0, 0, 0, 0, 0]
  const segment = Uint8Array.from([0xff, 0xe1, 0, body.length + 2, ...body])
  return concat([file.subarray(0, 2), segment, file.subarray(2)])
}

/** An upright picture as a camera with this orientation stores it. */
export function storedAs(picture: Rgba, orientation: number): Rgba {
  const swap = orientation >= 5
  const width = swap ? picture.height : picture.width
  const height = swap ? picture.width : picture.height
  const data = new Uint8ClampedArray(picture.data.length)
  eachPixel(picture.width, [0, 0, picture.width, picture.height], (at, x, y) => {
    const right = picture.width - 1 - x
    const low = picture.height - 1 - y
    // Row and column in the stored picture (table 6 of the EXIF specification).
    const [column, row] = [
      [x, y],
      [right, y],
      [right, low],
      [x, low],
      [y, x],
      [y, right],
      [low, right],
      [low, x],
    ][orientation - 1]!
    data.set(picture.data.subarray(at * 4, at * 4 + 4), (row! * width + column!) * 4)
  })
  return { width, height, data }
}
