// Contact sheets: pictures side by side on white.
import { sample, type Plane } from '../../src/plane.ts'
import { shrink, type Raster } from '../../src/raster.ts'

/** A white picture. */
export const blank = (width: number, height: number): Raster => ({
  width,
  height,
  data: new Uint8ClampedArray(width * height * 4).fill(255),
})

/** Draws a picture in place; what does not fit is cut off. Transparent pixels show a chequered ground. */
export function paste(target: Raster, picture: Raster, left: number, top: number): void {
  for (let y = 0; y < Math.min(picture.height, target.height - top); y++) {
    for (let x = 0; x < Math.min(picture.width, target.width - left); x++) {
      const from = (y * picture.width + x) * 4
      const to = ((top + y) * target.width + left + x) * 4
      const alpha = picture.data[from + 3]! / 255
      const ground = ((x >> 3) + (y >> 3)) % 2 === 0 ? 235 : 205
      for (let c = 0; c < 3; c++) {
        target.data[to + c] = picture.data[from + c]! * alpha + ground * (1 - alpha)
      }
    }
  }
}

/** The largest copy that fits into the box, with the same proportions; small pictures are enlarged. */
export function fitInto(picture: Raster, width: number, height: number): Raster {
  const scale = Math.min(width / picture.width, height / picture.height)
  const longest = Math.max(1, Math.round(scale * Math.max(picture.width, picture.height)))
  return scale <= 1 ? shrink(picture, longest) : enlarge(picture, scale)
}

/** Half as wide and half as high. */
export const half = (picture: Raster) =>
  shrink(picture, Math.max(1, Math.floor(Math.max(picture.width, picture.height) / 2)))

/** Pictures of equal size in rows. */
export function grid(pictures: readonly Raster[], columns: number): Raster {
  const width = pictures[0]?.width ?? 1
  const height = pictures[0]?.height ?? 1
  const result = blank(
    width * Math.min(columns, Math.max(1, pictures.length)),
    height * Math.ceil(pictures.length / columns),
  )
  pictures.forEach((picture, i) => {
    paste(result, picture, (i % columns) * width, Math.floor(i / columns) * height)
  })
  return result
}

function enlarge(picture: Raster, scale: number): Raster {
  const result = blank(
    Math.max(1, Math.round(picture.width * scale)),
    Math.max(1, Math.round(picture.height * scale)),
  )
  for (let c = 0; c < 4; c++) {
    const plane: Plane = {
      width: picture.width,
      height: picture.height,
      data: Float32Array.from(
        { length: picture.data.length / 4 },
        (_, i) => picture.data[i * 4 + c]!,
      ),
    }
    for (let y = 0, at = c; y < result.height; y++) {
      for (let x = 0; x < result.width; x++, at += 4) {
        result.data[at] = sample(plane, (x + 0.5) / scale, (y + 0.5) / scale)
      }
    }
  }
  return result
}
