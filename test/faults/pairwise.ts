// Pairwise sampling: a small part of many combinations that still contains each pair of values.

type Combination = Readonly<Record<string, string | number>>

/** The values of a combination with the names of their parameters, and each two of them. */
function pairsOf(combination: Combination): string[] {
  const values = Object.entries(combination).map((entry) => entry.join('='))
  return values.flatMap((value, at) => [
    value,
    ...values.slice(at + 1).map((other) => `${value} ${other}`),
  ])
}

/**
 * Chooses combinations until each pair of values that occurs in one of them is covered. Each time, it takes
 * the combination with the most new pairs, and the first of these, so that the sample is always the same.
 * @param combinationOf the parameters of a case
 */
export function pairwise<T>(cases: readonly T[], combinationOf: (one: T) => Combination): T[] {
  const pairs = cases.map((one) => pairsOf(combinationOf(one)))
  const uncovered = new Set(pairs.flat())
  const sample = new Set<number>()
  while (uncovered.size > 0) {
    const gains = pairs.map((those) => those.filter((pair) => uncovered.has(pair)).length)
    const best = gains.indexOf(Math.max(...gains))
    for (const pair of pairs[best] ?? []) uncovered.delete(pair)
    sample.add(best)
  }
  return cases.filter((_, at) => sample.has(at))
}
