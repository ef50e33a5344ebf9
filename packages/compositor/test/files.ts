// Picture files for the compositor's tests: drawn, encoded, turned, broken.
import { createCodecs } from '../src/codecs.ts'
import { workerModules } from '../src/worker-modules.ts'
import type { CheckedImage, EngineInput } from '../../../src/engines/engine.ts'
import { detectFormat, type ImageFormat } from '@try-on/image-files'
import type { Rgba } from '../samples/canvas.ts'
import { drawFigure, type FigureOptions } from '../samples/figure.ts'
import { drawGarment, type GarmentOptions } from '../samples/garment.ts'
import { encodePng, join } from '../../image-files/samples/png.ts'

export const codecs = createCodecs(workerModules)

/** As the job hands pictures over; `claimed` is what an unrecognisable file is said to be. */
export function checked(bytes: Uint8Array, claimed: ImageFormat = 'jpeg'): CheckedImage {
  return {
    bytes: Uint8Array.from(bytes),
    format: detectFormat(bytes) ?? claimed,
    url: () => Promise.reject(new Error('the compositor fetches nothing')),
  }
}

export const job = (model: CheckedImage, garment: CheckedImage): EngineInput => ({
  jobId: 'job_1',
  model,
  garment,
})

export const figure = (options: FigureOptions = {}) =>
  drawFigure({ width: 240, height: 360, grain: 0, light: 0, ...options })

export const garment = (options: GarmentOptions = {}) =>
  drawGarment({ width: 240, height: 270, colour: '#d02818', ...options })

export const png = async (picture: Rgba) => checked(await encodePng(picture))

export const jpeg = async (picture: Rgba) => checked(await codecs.encodeJpeg(picture, 92))

export const decode = ({ bytes, format }: Pick<CheckedImage, 'bytes' | 'format'>) =>
  codecs.decode(bytes, format, 9999)

/** The same JPEG with an EXIF block that says how to turn it. */
export function withOrientation(file: Uint8Array, orientation: number): Uint8Array {
  const tiff = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1]
  const body = [0x45, 0x78, 0x69, 0x66, 0, 0, ...tiff, 0, orientation, 0, 0, 0, 0, 0, 0]
  const segment = Uint8Array.from([0xff, 0xe1, 0, body.length + 2, ...body])
  return join([file.subarray(0, 2), segment, file.subarray(2)])
}

/** Turns an upright picture into how a camera with this orientation would have stored it. */
export function storedAs(picture: Rgba, orientation: number): Rgba {
  const swap = orientation >= 5
  const width = swap ? picture.height : picture.width
  const height = swap ? picture.width : picture.height
  const data = new Uint8ClampedArray(picture.data.length)
  for (let y = 0; y < picture.height; y++) {
    for (let x = 0; x < picture.width; x++) {
      const right = picture.width - 1 - x
      const low = picture.height - 1 - y
      // Row and column of the stored picture, as table 6 of the EXIF specification has them.
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
      const from = (y * picture.width + x) * 4
      data.set(picture.data.subarray(from, from + 4), (row! * width + column!) * 4)
    }
  }
  return { width, height, data }
}
