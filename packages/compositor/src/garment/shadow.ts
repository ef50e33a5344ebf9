// The shadow that cloth casts on the ground, which is cut out with it at first.
import { shareOf, type PixelSet } from '../assess/area.ts'
import { pause } from '../pause.ts'
import { median, percentile } from '../plane.ts'
import { clamp, pixelsWhere } from '../raster.ts'
import { PATTERNED, type Backdrop } from './background.ts'
import { changeAround, cutAlong, type Cut, type CutEdges, type Edges } from './edges.ts'
import { distanceTo, maskWhere, opened, type Mask } from './mask.ts'
import { flood, paint, regions } from './regions.ts'

/** Edges, and what divides cloth and shadow along them. */
interface Between extends Edges {
  cut: Cut
}

/** The pieces of a mask that are cut off, largest first. */
const piecesOff = (mask: Mask, rest: Mask) =>
  regions(
    maskWhere(mask, (i) => mask.data[i] === 1 && rest.data[i] === 0),
    1,
  )

/**
 * How far the outline moves at a time, as a share of the longer side, and the cost of calling a pixel shadow: usually,
 * and where this share of the cloth is so unlike the ground that it is not taken for shadow. By experiment.
 */
const USUAL = { reach: 0.03, cost: 0.06 }
const UNLIKE = { reach: 0.06, cost: 0.02, from: 0.3, share: 0.75 }
/**
 * Ground in the shade is shadow however far it reaches, as between legs, where this share of the cloth is unlike the ground,
 * or the ground has a pattern: unless so much of the cloth looks shaded itself, or hardly anything does. By experiment.
 */
const ANY_REACH = { unlike: 0.6, shaded: 0.45, least: 0.005 }
/** The share of the reach up to which there is shadow where it goes on, the cost from then on, and the most moves. */
const WIDE = { from: 0.7, cost: 0.02, moves: 5 }
/**
 * Beside a wide shadow on dark cloth, what is less dark than this share of the cloth may be shadow too, at this cost where
 * it changes less over three pixels: the even core of the shadow.
 */
const CORE = { dark: 0.75, cost: -0.05, change: 0.01 }

function shadowOf(mask: Mask, ground: Backdrop): { reach: number; cost: number } {
  const { reach, cost } = unlikeShare(mask, ground) > UNLIKE.share ? UNLIKE : USUAL
  return { reach: reach * Math.max(mask.width, mask.height), cost }
}

/** The share of a mask whose pixels pass a test. */
const shareIn = (mask: Mask, test: PixelSet) => shareOf(mask, (i) => mask.data[i] === 1, test)

const unlikeShare = (mask: Mask, { distance }: Backdrop) =>
  shareIn(mask, (i) => distance[i]! > UNLIKE.from)

/** What looks shaded and is connected with the ground, if all of that is shadow; null otherwise. */
function shadedGround(mask: Mask, ground: Backdrop): Mask | null {
  const isShaded = (i: number) => looksShaded(ground, i)
  const standsOut = ground.noise >= PATTERNED || unlikeShare(mask, ground) > ANY_REACH.unlike
  if (!standsOut || shareIn(mask, isShaded) > ANY_REACH.shaded) return null
  return flood(maskWhere(mask, (i) => mask.data[i] === 0 || isShaded(i)))
}

/** How much darker than the ground a shadow is at most, unless its core is. By experiment. */
const DARKEST = 0.4

/** Whether a pixel is grey and no lighter than the ground, like a shadow on it. */
export const looksShaded = ({ darker, chroma }: Backdrop, i: number, darkest = DARKEST) =>
  darker[i]! > -0.004 && darker[i]! < darkest && chroma[i]! < 0.025

/**
 * The mask without the shadow that the cloth casts on the ground. Moves the outline inwards over grey and darkened ground,
 * where a stronger edge lies within reach: shadows have soft edges, cloth has hard ones. Goes on while a shadow is as wide
 * as the reach.
 */
export async function withoutShadow(mask: Mask, ground: Backdrop, edges: CutEdges): Promise<Mask> {
  const between = { ...edges, cut: cutAlong(edges, clamp(ground.noise * 5, 0.03, 0.1)) }
  await pause()
  const far = shadedGround(mask, ground)
  let rest = mask
  let core = 0
  for (let move = 0; move < WIDE.moves; move++) {
    const before = rest
    const depth = distanceTo(before, 0)
    const { reach, cost } = shadowOf(before, ground)
    const isFirst = move === 0
    const shadow = {
      depth,
      reach,
      core,
      cost: isFirst ? cost : WIDE.cost,
      far: isFirst ? null : far,
    }
    rest = await movedInwards(before, shadow, ground, between)
    const isFar = (i: number) => depth[i]! > WIDE.from * reach
    const isWide = rest.data.some((value, i) => value < before.data[i]! && isFar(i))
    if (isWide) core ||= CORE.dark * darknessOf(mask, ground)
    else if (!isFirst || !far || shareIn(rest, (i) => far.data[i] === 1) < ANY_REACH.least) break
  }
  return rest
}

