// A patterned ground, such as a wooden floor, known by its colours and not by their places.
import type { Lab } from '../oklab.ts'
import { pauseInRows } from '../pause.ts'
import { percentile } from '../plane.ts'
import { pixelsWhere } from '../raster.ts'
import { backdropPlanes, type Backdrop } from './background.ts'
import { borderOf, distanceTo, type Mask } from './mask.ts'

/**
 * How many colours, from how many samples about, how often they are adjusted to the samples nearest to them, and the
 * share of the samples below which a colour is chance. By experiment.
 */
const PALETTE = { colours: 24, samples: 4_000, rounds: 6, least: 0.004 }
/** The percentile of the ground's distances that is its noise. */
const NOISE = 0.9
/** Pixels around the cloth that may be mixed with it or lie in its shadow. */
const BESIDE = 6
const ALMOST_ZERO = 1e-6

/** @param share the depth of the border from which the colours are taken, as a share of the shorter side */
export async function paletteAtBorder(lab: Lab, share: number): Promise<Backdrop> {
  const depth = Math.max(1, Math.round(Math.min(lab.width, lab.height) * share))
  return backdropOf(lab, borderOf(lab, depth))
}

/**
 * The ground by its colours around the cloth. What is nearer to a colour of the cloth counts as farther from the ground,
 * and the reverse.
 * @param ground the answer where there is no cloth, or nothing around it
 */
export async function paletteAround(lab: Lab, cloth: Mask, ground: Backdrop): Promise<Backdrop> {
  const fromCloth = distanceTo(cloth, 1)
  const around = pixelsWhere(lab.L.length, (i) => fromCloth[i]! > BESIDE)
  const inside = pixelsWhere(lab.L.length, (i) => cloth.data[i] === 1)
  if (inside.length === 0 || around.length === 0) return ground
  const backdrop = await backdropOf(lab, around)
  const { distance } = backdrop
  await forNearest(lab, paletteOf(lab, inside), (i, L, a, b) => {
    const fromGround = distance[i]!
    const share = fromGround / (fromGround + Math.hypot(L, a, b) + ALMOST_ZERO)
    distance[i] = 2 * share * fromGround
  })
  return { ...backdrop, noise: noiseAt(around, distance) }
}

async function backdropOf(lab: Lab, pixels: number[]): Promise<Backdrop> {
  const planes = backdropPlanes(lab)
  const { distance, chroma, darker, redder, yellower } = planes
  await forNearest(lab, paletteOf(lab, pixels), (i, L, a, b) => {
    darker[i] = -L
    redder[i] = a
    yellower[i] = b
    chroma[i] = Math.hypot(a, b)
    distance[i] = Math.hypot(L, a, b)
  })
  return { ...planes, noise: noiseAt(pixels, distance) }
}

const noiseAt = (pixels: number[], distance: Float32Array): number =>
  percentile(
    pixels.map((i) => distance[i]!),
    NOISE,
  )

/** L, a and b. */
type Colour = readonly [number, number, number]

const colourAt = ({ L, a, b }: Lab, i: number): Colour => [L[i]!, a[i]!, b[i]!]

/** Calls `use` for each pixel with its difference from the nearest colour. */
async function forNearest(
  lab: Lab,
  palette: readonly Colour[],
  use: (index: number, L: number, a: number, b: number) => void,
): Promise<void> {
  for (let y = 0, i = 0; y < lab.height; y++) {
    for (let x = 0; x < lab.width; x++, i++) {
      const colour = colourAt(lab, i)
      const [L, a, b] = palette[nearestOf(palette, colour)]!
      use(i, colour[0] - L, colour[1] - a, colour[2] - b)
    }
    // Each pixel is compared with all colours.
    await pauseInRows(y, { width: lab.width * 5 })
  }
}

/** The means of groups of similar colours, at first those that are farthest from each other (k-means). */
function paletteOf(lab: Lab, pixels: number[]): Colour[] {
  const step = Math.ceil(pixels.length / PALETTE.samples)
  const samples = pixels.filter((_, at) => at % step === 0).map((i) => colourAt(lab, i))
  let palette = [samples[0]!]
  const far = samples.map(() => Infinity)
  while (palette.length < PALETTE.colours) {
    for (const [at, sample] of samples.entries()) {
      far[at] = Math.min(far[at]!, squared(sample, palette.at(-1)!))
    }
    palette.push(samples[far.indexOf(Math.max(...far))]!)
  }
  for (let round = 0; round < PALETTE.rounds; round++) {
    const sums = palette.map(() => ({ L: 0, a: 0, b: 0, count: 0 }))
    for (const [L, a, b] of samples) {
      const sum = sums[nearestOf(palette, [L, a, b])]!
      sum.L += L
      sum.a += a
      sum.b += b
      sum.count++
    }
    palette = sums
      .filter(({ count }) => count > samples.length * PALETTE.least)
      .map(({ L, a, b, count }) => [L / count, a / count, b / count] as const)
  }
  return palette
}

function nearestOf(palette: readonly Colour[], colour: Colour): number {
  let [best, least] = [0, Infinity]
  for (let at = 0; at < palette.length; at++) {
    const far = squared(colour, palette[at]!)
    if (far >= least) continue
    least = far
    best = at
  }
  return best
}

const squared = (one: Colour, other: Colour): number =>
  (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 + (one[2] - other[2]) ** 2
