// Which pixels of a product photo are cloth.
import { distanceTo as distanceToSet } from '../distance.ts'
import type { Lab } from '../oklab.ts'
import { pause } from '../pause.ts'
import type { Plane } from '../plane.ts'
import { clamp, type Raster } from '../raster.ts'
import { blurInPlace } from '../smoothing.ts'
import { distanceTo, maskWhere, type Mask } from './mask.ts'
import { floodThick, keepLarge, LEAST_PIECE } from './regions.ts'
import { changeAround, cutAlong, cutEdgesOf, type CutEdges, type Edges } from './edges.ts'
import { PATTERNED, type Backdrop } from './background.ts'
import { groundAround, groundOf, type Ground } from './ground.ts'
import { fromBorder, fromSalience, grabCut, type Start } from './grab-cut.ts'
import { differsFromAround, edgelessShareOf } from './outline-quality.ts'
import { fillPrints, fillStripes } from './holes.ts'
import { withoutShadedGap } from './leg-gap.ts'
import { withoutShadow } from './shadow.ts'

/** The cost of calling a pixel of the ground's colour cloth. */
const PRIOR = 1
/** The most that a pixel's colour can say against ground. */
const MOST = 14
/** The cost of calling a pixel ground that is textured, on a ground without noise. */
const TEXTURED = 3
/** The noise below which the ground has one exact colour. */
const EXACT = 0.001
/** The noise below which the ground has no other colour at all. */
const FLAT = 1e-6
/** On a pattern: the least share of the largest piece that the half of an open front has. */
const LEAST_HALF = 0.5
/** The most of an outline that has no edge: of 130 photos on grounds with noise, one that is cut out right has more. */
const MOST_EDGELESS = 0.05
/** The least overlap of a cut with what stands out from which nothing was lost. */
const SALIENT = 0.9
/** The squared colour change over three pixels from which a surface is grained. */
const GRAIN = 0.0018 ** 2

export interface FoundCloth {
  mask: Mask
  /** Whether it lies on planks, a carpet or the like, and not before a plain ground. */
  isOnPattern: boolean
  /** Whether its outline follows edges of the picture; otherwise cloth was lost in the ground, or ground taken for cloth. */
  hasEdge: boolean
  /** Whether it is just what stands out from the picture, so that no part of it was lost. */
  isSalient: boolean
}

/** Finds the probability from 0 to 1 that a pixel of the picture belongs to what stands out. */
export type FindSalience = () => Promise<Plane>

/**
 * The cloth by colour and edges, in several ways: as on a ground that is plain or changes slowly, as what stands out, and as on
 * any ground. First comes what is likely; last, what leaves colours of the cloth in the ground around it.
 * @param findSalience is called at most once, when what it finds is wanted
 */
export async function* clothsOf(
  picture: Raster,
  lab: Lab,
  findSalience?: FindSalience,
): AsyncGenerator<FoundCloth, void> {
  const edges = cutEdgesOf(lab)
  await pause()
  const ground = groundOf(lab)
  await pause()
  const isOnPattern = ground.noise >= PATTERNED
  let salient: Mask | undefined
  const onPlain = () => cutByGround(ground, lab, edges)
  const onSalient = async () => {
    const start = fromSalience(await findSalience!())
    salient = start.cloth
    return cutByColours(lab, edges, start)
  }
  const onAny = [false, true].map(
    (isUnlike) => () => cutByColours(lab, edges, { ...fromBorder(lab), isUnlike }),
  )
  const others = findSalience ? [onSalient, ...onAny] : onAny
  const doubtful: FoundCloth[] = []
  for (const cut of isOnPattern ? [...others, onPlain] : [onPlain, ...others]) {
    const solid = await solidOf(await cut(), edges)
    // What lies beside the garment on a pattern is no half of an open front.
    const mask = isOnPattern ? keepLarge(solid, LEAST_HALF) : solid
    await pause()
    const isSalient = salient !== undefined && overlapOf(salient, mask) > SALIENT
    const hasEdge = isSalient || edgelessShareOf(mask, lab, ground.noise) < MOST_EDGELESS
    const found = { mask, isOnPattern, hasEdge, isSalient }
    if ((cut === onPlain && !isOnPattern) || differsFromAround(mask, picture)) yield found
    else doubtful.push(found)
  }
  yield* doubtful
}

/** The area that two masks have in common, as a share of that of both. */
function overlapOf(one: Mask, other: Mask): number {
  let [common, all] = [0, 0]
  for (let i = 0; i < one.data.length; i++) {
    common += one.data[i]! & other.data[i]!
    all += one.data[i]! | other.data[i]!
  }
  return common / all
}

interface Cut {
  cloth: Mask
  ground: Backdrop
  /** The pixels that look like the ground. */
  plain: Mask
}

