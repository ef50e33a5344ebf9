// The photo in the size of its parsing, one plane for each channel.
import type { Raster } from '../raster.ts'

export interface Small {
  width: number
  height: number
  /** Red, green and blue from 0 to 255. */
  rgb: [Float32Array, Float32Array, Float32Array]
}

/** The mean of the photo's pixels under each pixel of the given size. */
export function averageTo(photo: Raster, width: number, height: number): Small {
  const rgb: Small['rgb'] = [
    new Float32Array(width * height),
    new Float32Array(width * height),
    new Float32Array(width * height),
  ]
  for (let y = 0, at = 0; y < height; y++) {
    const top = Math.min(photo.height - 1, Math.floor((y * photo.height) / height))
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * photo.height) / height))
    for (let x = 0; x < width; x++, at++) {
      const left = Math.min(photo.width - 1, Math.floor((x * photo.width) / width))
      const right = Math.max(left + 1, Math.floor(((x + 1) * photo.width) / width))
      let [red, green, blue] = [0, 0, 0]
      for (let row = top; row < bottom; row++) {
        for (
          let from = (row * photo.width + left) * 4;
          from < (row * photo.width + right) * 4;
          from += 4
        ) {
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
