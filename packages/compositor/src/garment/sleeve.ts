// A sleeve as a tube, from the stretch of outline between shoulder and armpit.
import type { Sleeve } from '../garment.ts'
import { distance, resample } from '../lines.ts'
import { clamp, type Point } from '../raster.ts'
import { lengthsAlong, turnAt } from './contour.ts'
import { smoothLine } from '../smoothing.ts'

const POINTS = 9
/** The number of points the outline is reduced to for the search of the cuff. */
const COARSE = 96

/**
 * Splits the outline of a sleeve at the two corners of its cuff.
 * @param path from the shoulder's end over the cuff to the armpit
 * @param turning 1 when the cuff's corners turn clockwise along the path, -1 when counterclockwise
 * @returns null when the path is too short to be a sleeve
 */
export function sleeveOf(path: readonly Point[], turning: 1 | -1): Sleeve | null {
  if (path.length < 12) return null
  const line = resample(path, COARSE)
  const corners = cuffOf(line, turning)
  if (!corners) return null
  const [first, last] = corners
  return {
    outer: resample(smoothLine(line.slice(0, first + 1), 2), POINTS),
    inner: resample(smoothLine(line.slice(last).reverse(), 2), POINTS),
  }
}

/** The cuff in widths of the armhole and in lengths of the sleeve, and how much longer than straight it is at most. */
const CUFF = { narrowest: 0.18, widest: 1.6, longest: 0.9, bend: 0.7 }
/** What a cuff that is not straight, and corners at the far end, count against radians of the corners. By experiment. */
const BEND_COST = 1.6
const END_GAIN = 1.3
/** A corner is measured over so many points of the coarse line, and counts at most so many radians. */
const TURN_REACH = 5
const MOST_TURN = 1.9

/** The pair of corners with a straight edge between them at the end of the tube. */
function cuffOf(line: readonly Point[], turning: 1 | -1): [number, number] | null {
  const lengths = lengthsAlong(line)
  const total = lengths[COARSE - 1]!
  const root = {
    x: (line[0]!.x + line[COARSE - 1]!.x) / 2,
    y: (line[0]!.y + line[COARSE - 1]!.y) / 2,
  }
  const opening = distance(line[0]!, line[COARSE - 1]!)
  const far = Math.max(...line.map((point) => distance(point, root)))
  if (far <= 0 || total <= 0) return null
  const turns = line.map((_, i) => clamp(turning * turnAt(line, i, TURN_REACH), 0, MOST_TURN))
  let best: [number, number] | null = null
  let most = -Infinity
  for (let i = 3; i < COARSE - 8; i++) {
    for (let j = i + 4; j < COARSE - 3; j++) {
      const chord = distance(line[i]!, line[j]!)
      if (
        chord < opening * CUFF.narrowest ||
        chord > Math.max(opening * CUFF.widest, far * CUFF.longest)
      )
        continue
      const arc = lengths[j]! - lengths[i]!
      const bend = arc / chord - 1
      if (bend > CUFF.bend) continue
      const ends = (distance(line[i]!, root) + distance(line[j]!, root)) / far
      const score = turns[i]! + turns[j]! - BEND_COST * bend + END_GAIN * ends
      if (score > most) {
        most = score
        best = [i, j]
      }
    }
  }
  return best
}
