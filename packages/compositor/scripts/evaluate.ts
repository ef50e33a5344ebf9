// `npm run evaluate -- --models DIR --garments DIR`: tries real garments on real people and writes
// contact sheets, the results and a table. docs/compositor.md (Checks) says how to rate them.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BadArgument, readArguments, type Options } from './evaluation/arguments.ts'
import { keyOf } from './evaluation/pairs.ts'
import { differences, standingOf, summaryOf } from './evaluation/ratings.ts'
import { runPair, short, type Report } from './evaluation/run.ts'
import { grid } from './evaluation/sheet.ts'
import { nodeCodecs } from './node-codecs.ts'
import { nodePerceiver } from './node-perceiver.ts'

const PAIRS_PER_SHEET = 4
const JPEG_QUALITY = 88

async function evaluate(options: Options): Promise<void> {
  const results = join(options.out, 'results')
  mkdirSync(results, { recursive: true })
  const engine = commit()
  const reports: Report[] = []
  let panels = []
  for (const [i, pair] of options.pairs.entries()) {
    const { report, jpeg, panel } = await runPair(pair, options, nodePerceiver)
    reports.push(report)
    if (jpeg)
      writeFileSync(join(results, `${nameOf(pair.model)}-${nameOf(pair.garment)}.jpg`), jpeg)
    console.log(rowOf(report))
    panels.push(panel)
    if (panels.length < PAIRS_PER_SHEET && i + 1 < options.pairs.length) continue
    const name = `sheet-${String(Math.ceil((i + 1) / PAIRS_PER_SHEET)).padStart(2, '0')}.jpg`
    writeFileSync(
      join(options.out, name),
      await nodeCodecs.encodeJpeg(grid(panels, 2), JPEG_QUALITY),
    )
    panels = []
  }
  const ratings = options.ratings ?? {}
  const rows = reports.map((report) => ({ ...report, standing: standingOf(report, ratings) }))
  writeFileSync(
    join(options.out, 'results.json'),
    `${JSON.stringify({ engine, pairs: rows }, rounded, 1)}\n`,
  )
  const lines = options.ratings ? summaryOf(reports, ratings, engine) : countsOf(reports)
  console.log(['', `Engine ${engine}`, ...lines, ...timesOf(reports)].join('\n'))
  if (options.older) {
    console.log(['', 'Changed ratings:', ...differences(options.older, ratings)].join('\n'))
  }
  console.log(`Wrote ${options.out}`)
}

/** The commit of the engine, with a `+` when files differ from it. */
function commit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim()
  try {
    const changed = git('status', '--porcelain', '--', '../src') !== ''
    return git('rev-parse', '--short', 'HEAD') + (changed ? '+' : '')
  } catch {
    return 'unknown'
  }
}

const nameOf = (file: string) => file.replace(/\.[^.]+$/, '')

const rounded = (_key: string, value: unknown) =>
  typeof value === 'number' ? Number(value.toPrecision(4)) : value

function rowOf({ pair, outcome, code, reason, assessment, ms, memory }: Report): string {
  const why = code ? ` ${code}: ${reason.split('\n')[0]}` : ''
  const numbers = Object.entries(assessment).map(([name, value]) => `${name}=${short(value)}`)
  const times = Object.entries(ms).map(([step, time]) => `${step} ${Math.round(time)}`)
  const used = `${Math.round(memory.process)} MB, models ${Math.round(memory.models)} MB`
  return `${keyOf(pair)}: ${outcome}${why} | ${times.join(', ')} ms | ${used} | ${numbers.join(' ')}`
}

const countsOf = (reports: readonly Report[]) =>
  (['delivered', 'refused', 'failed'] as const).map((outcome) => {
    const count = reports.filter((report) => report.outcome === outcome).length
    return `${outcome.padEnd(11)}${String(count).padStart(4)} of ${reports.length}`
  })

/** The median and the largest time of each step. */
function timesOf(reports: readonly Report[]): string[] {
  return (['decode', 'models', 'compose', 'encode'] as const).map((step) => {
    const times = reports.map(({ ms }) => ms[step]).sort((a, b) => a - b)
    const [middle = 0, most = 0] = [times[Math.floor(times.length / 2)], times.at(-1)]
    return `${step.padEnd(11)}${Math.round(middle)} ms, at most ${Math.round(most)} ms`
  })
}

try {
  await evaluate(readArguments(process.argv.slice(2)))
} catch (error) {
  if (!(error instanceof BadArgument)) throw error
  console.error(error.message)
  process.exitCode = 2
}
