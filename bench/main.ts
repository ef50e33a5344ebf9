// `npm run bench [-- --quick] [-- --only=budget,growth]`: measures the built service in workerd,
// prints tables and writes bench/results.json. Ratios compare with the baseline of the same run.
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureBudget } from './budget.ts'
import { measureCompositor } from './compositor.ts'
import { measureFairness } from './fairness.ts'
import { measureGrowth } from './growth.ts'
import { measureLatency } from './latency.ts'
import { soak } from './soak.ts'
import { withHarness } from './harness.ts'
import { measureThroughput } from './throughput.ts'

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
})
const { quick } = values

const SECTIONS: Record<string, () => Promise<object>> = {
  compositor: measureCompositor,
  budget: () => withHarness(measureBudget),
  throughput: () =>
    measureThroughput(
      quick ? { processes: 1, rounds: 3, seconds: 1 } : { processes: 5, rounds: 3, seconds: 2 },
    ),
  latency: () => withHarness((harness) => measureLatency(harness, quick ? 40 : 200)),
  fairness: measureFairness,
  soak: () => withHarness((harness) => soak(harness, quick ? 1_000 : 10_000)),
  growth: () =>
    withHarness((harness) =>
      measureGrowth(harness, quick ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000]),
    ),
}

const sections = values.only?.split(',') ?? Object.keys(SECTIONS)
const results: Record<string, unknown> = {
  at: new Date().toISOString(),
  machine: `${cpus().length} × ${cpus()[0]?.model}`,
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

const {
  lost = 0,
  drift = 0,
  violations = [],
} = (results['soak'] ?? {}) as Partial<Awaited<ReturnType<typeof soak>>>
const missed = Object.values(results).flatMap(
  (result) => (result as { missed?: string[] }).missed ?? [],
)
if (lost + drift + violations.length + missed.length > 0) process.exitCode = 1

/** Prints an object of objects as a table, and deeper levels as separate tables. */
function print(result: object, name = ''): void {
  const isRow = (value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
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
