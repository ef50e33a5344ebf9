// From measures to a refusal. The limits come from pictures rated by eye (`npm run evaluate`): each lies
// beyond every picture that was rated good or acceptable.
import type { Assessment } from '../assess.ts'
import { Refusal, type RefusalCode } from '../refusal.ts'

interface Limit {
  code: RefusalCode
  isBeyond(assessment: Assessment): boolean
  reason(assessment: Assessment): string
}

const percent = (share: number) => `${Math.round(100 * share)} %`
const times = (value: number) => value.toFixed(1)

const beyond = (
  measure: keyof Assessment,
  most: number,
  reason: (value: number) => string,
  code: RefusalCode = 'generation_failed',
): Limit => ({
  code,
  isBeyond: (assessment) => !(assessment[measure] <= most),
  reason: (assessment) => reason(assessment[measure]),
})

const below = (
  measure: keyof Assessment,
  least: number,
  reason: (value: number) => string,
): Limit => ({
  code: 'generation_failed',
  isBeyond: (assessment) => !(assessment[measure] >= least),
  reason: (assessment) => reason(assessment[measure]),
})

/** In the order of their meaning: the first that is passed is the reason. */
const LIMITS: readonly Limit[] = [
  beyond(
    'doubt',
    0.38,
    () => 'The product was taken for a skirt or trousers, but has the outline of a top or a dress.',
    'garment_not_found',
  ),
  beyond(
    'mismatch',
    0.06,
    (share) => `${percent(share)} of the product's cloth does not fit the outline read from it.`,
    'garment_not_found',
  ),
  below('coverage', 0.65, (share) => `The garment covers ${percent(share)} of where it belongs.`),
  below(
    'halfCoverage',
    0.55,
    (share) => `On one side the garment covers ${percent(share)} of where it belongs.`,
  ),
  beyond('oldLeft', 0.05, (share) => `${percent(share)} of the old clothing stays visible.`),
  beyond('undressed', 0.35, (share) => `${percent(share)} of the trousers or skirt was removed.`),
  beyond('stretch', 5.5, (value) => `The garment is distorted ${times(value)}-fold.`),
  beyond('scattered', 0.015, (share) => `${percent(share)} of the garment is in loose pieces.`),
  beyond('shreds', 0.0105, (share) => `${percent(share)} of the garment is in shreds.`),
  beyond('gaps', 0.1, (share) => `The garment has gaps of ${percent(share)} of its area.`),
  beyond('brokenSleeves', 0.26, (share) => `A sleeve begins after ${percent(share)} of the arm.`),
  beyond(
    'unevenSleeves',
    0.5,
    (share) => `The sleeves differ by ${percent(share)} of the length of the arm.`,
  ),
  beyond('windows', 0.15, (share) => `${percent(share)} of the body was painted as background.`),
  beyond('hiddenHands', 0.5, (share) => `The garment hides ${percent(share)} of the hands.`),
  beyond(
    'farthest',
    1.3,
    (value) => `The garment reaches ${times(value)} shoulder widths beyond the body.`,
  ),
  beyond('spill', 0.4, (share) => `${percent(share)} of the garment lies beside the body.`),
  beyond('outline', 0.42, (share) => `${percent(share)} of the person's outline changed.`),
  below(
    'confidence',
    0.8,
    (share) => `The joints are recognised ${percent(share)} as well as before.`,
  ),
  beyond(
    'moved',
    0.6,
    (value) => `A joint seems to have moved by ${times(value)} shoulder widths.`,
  ),
  beyond('ghost', 12, () => 'The print of the old clothing shows through.'),
  beyond('faceChange', 6, () => 'The face changed.'),
  beyond('groundChange', 2, () => 'The background changed far from the person.'),
  below(
    'identity',
    0.55,
    (share) => `The garment's colours are ${percent(share)} those of the product.`,
  ),
]

/** @returns why the picture must not be delivered; null when it can be */
export function verdict(assessment: Assessment): Refusal | null {
  const limit = LIMITS.find(({ isBeyond }) => isBeyond(assessment))
  return limit ? new Refusal(limit.code, limit.reason(assessment)) : null
}
