// Hair, hands and forearms before a worn garment, such as a hand in a pocket: cloth is painted over them.
import type { UpperSide } from '../garment.ts'
import { distance } from '../lines.ts'
import { LABEL, type Parsing } from '../parsing.ts'
import { pauseInRows } from '../pause.ts'
import { createPlane, sample } from '../plane.ts'
import { lerp, markWhere, type Raster } from '../raster.ts'
import { membrane } from '../uncover/membrane.ts'
import { area, distanceTo, emptyMask, maskWhere, type Mask } from './mask.ts'
import { painted, regions } from './regions.ts'
import type { UpperShape } from './upper.ts'
import type { Wearer } from './wearer.ts'

/** How near to a wrist skin is a hand's, in half widths of the shoulders. */
const REACH = 0.5
/** Larger than this share of the cloth, too much of it would be painted. */
const LARGEST = 0.12
/** How far the shadow of a hand and single hairs reach, and from where on the cloth around has its own colours, in pixels. */
const SHADOW = 2
const HAIRS = 5
const CLEAN = 4
/** How far cloth rises above the joint of a shoulder, and how much more in the middle, in half widths of the shoulders. */
const RIDGE = { joint: 0.1, middle: 0.35 }

/** @returns the hands between the sides of the cloth; none when they hide too much of it */
export function handsBefore(
  { width, height, labels }: Parsing,
  { left, right, half }: Wearer,
  shape: UpperShape,
  cloth: Mask,
): Mask {
  const isInside = (i: number) => {
    const [x, y] = [i % width, Math.floor(i / width)]
    const [from, to] = [sideAt(shape.left, y), sideAt(shape.right, y)]
    return from !== null && to !== null && x > from && x < to
  }
  const skin = maskWhere({ width, height }, (i) => labels[i] === LABEL.skin && isInside(i))
  const isHand = (i: number) => {
    const point = { x: i % width, y: Math.floor(i / width) }
    return [left, right].some(({ wrist }) => distance(wrist, point) < REACH * half)
  }
  const pieces = regions(skin, 1).filter((pixels) => pixels.some(isHand))
  return grown(painted(emptyMask(skin), pieces, 1), SHADOW, cloth, isInside)
}

/** @returns the hair below the line of the shoulders with cloth beside it, on the outer side, and under its end */
export function hairBefore(
  { width, height, labels }: Parsing,
  { centre, half }: Wearer,
  cloth: Mask,
): Mask {
  const endsOnCloth = (from: number, step: number) => {
    let at = from
    while (labels[at] === LABEL.hair) at += step
    return cloth.data[at] === 1
  }
  const hair = maskWhere({ width, height }, (i) => {
    if (labels[i] !== LABEL.hair) return false
    const [x, y] = [(i % width) - centre.x, Math.floor(i / width) - centre.y]
    const rise = RIDGE.joint + RIDGE.middle * (1 - Math.abs(x) / half)
    return y > -rise * half && endsOnCloth(i, x < 0 ? -1 : 1) && endsOnCloth(i, width)
  })
  return grown(hair, HAIRS, cloth, (i) => hair.data[i] === 1 || cloth.data[i] === 1)
}

/** What hides cloth, and what is near it and passes the test; nothing when that is too much of the cloth. */
function grown(hidden: Mask, by: number, cloth: Mask, test: (i: number) => boolean): Mask {
  const share = area(hidden) / area(cloth)
  if (share === 0 || share > LARGEST) return emptyMask(hidden)
  const depth = distanceTo(hidden, 1)
  return maskWhere(hidden, (i) => depth[i]! <= by && test(i))
}

/** The x of a side at a height; null above the armpit and below the hem. */
function sideAt({ side }: UpperSide, y: number): number | null {
  const next = side.findIndex((point) => point.y > y)
  if (next <= 0) return null
  const [from, to] = [side[next - 1]!, side[next]!]
  return lerp(from.x, to.x, (y - from.y) / (to.y - from.y))
}

/**
 * Paints the colours of the cloth around over what hides it, in both sizes of the picture, in place.
 * @param cloth with what hides it
 */
export async function paintCloth(
  picture: Raster,
  small: Raster,
  cloth: Mask,
  hidden: Mask,
): Promise<void> {
  const { width, height } = hidden
  const depth = distanceTo(hidden, 1)
  const planes = [0, 1, 2].map((c) => {
    const plane = createPlane(width, height)
    for (let i = 0; i < depth.length; i++) plane.data[i] = small.data[i * 4 + c]!
    return plane
  })
  await membrane({
    width,
    height,
    planes: planes.map(({ data }) => data),
    known: markWhere(depth.length, (i) => cloth.data[i] === 1 && depth[i]! > CLEAN),
    domain: cloth.data,
  })
  for (const raster of new Set([picture, small])) {
    const scale = width / raster.width
    for (let y = 0, at = 0; y < raster.height; y++) {
      await pauseInRows(y, raster)
      for (let x = 0; x < raster.width; x++, at += 4) {
        const [sx, sy] = [(x + 0.5) * scale, (y + 0.5) * scale]
        const near = Math.floor(sy) * width + Math.min(width - 1, Math.floor(sx))
        if (hidden.data[near] !== 1) continue
        for (const [c, plane] of planes.entries()) raster.data[at + c] = sample(plane, sx, sy)
      }
    }
  }
}
