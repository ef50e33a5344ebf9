// Distances within masks.
import type { Mask } from './regions.ts'

/** The distance of each pixel to the nearest pixel with value `of`, in pixels, nearly Euclidean. */
export function distanceTo({ width, height, data }: Mask, of: 0 | 1): Float32Array {
  const result = new Float32Array(data.length)
  for (let i = 0; i < data.length; i++) result[i] = data[i] === of ? 0 : 1e6
  const relax = (i: number, x: number, y: number, dx: number, dy: number, cost: number) => {
    const fromX = x + dx
    const fromY = y + dy
    if (fromX < 0 || fromX >= width || fromY < 0 || fromY >= height) return
    const offered = result[i + dy * width + dx]! + cost
    if (offered < result[i]!) result[i] = offered
  }
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      relax(i, x, y, -1, 0, 1)
      relax(i, x, y, -1, -1, Math.SQRT2)
      relax(i, x, y, 0, -1, 1)
      relax(i, x, y, 1, -1, Math.SQRT2)
    }
  }
  for (let y = height - 1, i = data.length - 1; y >= 0; y--) {
    for (let x = width - 1; x >= 0; x--, i--) {
      relax(i, x, y, 1, 0, 1)
      relax(i, x, y, 1, 1, Math.SQRT2)
      relax(i, x, y, 0, 1, 1)
      relax(i, x, y, -1, 1, Math.SQRT2)
    }
  }
  return result
}
