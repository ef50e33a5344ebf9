// Compares the ratios of two runs. Only ratios can be compared: times are those of one machine on one day.
import type { Run } from './history.ts'

/** A ratio that fell by more than this share is marked. */
const TOLERANCE = 0.1

type Endpoints = Run['throughput']['endpoints']

/** One row for each ratio that both runs have. `mark` is empty unless the ratio fell by more than 10 %. */
export function compareRatios(stored: Endpoints, measured: Endpoints) {
  const rows = Object.entries(measured).flatMap(([endpoint, figures]) =>
    ['ratio', 'ratio of CPU time'].flatMap((figure) => {
      const [earlier = NaN, now = NaN] = [stored[endpoint]?.[figure], figures[figure]]
      if (Number.isNaN(earlier + now)) return []
      const fell = now < earlier * (1 - TOLERANCE)
      const change = `${Math.round((now / earlier - 1) * 100)} %`
      return [
        [`${endpoint}, ${figure}`, { earlier, now, change, mark: fell ? 'FELL' : '' }],
      ] as const
    }),
  )
  return Object.fromEntries(rows)
}
