// Where the upper garment ends and the lower one begins.
import type { Lab } from '../oklab.ts'
import type { Plane } from '../plane.ts'
import { ramp } from '../raster.ts'
import { INNER_TORSO, onArm, type Frame } from './frame.ts'
import type { ColourCosts } from './mixture.ts'

export interface Waist {
  /** Counted as in `Frame.down`. */
  down: number
  /** How different the cloth is above and below: 0 the same, 1 clearly another. */
  gain: number
}

/** Rows of cloth, counted as in `Frame.down`: their height, and from where to where they are read. */
const STEP = 0.03
const FROM = 0.2
const TO = 1.6
const BINS = Math.round((TO - FROM) / STEP)
/** A line is looked for from here to there. */
const HIGHEST = 0.42
const LOWEST = 1.5
/** The waist of clothes without any line. */
const USUAL = 0.92
/** Waists are rarer above `above` and below `below`: by the shares `high` at `HIGHEST`, `low` at `LOWEST`. */
const RARE = { above: 0.65, high: 0.5, below: 1.1, low: 0.5 }
/** Below this cost a colour is bare skin. */
export const BARE = 4.5
/** From this probability of the mask a pixel counts as the person's. */
const PERSON = 0.7
/** Fewer pixels above or below a line prove nothing. */
const LEAST_PIXELS = 20
/** So many rows have a colour, and differ less than this from another's in Oklab with doubled tint. By experiment. */
const BAND_ROWS = 2
const ALIKE = 0.06
/**
 * A bare belly: its least rows and lowest end; the cloth in each of them at most, and in a row above and below it at least, as
 * shares of the row's pixels; the least of these, in usual rows. Belts in the colour of skin are narrower. By experiment.
 */
const BELLY = { rows: 4, lowest: 1, bare: 0.25, cloth: 0.5, seen: 0.5 }
/** The variance of one cloth under even light, in Oklab with doubled tint. By experiment. */
const NOISE = 0.0015

/** Sums over a row of cloth: count, then sum and sum of squares of L, a, b. */
type Sums = [number, number, number, number, number, number, number]

export function findWaist(
  lab: Lab,
  person: Plane,
  frame: Frame,
  indices: Uint16Array,
  skin: ColourCosts,
): Waist {
  const all = rows(lab, person, frame, () => true)
  const cloth = rows(lab, person, frame, (i) => skin[indices[i]!]! > BARE)
  const used = count(cloth) > 0.5 * count(all) ? cloth : all
  return belowBelly(all, cloth) ?? bestSplit(used)
}

/** The waist below a bare belly; null where there is none. */
function belowBelly(all: Sums[], cloth: Sums[]): Waist | null {
  const usual = count(all) / BINS
  const share = (k: number) => cloth[k]![0] / Math.max(1, all[k]![0])
  const isCloth = all.map((_, k) => share(k) > BELLY.cloth)
  // Arms before the body, which are not read, leave a row with few pixels.
  const isBare = all.map(([pixels], k) => pixels > BELLY.seen * usual && share(k) < BELLY.bare)
  const top = isCloth.indexOf(true)
  const belly = isBare.indexOf(true, top)
  const end = isCloth.indexOf(true, belly)
  const down = FROM + end * STEP
  const isBelly = top >= 0 && belly > 0 && end > 0 && down < BELLY.lowest
  return isBelly && isBare.slice(belly, end).filter(Boolean).length >= BELLY.rows
    ? { down, gain: 1 }
    : null
}

function rows(lab: Lab, person: Plane, frame: Frame, test: (i: number) => boolean): Sums[] {
  const sums = Array.from({ length: BINS }, (): Sums => [0, 0, 0, 0, 0, 0, 0])
  for (let i = 0; i < lab.L.length; i++) {
    const row = Math.floor((frame.down[i]! - FROM) / STEP)
    if (row < 0 || row >= BINS || Math.abs(frame.across[i]!) > INNER_TORSO) continue
    if (person.data[i]! < PERSON || onArm(frame, i) || !test(i)) continue
    const sum = sums[row]!
    sum[0]++
    for (const [c, name] of (['L', 'a', 'b'] as const).entries()) {
      const value = lab[name][i]! * (c === 0 ? 1 : 2)
      sum[1 + c * 2]! += value
      sum[2 + c * 2]! += value * value
    }
  }
  return sums
}

/** The split that explains the colours best by two normal distributions, below all bands of a sweater. */
function bestSplit(rows: Sums[]): Waist {
  const total = rows.reduce(plus, [0, 0, 0, 0, 0, 0, 0])
  let above: Sums = [0, 0, 0, 0, 0, 0, 0]
  const none: Waist = { down: USUAL, gain: 0 }
  let best = none
  for (const [k, row] of rows.entries()) {
    const down = FROM + k * STEP
    const below = minus(total, above)
    if (isBelowBand(rows, k)) {
      best = none
    } else if (
      down >= HIGHEST &&
      down <= LOWEST &&
      above[0] > LEAST_PIXELS &&
      below[0] > LEAST_PIXELS
    ) {
      const gain = spread(total) - spread(above, below)
      if (gain * likely(down) > best.gain) best = { down, gain: gain * likely(down) }
    }
    above = plus(above, row)
  }
  return best
}

/** Whether the rows from `k` on continue cloth that begins above a single band of another colour, as on a sweater. */
function isBelowBand(rows: Sums[], k: number): boolean {
  const cloth = rows.slice(k, k + BAND_ROWS).reduce(plus)
  const runs: { alike: boolean; length: number }[] = []
  for (const row of rows.slice(0, k)) {
    const alike = distance(row, cloth) < ALIKE
    const last = runs.at(-1)
    if (last?.alike === alike) last.length++
    else runs.push({ alike, length: 1 })
  }
  const [above, band, below] = runs.filter(({ length }) => length >= BAND_ROWS)
  return above?.alike === true && band?.alike === false && below?.alike !== false
}

const distance = (p: Sums, q: Sums) =>
  Math.hypot(...[1, 3, 5].map((c) => p[c]! / Math.max(1, p[0]) - q[c]! / Math.max(1, q[0])))

/** Waists are rarer high on the chest or low on the thighs than colours are that change there. */
const likely = (down: number) =>
  1 - RARE.high * ramp(-down, -RARE.above, -HIGHEST) - RARE.low * ramp(down, RARE.below, LOWEST)

const count = (rows: Sums[]) => rows.reduce((total, row) => total + row[0], 0)
const plus = (p: Sums, q: Sums) => p.map((value, k) => value + q[k]!) as Sums
const minus = (p: Sums, q: Sums) => p.map((value, k) => value - q[k]!) as Sums

/** The sum over L, a, b of the logarithms of the deviations within the groups. */
function spread(...groups: Sums[]): number {
  const n = groups.reduce((count, sums) => count + sums[0], 0)
  let result = 0
  for (let c = 0; c < 3; c++) {
    let squares = 0
    for (const sums of groups)
      squares += sums[2 + c * 2]! - sums[1 + c * 2]! ** 2 / Math.max(1, sums[0])
    result += 0.5 * Math.log(Math.max(0, squares / Math.max(1, n)) + NOISE)
  }
  return result
}
