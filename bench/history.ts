// The measurements of each release, bench/history/{version}.json, from which docs/performance.md is generated.
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../scripts/wrangler.ts'
import type { measureBudget } from './budget.ts'
import type { measureConsole } from './console.ts'
import type { measureFairness } from './fairness.ts'
import type { measureGrowth } from './growth.ts'
import type { measureLatency } from './latency.ts'
import type { soak } from './soak.ts'
import type { measureThroughput } from './throughput.ts'

/** The parts that a release keeps. */
export const RECORDED = [
  'budget',
  'throughput',
  'latency',
  'soak',
  'growth',
  'fairness',
  'console',
] as const

type ResultOf<Measure extends (...input: never[]) => unknown> = Awaited<ReturnType<Measure>>

export interface Run {
  version: string
  commit: string
  /** ISO 8601. */
  at: string
  machine: string
  /** Whether it measured with `--quick`. */
  quick: boolean
  budget: ResultOf<typeof measureBudget>
  throughput: ResultOf<typeof measureThroughput>
  latency: ResultOf<typeof measureLatency>
  soak: Omit<ResultOf<typeof soak>, 'memory'>
  growth: ResultOf<typeof measureGrowth>
  fairness: ResultOf<typeof measureFairness>
  console: ResultOf<typeof measureConsole>
}

const FOLDER = join(ROOT, 'bench/history')

/** @throws Error when files differ from the commit, which the page would then name wrongly */
export function currentCommit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
  if (git('status', '--porcelain')) {
    throw new Error('Commit or discard your changes first: --record names the commit.')
  }
  return git('rev-parse', '--short', 'HEAD')
}

/** Stores the results of a run as those of the release in package.json. */
export function saveRun(commit: string, results: Record<string, unknown>): void {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const { at, machine, quick } = results
  const parts = Object.fromEntries(RECORDED.map((name) => [name, results[name]]))
  const { memory: _, ...counts } = parts['soak'] as ResultOf<typeof soak>
  const run = { version, commit, at, machine, quick, ...parts, soak: counts }
  writeFileSync(join(FOLDER, `${version}.json`), `${JSON.stringify(run, null, 2)}\n`)
}

/** All releases, the oldest first. */
export const readRuns = (): Run[] =>
  globSync('*.json', { cwd: FOLDER })
    .map((file): Run => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')))
    .toSorted((a, b) => a.version.localeCompare(b.version, 'en', { numeric: true }))
