// How well an outline fits the picture that it was found in.
import { likeness, paletteOf } from '../assess/colours.ts'
import { directionOf, pointBeside } from '../lines.ts'
import { colourDistance, type Lab } from '../oklab.ts'
import { median } from '../plane.ts'
import { indexAt, type Point, type Raster } from '../raster.ts'
import { blurInPlace, smoothClosed } from '../smoothing.ts'
import { distanceTo, type Mask } from './mask.ts'
import { traceOutline } from './outline.ts'
import { keepLarge } from './regions.ts'

/** How far an outline is smoothed, in pixels. */
const SMOOTH = 6

/** How many pixels change their side when the outline is smoothed, for each pixel of the outline. */
export function raggednessOf(mask: Mask): number {
  const { width, data } = mask
  const soft = blurInPlace({ ...mask, data: new Float32Array(data) }, SMOOTH).data
  let changed = 0
  let outline = 0
  for (let i = 0; i < data.length; i++) {
    if (soft[i]! > 0.5 !== (data[i] === 1)) changed++
    if (data[i] === 1 && !(data[i - 1] && data[i + 1] && data[i - width] && data[i + width]))
      outline++
  }
  return changed / outline
}

/**
 * The outline is smoothed over `smooth` points on both sides, and has the direction between those `reach` away. The change
 * across it is that between points `apart` pixels from each other, the largest within `within` pixels.
 */
const ACROSS = { smooth: 3, reach: 3, apart: 3, within: 2 }
/** The change of an outline without an edge, in Oklab: at most this, in noises of the ground, and in usual changes. */
const EDGELESS = { change: 0.03, noises: 4, usual: 0.3 }

/**
 * The share of the outline of the largest piece across which the picture hardly changes. There, cloth was lost in the
 * ground, or ground was taken for cloth.
 * @param noise of the ground; on one without noise every difference is an edge
 */
export function edgelessShareOf(mask: Mask, lab: Lab, noise: number): number {
  const outline = smoothClosed(traceOutline(keepLarge(mask, 1)), ACROSS.smooth)
  const changes = outline.map((point, i) => changeAcross(lab, point, directionAt(outline, i)))
  if (changes.length === 0) return 0
  const limit = Math.min(EDGELESS.change, EDGELESS.noises * noise, EDGELESS.usual * median(changes))
  return changes.filter((change) => change < limit).length / changes.length
}

function directionAt(outline: readonly Point[], at: number): Point {
  // Outlines may have fewer points than the reach.
  const pointAt = (i: number) => outline.at(i % outline.length)!
  return directionOf(pointAt(at - ACROSS.reach), pointAt(at + ACROSS.reach))
}

/** Infinite where the picture ends. */
function changeAcross(lab: Lab, point: Point, { x, y }: Point): number {
  const across = { x: y, y: -x }
  let most = 0
  for (let off = -ACROSS.within; off <= ACROSS.within; off++) {
    const one = indexAt(lab, pointBeside(point, across, off - ACROSS.apart / 2))
    const other = indexAt(lab, pointBeside(point, across, off + ACROSS.apart / 2))
    if (one < 0 || other < 0) return Infinity
    most = Math.max(most, colourDistance(lab, one, [lab.L[other]!, lab.a[other]!, lab.b[other]!]))
  }
  return most
}

/**
 * Around the cloth, from and to so many pixels of the analysed picture, and the most that the palettes of both have in common:
 * of 13 tops on floors and carpets that are not symmetrical, six of seven that were cut out as a whole have at most 0.053 and
 * the seventh 0.106; five of six others have 0.119 and more.
 */
const AROUND = { from: 3, to: 60, alike: 0.11 }

/** Whether the ground around the cloth has other colours, so that no part of the cloth can be lost in it. */
export function differsFromAround(mask: Mask, picture: Raster): boolean {
  const away = distanceTo(mask, 1)
  const cloth = paletteOf(picture, (i) => mask.data[i] === 1)
  const around = paletteOf(picture, (i) => away[i]! > AROUND.from && away[i]! < AROUND.to)
  return likeness(cloth, around) < AROUND.alike
}
