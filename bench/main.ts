// `npm run bench [-- --quick] [-- --only=budget,growth]`: measures the built service in workerd,
// prints tables and writes bench/results.json. Ratios compare with the baseline of the same run.
// `--smoke` only shows that every part works: it measures too little to compare with a limit.
// `--compare FILE` compares the ratios with those of an earlier run: bench/results.json or a file of bench/history.
// `--record` stores the results as those of this release, and writes docs/performance.md from them.
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureBudget } from './budget.ts'
import { compareRatios } from './compare.ts'
import { measureCompositor } from './compositor.ts'
import { measureConsole } from './console.ts'
import { measureFairness } from './fairness.ts'
import { measureGrowth } from './growth.ts'
import { measureLatency } from './latency.ts'
import { withHarness } from './harness.ts'
import { currentCommit, RECORDED, saveRun, type Run } from './history.ts'
import { writePage } from './page.ts'
import { computeRoundTrips } from './round-trips.ts'
import { soak } from './soak.ts'
import { measureThroughput } from './throughput.ts'

const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    compare: { type: 'string' },
    record: { type: 'boolean', default: false },
    /** Where the D1 primary is, for `round-trips`. */
    primary: { type: 'string', default: 'Virginia' },
  },
})
const { smoke, quick } = values
const earlier: unknown = values.compare && JSON.parse(readFileSync(values.compare, 'utf8'))
const commit = values.record ? currentCommit() : undefined

/** Selects the amount of work: for `--smoke`, for `--quick`, or for a whole run. */
const amount = <T>(ofSmoke: T, ofQuick: T, ofAll: T): T =>
  smoke ? ofSmoke : quick ? ofQuick : ofAll

const SECTIONS: Record<string, () => Promise<object>> = {
  'round-trips': async () => computeRoundTrips(values.primary),
  compositor: () => measureCompositor(amount(1, 4, 4)),
  budget: () => withHarness(measureBudget),
  throughput: () =>
    measureThroughput({
      processes: amount(1, 1, 5),
      rounds: amount(1, 3, 3),
      seconds: amount(1, 1, 2),
      warmUpSeconds: amount(0, 2, 2),
    }),
  latency: () => withHarness((harness) => measureLatency(harness, amount(2, 40, 200))),
  console: () =>
    withHarness((harness) =>
      measureConsole(
        harness,
        amount(
          { jobs: 100, samples: 1 },
          { jobs: 10_000, samples: 10 },
          { jobs: 10_000, samples: 30 },
        ),
      ),
    ),
  fairness: () => measureFairness(amount(2, 30, 30)),
  soak: () => withHarness((harness) => soak(harness, amount(40, 1_000, 10_000))),
  growth: () =>
    withHarness((harness) =>
      measureGrowth(
        harness,
        amount(
          { sizes: [600], ledger: [100], requests: 5, rateLimit: 1_000 },
          { sizes: [1_000, 10_000] },
          { sizes: [1_000, 10_000, 100_000, 1_000_000] },
        ),
      ),
    ),
}

const sections = commit ? RECORDED : (values.only?.split(',') ?? Object.keys(SECTIONS))
const results: Record<string, unknown> = {
  at: new Date().toISOString(),
  machine: `${cpus().length} × ${cpus()[0]?.model}`,
  smoke,
  quick,
}

for (const name of sections) {
  const startedAt = Date.now()
  const result = await SECTIONS[name]?.()
  if (!result) throw new Error(`--only accepts: ${Object.keys(SECTIONS).join(', ')}`)
  results[name] = result
  console.log(`\n# ${name} (${((Date.now() - startedAt) / 1_000).toFixed(0)} s)`)
  print(result)
}
writeFileSync(join(import.meta.dirname, 'results.json'), `${JSON.stringify(results, null, 2)}\n`)
console.log('\nResults as JSON: bench/results.json')
const endpointsOf = (run: unknown) => (run as Partial<Run> | undefined)?.throughput?.endpoints ?? {}
if (earlier) {
  console.log(`\n# compared with ${values.compare}`)
  console.table(compareRatios(endpointsOf(earlier), endpointsOf(results)))
}
if (commit) {
  saveRun(commit, results)
  await writePage()
}

const {
  lost = 0,
  drift = 0,
  violations = [],
} = (results['soak'] ?? {}) as Partial<Awaited<ReturnType<typeof soak>>>
const missed = Object.values(results).flatMap(
  (result) => (!smoke && (result as { missed?: string[] }).missed) || [],
)
if (lost + drift + violations.length + missed.length > 0) process.exitCode = 1

/** Prints an object of objects as a table, and deeper levels as separate tables. */
function print(result: object, name = ''): void {
  const isRow = (value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((each) => typeof each !== 'object')
  const entries = Object.entries(result)
  const rows = entries.filter(([, value]) => isRow(value))
  const plain = entries.filter(([, value]) => typeof value !== 'object')
  if (name && rows.length + plain.length > 0) console.log(`\n${name}`)
  for (const [key, value] of plain) console.log(`${key} = ${value}`)
  if (rows.length > 0) console.table(Object.fromEntries(rows))
  for (const [key, value] of entries) {
    if (typeof value === 'object' && value !== null && !isRow(value)) print(value, key)
  }
}
