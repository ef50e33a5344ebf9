// What people thought of the results. The file is edited by hand.
import { keyOf, type Pair } from './pairs.ts'

export const RATINGS = ['good', 'acceptable', 'broken'] as const

export interface Rating {
  rating: (typeof RATINGS)[number]
  /** The commit, or the date, of the engine that drew the rated picture. */
  engine: string
  note?: string
}

/** Pair, as "model garment" → rating. */
export type Ratings = Record<string, Rating>

/** @throws Error naming the entry that is not a rating */
export function readRatings(text: string): Ratings {
  const entries: unknown = JSON.parse(text)
  if (typeof entries !== 'object' || entries === null) throw new Error('expected an object')
  for (const [pair, entry] of Object.entries(entries as Record<string, Partial<Rating> | null>)) {
    if (!RATINGS.some((rating) => rating === entry?.rating)) {
      throw new Error(`"${pair}": expected a rating of ${RATINGS.join(', ')}`)
    }
    if (typeof entry?.engine !== 'string')
      throw new Error(`"${pair}": expected the engine's commit or date`)
  }
  return entries as Ratings
}

export interface Outcome {
  pair: Pair
  outcome: 'delivered' | 'refused' | 'failed'
}

export const standingOf = ({ pair, outcome }: Outcome, ratings: Ratings) =>
  outcome === 'delivered' ? (ratings[keyOf(pair)]?.rating ?? 'unrated') : outcome

/** A line for each name: how many of the outcomes have it. */
export const countsOf = (
  outcomes: readonly Outcome[],
  names: readonly string[],
  nameOf: (outcome: Outcome) => string,
): string[] =>
  names.map((name) => {
    const count = outcomes.filter((outcome) => nameOf(outcome) === name).length
    return `${name.padEnd(11)}${String(count).padStart(4)} of ${outcomes.length}`
  })

/** Lines for the terminal: counts, pairs without a rating, and ratings of another engine's pictures. */
export function summaryOf(
  outcomes: readonly Outcome[],
  ratings: Ratings,
  engine: string,
): string[] {
  const standing = (outcome: Outcome) => standingOf(outcome, ratings)
  const lines = countsOf(outcomes, [...RATINGS, 'refused', 'failed', 'unrated'], standing)
  const unrated = outcomes.filter((outcome) => standing(outcome) === 'unrated')
  lines.push(...unrated.map(({ pair }) => `no rating: ${keyOf(pair)}`))
  const old = outcomes.filter(({ pair, outcome }) => {
    const rating = ratings[keyOf(pair)]
    return outcome === 'delivered' && rating && rating.engine !== engine
  })
  if (old.length > 0)
    lines.push(`${old.length} ratings are of pictures of another engine than ${engine}`)
  return lines
}

/** Lines for the pairs whose rating changed, and for those that only one file has. */
export function differences(older: Ratings, newer: Ratings): string[] {
  const keys = [...new Set([...Object.keys(older), ...Object.keys(newer)])].sort()
  return keys.flatMap((key) => {
    const [from, to] = [older[key]?.rating ?? 'unrated', newer[key]?.rating ?? 'unrated']
    return from === to ? [] : [`${key}: ${from} → ${to}`]
  })
}
