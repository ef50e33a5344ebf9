// Completes a picture from its known parts: what is unknown resembles known places whose surroundings look alike.
import { distanceTo, nearestIn } from '../distance.ts'
import { pause } from '../pause.ts'
import { clamp, erode, markWhere, pixelsWhere, type Size } from '../raster.ts'
import { createChannels, type Small } from './small.ts'

/** A picture with pixels that are known and others, the hole, that are wanted; what else there is says nothing. */
export interface Incomplete extends Small {
  known: Uint8Array
  /** The colours of its pixels are a first guess. */
  hole: Uint8Array
}

// Pixels, unless a line says otherwise; chosen by experiment on photographs before walls, floors, streets and plants.
/** Patches reach so far to each side of their centre. */
const REACH = 3
/** A pixel's colour is the mean of what the patches within this reach take for it. */
const VOTES = 2
/** The picture is halved until its longer side is at most this long. */
const COARSEST = 110
/** How many rounds there are, how far around the best place others are tried, and at which steps patches are compared. */
const EFFORT = {
  coarsest: { rounds: 8, tried: COARSEST, stride: 1 },
  finer: { rounds: 1, tried: 4, stride: 2 },
}
/** Tries for each pixel when the hole is filled for the first time, from its edge inwards. */
const FIRST_TRIES = 4
/** The weights of the hole's pixels in a comparison, once they are filled and as a first guess. */
const FILLED = 0.4
const GUESSED = 0.1
/** Patches that differ by less, in squared steps of 255, are as good as equal: where a picture is smooth little is tried. */
const ENOUGH = 6
/** How many pixels are improved between two pauses: some 5 ms. */
const BETWEEN_PAUSES = 500
/** What it costs to take from afar, in the same unit: along and across the rows, for the longer side of the picture. */
const FAR = { x: 300, y: 1200 }

/**
 * Finds colours for the hole, in place, by PatchMatch (Barnes et al., 2009), from coarse to fine (Wexler, Shechtman and
 * Irani, 2007). The same picture gives the same result.
 *
 * @returns the known pixel that each pixel of the hole resembles; −1 elsewhere, and everywhere when too little is known
 */
export async function completeFromExemplars(picture: Incomplete): Promise<Int32Array> {
  const { width, height, known, hole } = picture
  const isCoarsest = Math.max(width, height) <= COARSEST
  const half = isCoarsest ? null : halved(picture)
  const coarse = half && (await completeFromExemplars(half))
  const usable = usablePixels(picture)
  const nearest = nearestIn(picture, (at) => usable[at] === 1)
  await pause()
  const fromKnown = distanceTo(picture, (at) => known[at] === 1)
  const pixels = pixelsWhere(hole.length, (at) => hole[at] === 1 && nearest[at]! >= 0)
  pixels.sort((one, other) => fromKnown[one]! - fromKnown[other]!)
  const found = new Int32Array(hole.length).fill(-1)
  for (const at of pixels) {
    found[at] = nearest[half && coarse ? doubled(coarse, half.width, at, picture) : at]!
  }
  const { rounds, ...effort } = EFFORT[isCoarsest ? 'coarsest' : 'finer']
  const filled = new Uint8Array(hole.length).fill(isCoarsest ? 0 : 1)
  const search = { ...picture, usable, found, filled, ...effort, seed: 1 }
  await pause()
  if (isCoarsest) await fill(search, pixels)
  else vote(search, pixels)
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? pixels : pixels.toReversed()
    for (let n = 0; n < order.length; n += BETWEEN_PAUSES) {
      improve(search, order.slice(n, n + BETWEEN_PAUSES))
      await pause()
    }
    vote(search, pixels)
    await pause()
  }
  return found
}

/** At half the size a pixel belongs to the hole when one of its four does. */
function halved({ width, height, rgb, known, hole }: Incomplete): Incomplete {
  const half = { width: (width + 1) >> 1, height: (height + 1) >> 1 }
  const size = half.width * half.height
  const result = {
    ...half,
    rgb: createChannels(size),
    known: new Uint8Array(size),
    hole: new Uint8Array(size),
  }
  const count = new Uint8Array(size)
  for (let at = 0; at < known.length; at++) {
    if (!known[at] && !hole[at]) continue
    const to = (Math.floor(at / width) >> 1) * half.width + ((at % width) >> 1)
    count[to] = count[to]! + 1
    for (let c = 0; c < 3; c++) result.rgb[c]![to] = result.rgb[c]![to]! + rgb[c]![at]!
    if (hole[at]) result.hole[to] = 1
  }
  for (let to = 0; to < size; to++) {
    if (count[to] === 0) continue
    for (let c = 0; c < 3; c++) result.rgb[c]![to] = result.rgb[c]![to]! / count[to]!
    result.known[to] = 1 - result.hole[to]!
  }
  return result
}

/** What was found at half the size for a pixel; the pixel itself where nothing was. */
function doubled(
  coarse: Int32Array,
  halfWidth: number,
  at: number,
  { width, height }: Size,
): number {
  const [x, y] = [at % width, Math.floor(at / width)]
  const source = coarse[(y >> 1) * halfWidth + (x >> 1)]!
  if (source < 0) return at
  const sourceX = Math.min(width - 1, 2 * (source % halfWidth) + (x & 1))
  const sourceY = Math.min(height - 1, 2 * Math.floor(source / halfWidth) + (y & 1))
  return sourceY * width + sourceX
}

