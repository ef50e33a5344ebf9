// Oklab, a colour space in which equal distances look about equally different (Björn Ottosson,
// 2020). L is lightness, a runs from green to red, b from blue to yellow.
import { median } from './plane.ts'
import type { Raster, Size } from './raster.ts'

export interface Lab extends Size {
  L: Float32Array
  a: Float32Array
  b: Float32Array
}

export type LabColour = readonly [L: number, a: number, b: number]

const LINEAR = Float32Array.from({ length: 256 }, (_, byte) => {
  const value = byte / 255
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
})

/** The three responses of the eye, of which Oklab's values are sums. */
const long = (r: number, g: number, b: number) =>
  Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
const medium = (r: number, g: number, b: number) =>
  Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
const short = (r: number, g: number, b: number) =>
  Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
const lightnessOf = (l: number, m: number, s: number) =>
  0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s
const greenToRed = (l: number, m: number, s: number) =>
  1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s
const blueToYellow = (l: number, m: number, s: number) =>
  0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s

/** sRGB bytes to Oklab. */
export function labOf(red: number, green: number, blue: number): LabColour {
  const r = LINEAR[red]!
  const g = LINEAR[green]!
  const b = LINEAR[blue]!
  const [l, m, s] = [long(r, g, b), medium(r, g, b), short(r, g, b)]
  return [lightnessOf(l, m, s), greenToRed(l, m, s), blueToYellow(l, m, s)]
}

/** Oklab to sRGB from 0 to 255, unrounded and possibly out of range. */
export function rgbOf(lightness: number, a: number, b: number): [number, number, number] {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    encode(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ]
}

const encode = (linear: number) =>
  255 * (linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055)

/** The median of each channel over some pixels. */
export function medianColour({ L, a, b }: Lab, pixels: readonly number[]): LabColour {
  const of = (channel: Float32Array) => median(pixels.map((i) => channel[i]!))
  return [of(L), of(a), of(b)]
}

/** Whether two colours differ by less than `light` in lightness and less than `tint` in the rest. */
export const isLike = (
  [L, a, b]: LabColour,
  other: LabColour,
  { light, tint }: { light: number; tint: number },
): boolean => Math.abs(L - other[0]) < light && Math.hypot(a - other[1], b - other[2]) < tint

/** How far a pixel is from a colour. */
export const colourDistance = (lab: Lab, i: number, [L, a, b]: LabColour) =>
  Math.hypot(lab.L[i]! - L, lab.a[i]! - a, lab.b[i]! - b)

/** A whole picture in Oklab, without alpha. */
export function toLab(picture: Raster): Lab {
  const { width, height, data } = picture
  const size = width * height
  const L = new Float32Array(size)
  const a = new Float32Array(size)
  const b = new Float32Array(size)
  for (let i = 0, at = 0; i < size; i++, at += 4) {
    // Grounds have many equal neighbours.
    if (
      i > 0 &&
      data[at] === data[at - 4] &&
      data[at + 1] === data[at - 3] &&
      data[at + 2] === data[at - 2]
    ) {
      L[i] = L[i - 1]!
      a[i] = a[i - 1]!
      b[i] = b[i - 1]!
      continue
    }
    const red = LINEAR[data[at]!]!
    const green = LINEAR[data[at + 1]!]!
    const blue = LINEAR[data[at + 2]!]!
    const l = long(red, green, blue)
    const m = medium(red, green, blue)
    const s = short(red, green, blue)
    L[i] = lightnessOf(l, m, s)
    a[i] = greenToRed(l, m, s)
    b[i] = blueToYellow(l, m, s)
  }
  return { width, height, L, a, b }
}
