// Which pixels of a product photo are cloth.
import type { Lab } from '../oklab.ts'
import { clamp } from '../raster.ts'
import { area, floodThick, keepLarge, regions, type Mask, type Region } from './regions.ts'
import { distanceTo } from './distance.ts'
import { edgesOf, linksOf, type Edges } from './edges.ts'
import { groundAround, groundOf, type Ground } from './ground.ts'
import { fillPrints, gapTest, touchesBorder } from './holes.ts'
import { minimumCut } from './max-flow.ts'

/** The cost of calling a pixel of the ground's colour cloth. */
const PRIOR = 1
/** The most that a pixel's colour can say against ground. */
const MOST = 14
/** The cost of calling a pixel ground that a closed outline divides from the ground around. */
const ENCLOSED = 0.25
/** The noise below which the ground has one exact colour. */
const EXACT = 0.001
/** The squared colour change over three pixels from which a surface is grained. */
const GRAIN = 0.0018 ** 2

/** The cloth by colour and edges, on a ground that is plain or changes slowly. */
export function clothOf(lab: Lab): Mask {
  const edges = edgesOf(lab)
  let ground = groundOf(lab)
  let plain = plainOf(ground, edges)
  let colour = cutByColour(ground, edges, plain)
  if (!ground.exact) {
    ground = groundAround(ground, lab, fillPrints(colour, plain))
    plain = plainOf(ground, edges)
    colour = cutByColour(ground, edges, plain)
  }
  const first = fillPrints(keepLarge(colour, 0.04), plain)
  return fillPrints(keepLarge(withoutShadow(first, ground, edges), 0.04), plain)
}

function cutByColour(ground: Ground, edges: Edges, plain: Mask): Mask {
  const { width, height } = edges
  const spread = clamp(ground.noise * 1.5, 0.005, 0.05)
  const terminal = new Float32Array(width * height)
  for (let i = 0; i < terminal.length; i++) {
    const off = ground.distance[i]! / spread
    terminal[i] = Math.min(MOST, (off * off) / 2) - PRIOR
  }
  for (const { pixels } of enclosedBy(terminal, plain, ground.noise < EXACT)) {
    for (const i of pixels) terminal[i] = Math.max(terminal[i]!, ENCLOSED)
  }
  const links = linksOf(edges, clamp(ground.noise * 3, 0.008, 0.08))
  return { width, height, data: minimumCut({ width, height, terminal, links }) }
}

/** Pixels that look just like the ground. */
function plainOf(ground: Ground, { width, height, right, down }: Edges): Mask {
  const limit = clamp(ground.noise * 1.5, 0.0055, 0.05)
  const exact = ground.noise < EXACT
  const data = new Uint8Array(width * height)
  for (let i = 0; i < data.length; i++) {
    if (ground.distance[i]! > limit) continue
    // On a ground of one exact colour, what is nearly of this colour but grained is cloth.
    const grained = right[i]! > GRAIN || down[i]! > GRAIN
    if (!exact || !grained || ground.distance[i]! < 0.0025) data[i] = 1
  }
  return { width, height, data }
}

/** Large regions of the ground's colour inside an outline, such as the inside of a white shirt on white. */
function enclosedBy(terminal: Float32Array, plain: Mask, exact: boolean): Region[] {
  const { width, height } = plain
  const passable = {
    width,
    height,
    data: plain.data.map((value, i) => (terminal[i]! < 0 ? value : 0)),
  }
  const outside = floodThick(passable, 2, 'all borders')
  const sealed = {
    width,
    height,
    data: outside.data.map((value, i) => (value === 0 && terminal[i]! < 0 ? 1 : 0)),
  }
  const inside = { width, height, data: outside.data.map((value) => 1 - value) }
  const least = area(inside) * 0.015
  const isGap = gapTest(inside, { ...inside, data: sealed.data.map((value) => 1 - value) }, plain)
  const looksPlain = ({ pixels, size }: Region) =>
    size < area(inside) * 0.25 && pixels.reduce((sum, i) => sum + plain.data[i]!, 0) > size * 0.7
  const isCloth = (region: Region) =>
    !touchesBorder(region, width, height) && !isGap(region) && !(exact && looksPlain(region))
  return regions(sealed, 1, least).filter(isCloth)
}

/**
 * Moves the outline inwards over grey and darkened ground, where a stronger edge lies within reach:
 * shadows have soft edges, cloth has hard ones.
 */
function withoutShadow(mask: Mask, ground: Ground, edges: Edges): Mask {
  const { width, height } = mask
  const reach = Math.max(width, height) * 0.03
  const depth = distanceTo(mask, 0)
  const terminal = new Float32Array(mask.data.length)
  for (let i = 0; i < terminal.length; i++) {
    const shadow =
      ground.darker[i]! > -0.004 && ground.darker[i]! < 0.4 && ground.chroma[i]! < 0.025
    terminal[i] = depth[i] === 0 ? -50 : shadow && depth[i]! < reach ? 0.06 : 50
  }
  const links = linksOf(edges, clamp(ground.noise * 5, 0.03, 0.1))
  const data = minimumCut({ width, height, terminal, links })
  const thick = opened(depth, mask, reach * 0.4)
  // Straps are all edge; shadows lie along something thicker.
  for (let i = 0; i < data.length; i++) if (mask.data[i] === 1 && thick[i] === 0) data[i] = 1
  return { width, height, data }
}

/** Where the mask is at least twice the radius wide. */
function opened(depth: Float32Array, { width, height }: Mask, radius: number): Uint8Array {
  const core = { width, height, data: Uint8Array.from(depth, (d) => (d > radius ? 1 : 0)) }
  return Uint8Array.from(distanceTo(core, 1), (d) => (d <= radius + 1.5 ? 1 : 0))
}