/** The pixels around which all of a patch is known. */
function usablePixels(picture: Incomplete): Uint8Array {
  const { width, height, known } = picture
  const amid = erode(picture, known, REACH)
  const isInside = (place: number, end: number) => place >= REACH && place < end - REACH
  return markWhere(
    known.length,
    (at) =>
      amid[at] === 1 && isInside(at % width, width) && isInside(Math.floor(at / width), height),
  )
}

interface Search extends Incomplete {
  usable: Uint8Array
  /** The pixel that each pixel of the hole resembles, as far as is known. */
  found: Int32Array
  /** Which pixels of the hole have more than a first guess. */
  filled: Uint8Array
  tried: number
  stride: number
  /** Of a linear congruential generator (Numerical Recipes). */
  seed: number
}

/** Fills the hole for the first time, from its edge inwards. */
async function fill(search: Search, pixels: readonly number[]): Promise<void> {
  const { rgb, found, filled } = search
  for (const [n, at] of pixels.entries()) {
    if ((n * FIRST_TRIES) % BETWEEN_PAUSES === 0) await pause()
    for (let i = 0; i < FIRST_TRIES; i++) improve(search, [at])
    for (let c = 0; c < 3; c++) rgb[c]![at] = rgb[c]![found[at]!]!
    filled[at] = 1
  }
}

/** Tries, for each pixel, the places beside those of its neighbours, and others at random ever nearer to the best one. */
function improve(search: Search, pixels: readonly number[]): void {
  const { width, height, hole, usable, found } = search
  for (const at of pixels) {
    let best = found[at]!
    let cost = costOf(search, at, best, Infinity)
    const offer = (source: number) => {
      if (!usable[source] || source === best) return
      const other = costOf(search, at, source, cost)
      if (other < cost) [best, cost] = [source, other]
    }
    if (cost < ENOUGH) continue
    for (const step of [-1, 1, -width, width]) {
      if (hole[at + step]) offer(found[at + step]! - step)
    }
    for (let reach = search.tried; reach >= 1; reach /= 2) {
      const x = Math.round((best % width) + random(search) * reach)
      const y = Math.round(Math.floor(best / width) + random(search) * reach)
      offer(clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1))
    }
    found[at] = best
  }
}

/** From −1 to 1. */
function random(search: Search): number {
  search.seed = (Math.imul(search.seed, 1664525) + 1013904223) >>> 0
  return search.seed / 2 ** 31 - 1
}

/** The mean squared difference of the patches around two pixels, and what their distance costs; Infinity beyond `most`. */
function costOf(
  { width, height, rgb, known, hole, filled, stride }: Search,
  at: number,
  source: number,
  most: number,
): number {
  const [red, green, blue] = rgb
  const [x, y] = [at % width, Math.floor(at / width)]
  const size = Math.max(width, height)
  const dx = ((source % width) - x) / size
  const dy = (Math.floor(source / width) - y) / size
  const far = FAR.x * dx * dx + FAR.y * dy * dy
  const limit = (most - far) * ((2 * REACH) / stride + 1) ** 2
  let [sum, weights] = [0, 0]
  for (let row = -REACH; row <= REACH; row += stride) {
    if (y + row < 0 || y + row >= height) continue
    for (let column = -REACH; column <= REACH; column += stride) {
      if (x + column < 0 || x + column >= width) continue
      const one = at + row * width + column
      if (!known[one] && !hole[one]) continue
      const other = source + row * width + column
      const weight = known[one] ? 1 : filled[one] ? FILLED : GUESSED
      const r = red[one]! - red[other]!
      const g = green[one]! - green[other]!
      const b = blue[one]! - blue[other]!
      sum += weight * (r * r + g * g + b * b)
      weights += weight
    }
    if (sum > limit) return Infinity
  }
  return far + sum / Math.max(1, weights)
}

/** Gives every pixel of the hole the mean of what the patches around it take for it. */
function vote({ width, height, rgb, found }: Search, pixels: readonly number[]): void {
  const colours = rgb.map(() => new Float32Array(pixels.length))
  for (const [n, at] of pixels.entries()) {
    const [x, y] = [at % width, Math.floor(at / width)]
    let weights = 0
    for (let dy = -Math.min(VOTES, y); dy <= Math.min(VOTES, height - 1 - y); dy++) {
      for (let dx = -Math.min(VOTES, x); dx <= Math.min(VOTES, width - 1 - x); dx++) {
        const step = dy * width + dx
        if (found[at + step]! < 0) continue
        const weight = 1 / (1 + dx * dx + dy * dy)
        const source = found[at + step]! - step
        for (let c = 0; c < 3; c++) colours[c]![n] = colours[c]![n]! + weight * rgb[c]![source]!
        weights += weight
      }
    }
    for (let c = 0; c < 3; c++) colours[c]![n] = colours[c]![n]! / weights
  }
  for (const [n, at] of pixels.entries()) for (let c = 0; c < 3; c++) rgb[c]![at] = colours[c]![n]!
}