/** How much darker than the ground cloth usually is. */
const darknessOf = ({ data }: Mask, { darker }: Backdrop): number =>
  median(pixelsWhere(data.length, (i) => data[i] === 1).map((i) => darker[i]!))

interface Shadow {
  /** How far each pixel is from the outline, and how far that moves. */
  depth: Float32Array
  reach: number
  /** What may be shadow farther away. */
  far: Mask | null
  /** The cost of calling a pixel shadow, and how dark a core may be. */
  cost: number
  core: number
}

async function movedInwards(
  mask: Mask,
  { depth, reach, far, cost, core }: Shadow,
  ground: Backdrop,
  edges: Between,
): Promise<Mask> {
  const terminal = new Float32Array(mask.data.length)
  for (let i = 0; i < terminal.length; i++) {
    const isPossible = depth[i]! < reach || far?.data[i] === 1
    const isShadow = isPossible && looksShaded(ground, i, Math.max(DARKEST, core))
    const isCore = core > DARKEST && changeAround(edges, i) < CORE.change ** 2
    terminal[i] = depth[i] === 0 ? -50 : !isShadow ? 50 : isCore ? CORE.cost : cost
  }
  const bright = await edges.cut(terminal)
  const { data } = bright
  await pause()
  const thick = opened(depth, mask, reach * 0.4)
  // Straps are all edge; shadows lie along something thicker.
  for (let i = 0; i < data.length; i++) if (mask.data[i] === 1 && thick.data[i] === 0) data[i] = 1
  await pause()
  for (const pixels of piecesOff(mask, bright)) {
    if (isEven(pixels, depth, ground, edges) && !meetsLikeShadow(pixels, mask, edges))
      paint(bright, pixels, 1)
  }
  return bright
}

/**
 * Pale cloth: its least pixels, the least share of its colour at the outline, its usual change over three pixels, and how
 * much more one place differs from the ground than another.
 */
const EVEN = { size: 40, atRim: 0.8, change: 0.02, spread: 0.07 }
/** Pixels from the outline: its mixed ones, the rim, and where the inside begins. */
const RIM = { from: 1.5, to: 3, inside: 4 }

/** Whether a piece differs from the ground as much at the outline as inside. A shadow fades outwards. */
function isEven(
  pixels: Int32Array,
  depth: Float32Array,
  { distance }: Backdrop,
  edges: Edges,
): boolean {
  if (pixels.length < EVEN.size) return false
  const differences = (isIn: (i: number) => boolean) =>
    Array.from(pixels.filter(isIn), (i) => distance[i]!)
  const rim = differences((i) => depth[i]! > RIM.from && depth[i]! <= RIM.to)
  const inside = differences((i) => depth[i]! > RIM.inside)
  if (percentile(inside, 0.9) - percentile(inside, 0.1) > EVEN.spread) return false
  const change = median(Array.from(pixels, (i) => changeAround(edges, i)))
  return median(rim) > EVEN.atRim * median(inside) && change < EVEN.change ** 2
}

/**
 * An even shadow: the most that its edge to the ground changes over three pixels, the least that its edge to the cloth does,
 * and the least share of its outline on the ground, as white stripes on white end like this. Of 544 product photos 22 have
 * such shadows; the edges of pale cloth to the ground change by 0.038 at least.
 */
const SOFT = { ground: 0.02, cloth: 0.08, share: 1 / 3 }

/** Whether a piece has a soft edge to the ground and a hard one to the cloth. */
function meetsLikeShadow(pixels: Int32Array, mask: Mask, edges: Edges): boolean {
  const { toGround, toCloth, share } = changesAlong(pixels, mask, edges)
  return share > SOFT.share && toGround < SOFT.ground ** 2 && toCloth > SOFT.cloth ** 2
}

/** The usual squared changes at the edges of a piece to the ground and to other cloth, and the ground's share of its outline. */
export function changesAlong(pixels: Int32Array, { data, width }: Mask, { right, down }: Edges) {
  const inside = new Set(pixels)
  const ground: number[] = []
  const cloth: number[] = []
  for (const i of pixels) {
    for (const [next, change] of [
      [i - 1, right[i - 1]],
      [i + 1, right[i]],
      [i - width, down[i - width]],
      [i + width, down[i]],
    ] as const) {
      if (change === undefined || inside.has(next)) continue
      if (data[next] === 1) cloth.push(change)
      else ground.push(change)
    }
  }
  const share = ground.length / (ground.length + cloth.length)
  return { toGround: median(ground), toCloth: median(cloth), share }
}
