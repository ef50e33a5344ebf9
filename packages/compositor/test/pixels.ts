// Pictures of a colour or of noise, and comparisons of their pixels.
import { expect } from 'vitest'
import { createRandom, type Rgba } from '../samples/index.ts'

export type Box = readonly [left: number, top: number, right: number, bottom: number]

/** A picture of one colour with its alpha. */
export const plain = (width: number, height: number, colour: readonly number[]): Rgba => ({
  width,
  height,
  data: Uint8ClampedArray.from({ length: width * height * 4 }, (_, i) => colour[i % 4]!),
})

/** An opaque picture of random colours, the same in every run. */
export function noise(width: number, height: number): Rgba {
  const random = createRandom(3)
  const data = Uint8ClampedArray.from({ length: width * height * 4 }, (_, i) =>
    i % 4 === 3 ? 255 : random() * 256,
  )
  return { width, height, data }
}

/** Red, green and blue. */
export const pixel = ({ width, data }: Rgba, x: number, y: number): number[] => [
  ...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3),
]

/** The mean and the largest difference of red, green and blue. */
export function differences(one: Rgba, other: Rgba): { mean: number; most: number } {
  expect([one.width, one.height]).toEqual([other.width, other.height])
  let [sum, most] = [0, 0]
  for (let i = 0; i < one.data.length; i++) {
    const difference = Math.abs(one.data[i]! - other.data[i]!)
    sum += difference
    most = Math.max(most, difference)
  }
  return { mean: sum / ((one.data.length * 3) / 4), most }
}

/** Visits each pixel of a rectangle in a picture of this width, with its index. */
export function eachPixel(
  width: number,
  [left, top, right, bottom]: Box,
  visit: (at: number, x: number, y: number) => void,
): void {
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) visit(y * width + x, x, y)
  }
}
