// From measures to an error. The limits come from pictures rated by eye (`npm run evaluate`): each lies
// beyond nearly every picture that was rated good or acceptable.
import type { Assessment } from '../assess.ts'
import { CompositionError } from '../composition-error.ts'

/** A measure, the most or the least that it may be, and the reason to refuse what is beyond. */
type Limit = readonly [keyof Assessment, 'most' | 'least', limit: number, reason: string]

/** In the order of their meaning: the first that is passed is the reason. {share} and {times} are the value. */
const LIMITS: readonly Limit[] = [
  [
    'doubt',
    'most',
    0.15,
    'The product was taken for a skirt or trousers, but has the outline of a top or a dress.',
  ],
  [
    'mismatch',
    'most',
    0.12,
    "{share} of the product's cloth does not fit the outline read from it.",
  ],
  ['coverage', 'least', 0.65, 'The garment covers {share} of where it belongs.'],
  ['halfCoverage', 'least', 0.55, 'On one side the garment covers {share} of where it belongs.'],
  ['oldLeft', 'most', 0.12, '{share} of the old clothing stays visible.'],
  ['undressed', 'most', 0.35, '{share} of the trousers or skirt was removed.'],
  ['invented', 'most', 0.4, 'Most of the trousers or skirt had to be invented.'],
  ['stretch', 'most', 12, 'The garment is distorted {times}-fold.'],
  ['scattered', 'most', 0.015, '{share} of the garment is in loose pieces.'],
  ['shreds', 'most', 0.0105, '{share} of the garment is in shreds.'],
  ['gaps', 'most', 0.1, 'The garment has gaps of {share} of its area.'],
  ['brokenSleeves', 'most', 0.14, 'One sleeve begins {share} of the arm later than the other one.'],
  ['unevenSleeves', 'most', 0.53, 'The sleeves differ by {share} of the length of the arm.'],
  ['windows', 'most', 0.15, '{share} of the body was painted as background.'],
  ['hiddenHands', 'most', 0.65, 'The garment hides {share} of the hands.'],
  ['paintedForearms', 'most', 0.12, 'A bare forearm before the body had to be invented.'],
  ['stumps', 'most', 0.5, 'A bare arm ends without a hand.'],
  ['farthest', 'most', 1.5, 'The garment reaches {times} shoulder widths beyond the body.'],
  ['spill', 'most', 0.4, '{share} of the garment lies beside the body.'],
  ['faceChange', 'most', 6, 'The face changed.'],
  ['groundChange', 'most', 2, 'The background changed far from the person.'],
  ['identity', 'least', 0.55, "The garment's colours are {share} those of the product."],
]

/** Measures of the product photo alone. */
const OF_PRODUCT = new Set<keyof Assessment>(['doubt', 'mismatch'])

/** @returns why the picture must not be delivered; null when it can be */
export function verdict(assessment: Assessment): CompositionError | null {
  // A measure that is NaN is beyond its limit.
  const passed = LIMITS.find(([measure, bound, limit]) =>
    bound === 'most' ? !(assessment[measure] <= limit) : !(assessment[measure] >= limit),
  )
  if (!passed) return null
  const [measure, , , reason] = passed
  const value = assessment[measure]
  return new CompositionError(
    OF_PRODUCT.has(measure) ? 'garment_not_found' : 'generation_failed',
    reason.replace('{share}', `${Math.round(100 * value)} %`).replace('{times}', value.toFixed(1)),
  )
}
