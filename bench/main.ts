// `npm run bench [-- --quick] [-- --only=budget,growth]`: measures the built service in workerd,
// prints tables, and writes bench/results.json. Ratios are against a floor of the same run.
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureBudget } from './budget.ts'
import { measureGrowth } from './growth.ts'
import { measureLatency } from './latency.ts'
import { soak } from './soak.ts'
import { startStand } from './stand.ts'
import type { Stand } from './stand.ts'
import { measureThroughput } from './throughput.ts'

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
})
const { quick } = values

const SECTIONS: Record<string, (stand: Stand) => Promise<object>> = {
  budget: measureBudget,
  throughput: (stand) =>
    measureThroughput(stand, quick ? { rounds: 2, seconds: 1 } : { rounds: 9, seconds: 2 }),
  latency: (stand) => measureLatency(stand, quick ? 40 : 200),
  soak: (stand) => soak(stand, quick ? 1_000 : 10_000),
  growth: (stand) =>
    measureGrowth(stand, quick ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000]),
}

const wanted = values.only?.split(',') ?? Object.keys(SECTIONS)
const results: Record<string, unknown> = {
  at: new Date().toISOString(),
  machine: `${cpus().length} × ${cpus()[0]?.model}`,
  quick,
}

console.log('Building, and starting workerd …')
const stand = await startStand()
try {
  for (const name of wanted) {
    const begun = Date.now()
    const result = await SECTIONS[name]?.(stand)
    if (!result) throw new Error(`--only knows ${Object.keys(SECTIONS).join(', ')}`)
    results[name] = result
    console.log(`\n# ${name} (${((Date.now() - begun) / 1_000).toFixed(0)} s)`)
    print(result)
  }
} finally {
  await stand.close()
}
writeFileSync(join(import.meta.dirname, 'results.json'), `${JSON.stringify(results, null, 2)}\n`)
console.log('\nThe same as JSON: bench/results.json')

const {
  lost = 0,
  drift = 0,
  violations = [],
} = (results['soak'] ?? {}) as Partial<Awaited<ReturnType<typeof soak>>>
if (lost + drift + violations.length > 0) process.exitCode = 1

/** An object of objects as a table, and what is deeper than a row as tables of its own. */
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
