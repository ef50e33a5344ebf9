// Hair, hands and forearms before a worn garment, such as a hand in a pocket: cloth is painted over them.
import type { UpperSide } from '../garment.ts'
import { distance } from '../lines.ts'
import { LABEL, type Parsing } from '../parsing.ts'
import { pauseInRows } from '../pause.ts'
import { sample } from '../plane.ts'
import { clamp, lerp, markWhere, type Raster } from '../raster.ts'
import { completeFromExemplars } from '../uncover/exemplars.ts'
import { membrane } from '../uncover/membrane.ts'
import { createChannels, type Small } from '../uncover/small.ts'
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
 * Paints cloth like that around over what hides it, in both sizes of the picture, in place: its colours go on smoothly, and
 * what is finer comes from a place that looks alike.
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
  const rgb = createChannels(width * height)
  for (const [c, plane] of rgb.entries()) {
    for (let i = 0; i < plane.length; i++) plane[i] = small.data[i * 4 + c]!
  }
  const known = markWhere(depth.length, (i) => cloth.data[i] === 1 && depth[i]! > CLEAN)
  const hole = markWhere(depth.length, (i) => cloth.data[i] === 1 && known[i] === 0)
  await membrane({ width, height, planes: rgb, known, domain: cloth.data })
  const sources = await completeFromExemplars({ width, height, rgb, known, hole })
  const seen = { width, height, rgb }
  for (const raster of new Set([picture, small])) await drawHidden(raster, seen, hidden, sources)
}

/** Draws what is hidden, in place, in the colours that were found, with what is finer in the picture at their sources. */
async function drawHidden(
  picture: Raster,
  { width, height, rgb }: Small,
  hidden: Mask,
  sources: Int32Array,
): Promise<void> {
  const planes = rgb.map((data) => ({ width, height, data }))
  const scale = width / picture.width
  const inside = (place: number, end: number) => clamp(Math.round(place), 0, end - 1)
  for (let y = 0, to = 0; y < picture.height; y++) {
    await pauseInRows(y, picture)
    for (let x = 0; x < picture.width; x++, to += 4) {
      const [sx, sy] = [(x + 0.5) * scale, (y + 0.5) * scale]
      const at = Math.floor(sy) * width + Math.min(width - 1, Math.floor(sx))
      if (hidden.data[at] !== 1) continue
      const source = sources[at]!
      const dx = (source % width) - (at % width)
      const dy = Math.floor(source / width) - Math.floor(at / width)
      const column = inside(x + dx / scale, picture.width)
      const from = (inside(y + dy / scale, picture.height) * picture.width + column) * 4
      for (const [c, plane] of planes.entries()) {
        const fine = source < 0 ? 0 : picture.data[from + c]! - sample(plane, sx + dx, sy + dy)
        picture.data[to + c] = sample(plane, sx, sy) + fine
      }
    }
  }
}
