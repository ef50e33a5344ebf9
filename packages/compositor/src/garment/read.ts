// Reads a product photo: cuts the cloth out and finds its landmarks.
import { toLab } from '../oklab.ts'
import { parse } from '../parsing.ts'
import type { Perceiver } from '../perception.ts'
import { flatten, shrink, type Raster } from '../raster.ts'
import { area, keepLarge, type Mask } from './regions.ts'
import { clothOf } from './cloth-mask.ts'
import { matteOf } from './matte.ts'
import { withoutLining } from './lining.ts'
import { wearerIn } from './wearer.ts'
import { wornShapeOf } from './worn.ts'
import { shapeOfGarment, startsWithWaist, type Shape } from './shape.ts'

/** The longest side at which the photo is analysed. */
const ANALYSIS_SIDE = 512

/**
 * @param perceiver finds a person who wears the garment
 * @returns null when nothing stands out from the ground, or what does cannot be a garment
 */
export function readPhoto(picture: Raster, perceiver: Perceiver): Read | null {
  if (picture.width < 8 || picture.height < 8) return null
  const small = opaque(shrink(picture, ANALYSIS_SIDE))
  const perception = perceiver.perceive(small)
  const wearer = wearerIn(perception)
  if (!wearer) return readFlat(picture)
  const found = wornShapeOf(parse(small, perception), wearer)
  return found && finished(found.shape, found.mask, small, picture)
}

type Read = Shape & { picture: Raster }

/** The models and the parsing know no transparency. */
function opaque(picture: Raster): Raster {
  const copy = { ...picture, data: picture.data.slice() }
  flatten(copy)
  return copy
}

/** @returns null when nothing stands out from the ground, or what does cannot be a garment */
export function readFlat(picture: Raster): Read | null {
  const small = shrink(picture, ANALYSIS_SIDE)
  const whole = maskOf(small)
  const share = area(whole) / (whole.width * whole.height)
  if (share < 0.01 || share > 0.985) return null
  const mask = startsWithWaist(whole) ? whole : withoutLining(toLab(small), whole)
  const shape = shapeOfGarment(mask)
  if (!shape) return null
  return finished(shape, mask, small, picture)
}

function finished(shape: Shape, mask: Mask, small: Raster, picture: Raster): Read {
  return { ...scaled(shape, picture.width / mask.width), picture: matteOf(picture, small, mask) }
}

function maskOf(picture: Raster): Mask {
  return transparentBorder(picture) ? maskOfAlpha(picture) : clothOf(toLab(picture))
}

function transparentBorder({ width, height, data }: Raster): boolean {
  let clear = 0
  let total = 0
  for (let i = 0; i < width * height; i++) {
    const x = i % width
    const inside = x > 0 && x < width - 1 && i >= width && i < width * (height - 1)
    if (inside) continue
    total++
    if (data[i * 4 + 3]! < 128) clear++
  }
  return clear > total * 0.5
}

function maskOfAlpha({ width, height, data }: Raster): Mask {
  const bytes = new Uint8Array(width * height)
  for (let i = 0; i < bytes.length; i++) bytes[i] = data[i * 4 + 3]! >= 128 ? 1 : 0
  return keepLarge({ width, height, data: bytes }, 0.04)
}

/** The same with all lengths multiplied. */
function scaled<T>(value: T, factor: number): T {
  if (typeof value === 'number') return (value * factor) as T
  if (Array.isArray(value)) return value.map((item) => scaled(item, factor)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, scaled(part, factor)]),
  ) as T
}
