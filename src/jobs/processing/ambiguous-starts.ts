// Paid starts whose outcome is unknown. No provider recognises a repeated start, so each of them may
// have been charged.
//
// Invariant: after an ambiguous start, a job makes at most one more start that may be charged.
//
// A paid start is counted as ambiguous in D1 before it is made. The count is corrected when the outcome
// is known, so a start that is interrupted by a crash remains counted.

/** The ambiguous start and its one repetition. */
const MAX_AMBIGUOUS_STARTS = 2

/**
 * The outcome of a paid start.
 * - `rejected`: nothing runs and nothing is charged.
 * - `known`: the work was accepted, and its handle or its end is known.
 * - `unknown`: the work may run, or its picture is not stored yet.
 */
export type StartOutcome = 'rejected' | 'known' | 'unknown'

/** Whether the job may make another paid start. */
export const mayStartPaid = (ambiguousStarts: number): boolean =>
  ambiguousStarts < MAX_AMBIGUOUS_STARTS

/** The count after a paid start. @param before the count before that start */
export function ambiguousStartsAfter(before: number, outcome: StartOutcome): number {
  if (outcome === 'rejected') return before
  // A known start is not ambiguous itself, but it uses up the repetition of an earlier one.
  if (outcome === 'known' && before === 0) return 0
  return before + 1
}