async function cutByGround(expected: Ground, lab: Lab, edges: CutEdges): Promise<Cut> {
  const plain = plainOf(expected, edges)
  const cloth = await cutByColour(expected, edges, plain)
  if (expected.exact) return { cloth, ground: expected, plain }
  // The ground is known better from the first cloth.
  const ground = groundAround(expected, lab, fillPrints(cloth, plain))
  await pause()
  const plainer = plainOf(ground, edges)
  return { cloth: await cutByColour(ground, edges, plainer), ground, plain: plainer }
}

async function cutByColours(lab: Lab, edges: CutEdges, start: Start): Promise<Cut> {
  const { cloth, plain } = await grabCut(lab, edges, start)
  // It changes its first argument, so each cut needs a ground of its own.
  const ground = groundAround(groundOf(lab), lab, fillPrints(cloth, plain))
  await pause()
  return { cloth, ground, plain }
}

/** The cloth without holes and shadows. */
async function solidOf({ cloth, ground, plain }: Cut, edges: CutEdges): Promise<Mask> {
  const first = fillPrints(keepLarge(fillStripes(cloth), LEAST_PIECE), plain)
  await pause()
  const bright = withoutShadedGap(await withoutShadow(first, ground, edges), ground, edges)
  await pause()
  return fillPrints(keepLarge(fillStripes(bright), LEAST_PIECE), plain)
}

async function cutByColour(ground: Backdrop, edges: CutEdges, plain: Mask): Promise<Mask> {
  const { width, height } = edges
  const spread = clamp(ground.noise * 1.5, 0.005, 0.05)
  const terminal = new Float32Array(width * height)
  for (let i = 0; i < terminal.length; i++) {
    const off = ground.distance[i]! / spread
    terminal[i] = plain.data[i] === 1 ? -PRIOR : Math.min(MOST, (off * off) / 2) - PRIOR
  }
  await pause()
  if (ground.noise < FLAT) {
    believeTexture(terminal, ground, edges)
    await pause()
  }
  const mask = await cutAlong(edges, clamp(ground.noise * 3, 0.008, 0.08))(terminal)
  await pause()
  return mask
}

/**
 * Light that falls off: its largest squared change over three pixels, the most that it differs from a gradient, and half the
 * width of the gaps of an outline through which it is not followed. By experiment.
 */
const FALL = { change: 0.007 ** 2, most: 0.05, gap: 2 }

/** Pixels that look just like the ground, or continue it from the border without an edge. */
function plainOf(ground: Backdrop, edges: Edges): Mask {
  const limit = clamp(ground.noise * 1.5, 0.0055, 0.05)
  const exact = ground.noise < EXACT
  const even = maskWhere(
    edges,
    (i) => ground.distance[i]! < FALL.most && changeAround(edges, i) <= FALL.change,
  )
  const reached = floodThick(even, FALL.gap)
  return maskWhere(edges, (i) => {
    if (reached.data[i] === 1) return true
    if (ground.distance[i]! > limit) return false
    // On a ground of one exact colour, what is nearly of this colour but grained is cloth.
    return !exact || changeAround(edges, i) <= GRAIN || ground.distance[i]! < 0.0025
  })
}

/** The squared change over three pixels that is more than rounding, and its least share of the pixels around. */
const TEXTURE = { change: 1e-8, around: 3, share: 0.6 }
/** How far blocks of a JPEG carry the noise of an edge, in pixels: usually, and of cloth that differs this much. */
const BLOCK_NOISE = { usual: 4, strong: 10, from: 0.05 }

/** On a ground without noise, what has texture is cloth, such as white on white, or lies beside an edge in a JPEG. */
function believeTexture(terminal: Float32Array, { distance }: Backdrop, edges: Edges): void {
  const changes = maskWhere(edges, (i) => changeAround(edges, i) > TEXTURE.change)
  const share = blurInPlace(
    { ...changes, data: new Float32Array(changes.data) },
    TEXTURE.around,
  ).data
  const textured = maskWhere(edges, (i) => share[i]! > TEXTURE.share)
  const depth = distanceTo(textured, 0)
  const fromStrong = distanceToSet(edges, (i) => distance[i]! > BLOCK_NOISE.from)
  const isCloth = (i: number) =>
    depth[i]! > BLOCK_NOISE.usual && fromStrong[i]! > BLOCK_NOISE.strong
  const fromCloth = distanceToSet(edges, isCloth)
  for (let i = 0; i < terminal.length; i++) {
    if (depth[i] === 0 || fromCloth[i]! > BLOCK_NOISE.strong) continue
    terminal[i] = Math.max(terminal[i]!, isCloth(i) ? TEXTURED : 0)
  }
}
