/**
 * The smallest value that is not exceeded by a share of all values (nearest rank), rounded to whole milliseconds.
 * @param share from 0 to 1
 * @returns 0 without values
 */
export function percentile(valuesMs: readonly number[], share: number): number {
  const sorted = valuesMs.toSorted((one, other) => one - other)
  return Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0)
}
