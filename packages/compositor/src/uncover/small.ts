// The photo in the size of its parsing, one plane for each channel.
import { labOf } from '../oklab.ts'
import type { Raster, Size } from '../raster.ts'

/** Red, green and blue. */
export type Channels = [Float32Array, Float32Array, Float32Array]

export interface Small extends Size {
  /** From 0 to 255. */
  rgb: Channels
}

export const createChannels = (pixels: number): Channels => [
  new Float32Array(pixels),
  new Float32Array(pixels),
  new Float32Array(pixels),
]

/** The mean of the photo's pixels under each pixel of the given size. */
export function averageTo(photo: Raster, { width, height }: Size): Small {
  const rgb = createChannels(width * height)
  for (let y = 0, at = 0; y < height; y++) {
    const top = Math.min(photo.height - 1, Math.floor((y * photo.height) / height))
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * photo.height) / height))
    for (let x = 0; x < width; x++, at++) {
      const left = Math.min(photo.width - 1, Math.floor((x * photo.width) / width))
      const right = Math.max(left + 1, Math.floor(((x + 1) * photo.width) / width))
      let red = 0
      let green = 0
      let blue = 0
      for (let row = top; row < bottom; row++) {
        const end = (row * photo.width + right) * 4
        for (let from = (row * photo.width + left) * 4; from < end; from += 4) {
          red += photo.data[from]!
          green += photo.data[from + 1]!
          blue += photo.data[from + 2]!
        }
      }
      const count = (bottom - top) * (right - left)
      rgb[0][at] = red / count
      rgb[1][at] = green / count
      rgb[2][at] = blue / count
    }
  }
  return { width, height, rgb }
}

/** The colour of a pixel in Oklab. */
export const labAt = ({ rgb }: Small, at: number) =>
  labOf(Math.round(rgb[0][at]!), Math.round(rgb[1][at]!), Math.round(rgb[2][at]!))
