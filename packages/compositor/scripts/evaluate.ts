// `npm run evaluate -- --models DIR --garments DIR`: tries real garments on real people and writes a page with
// a sheet of each pair, the results and a table. docs/compositor.md (Evaluation) says how to rate them.
// `npm run gallery` does the same with the sample pictures.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BadArgument, readArguments, type Options } from './evaluation/arguments.ts'
import { keyOf } from './evaluation/pairs.ts'
import { countsOf, differences, standingOf, summaryOf } from './evaluation/ratings.ts'
import { runPair, type Report } from './evaluation/run.ts'
import { nodeTools } from './node-tools.ts'
import { encodeJpeg } from '../src/index.ts'

const SHEET_QUALITY = 88

async function evaluate(options: Options): Promise<void> {
  for (const folder of ['results', 'sheets'])
    mkdirSync(join(options.out, folder), { recursive: true })
  const write = (name: string, content: Uint8Array | string) =>
    writeFileSync(join(options.out, name), content)
  const perceiver = await nodeTools.perceiver()
  const engine = commit()
  const reports: Report[] = []
  const figures: string[] = []
  for (const pair of options.pairs) {
    const { report, jpeg, sheet } = await runPair(pair, options, perceiver)
    reports.push(report)
    const name = `${pair.model}-${pair.garment}`.replaceAll(/\.[a-z]+(?=-|$)/gi, '') + '.jpg'
    if (jpeg) write(`results/${name}`, jpeg)
    write(`sheets/${name}`, await encodeJpeg(sheet, SHEET_QUALITY))
    const row = rowOf(report)
    console.log(row)
    figures.push(
      `<figure><img src="sheets/${name}"><figcaption>${escaped(row)}</figcaption></figure>`,
    )
  }
  write('index.html', `<!doctype html><title>Engine ${engine}</title>\n${figures.join('\n')}\n`)
  const ratings = options.ratings ?? {}
  const pairs = reports.map((report) => ({ ...report, standing: standingOf(report, ratings) }))
  write('results.json', `${JSON.stringify({ engine, pairs }, rounded, 1)}\n`)
  const lines = options.ratings
    ? summaryOf(reports, ratings, engine)
    : countsOf(reports, ['delivered', 'refused', 'failed'], ({ outcome }) => outcome)
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

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const rounded = (_key: string, value: unknown) =>
  typeof value === 'number' ? Number(value.toPrecision(4)) : value

function rowOf({ pair, outcome, code, reason, assessment, ms, memory }: Report): string {
  const why = code ? ` ${code}: ${reason.split('\n')[0]}` : ''
  const numbers = Object.entries(assessment).map(
    ([name, value]) => `${name}=${Number(value.toPrecision(2))}`,
  )
  const times = Object.entries(ms).map(([step, time]) => `${step} ${Math.round(time)}`)
  const used = `${Math.round(memory.process)} MB, models ${Math.round(memory.models)} MB`
  return `${keyOf(pair)}: ${outcome}${why} | ${times.join(', ')} ms | ${used} | ${numbers.join(' ')}`
}

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
