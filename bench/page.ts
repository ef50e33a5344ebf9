// Writes the measured parts of docs/performance.md from the latest release of bench/history: `node bench/page.ts`.
// The text around them is written by hand.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { ROOT } from '../scripts/wrangler.ts'
import { readRuns, type Run } from './history.ts'
import type { Counts } from './instrumented.ts'

export const PAGE = join(ROOT, 'docs/performance.md')

/** The lowest ratio that each endpoint should have. */
const GOALS: Record<string, number> = {
  'GET /v1/jobs/{id}': 0.92,
  'GET /v1/jobs': 0.9,
  'POST /v1/tryon': 0.92,
  'DELETE /v1/jobs/{id}': 0.92,
  'GET /v1/account': 0.7,
  'GET /v1/workspaces': 0.7,
}

type Cell = string | number | undefined

const cellOf = (value: Cell) => (typeof value === 'number' ? value.toLocaleString('en') : value)

const table = (columns: string[], rows: Cell[][]): string =>
  [columns, columns.map(() => '---'), ...rows]
    .map((row) => `| ${row.map(cellOf).join(' | ')} |`)
    .join('\n')

const COUNTS: Record<string, keyof Counts> = {
  'Organisation calls': 'organisationCalls',
  'D1 trips': 'd1RoundTrips',
  'D1 rows read': 'd1RowsRead',
  'D1 rows written': 'd1RowsWritten',
  'object rows read': 'objectRowsRead',
  'object rows written': 'objectRowsWritten',
  'queue operations': 'queueOperations',
  'R2 writes': 'r2Writes',
}
const countsOf = (counts: Counts) => Object.values(COUNTS).map((name) => counts[name])

const PARTS: Record<string, (run: Run) => string> = {
  run: ({ version, commit, at, machine, quick }) =>
    `Measured at commit ${commit} (version ${version}) on ${at.slice(0, 10)}, ${machine}${quick ? ', with `--quick`' : ''}.`,

  budget({ budget: { endpoints, wholeJob, pricePerMillionJobs, pricesAsOf } }) {
    const { total, ...items } = pricePerMillionJobs
    const prices = Object.entries(items).filter(([, dollars]) => dollars >= 0.01)
    return `${table(
      ['request', ...Object.keys(COUNTS)],
      Object.entries(endpoints).map(([name, counts]) => [name, ...countsOf(counts)]),
    )}

${table(
  ['whole job', ...Object.keys(COUNTS)],
  Object.entries(wholeJob).map(([name, counts]) => [name, ...countsOf(counts)]),
)}

**A million live jobs with a webhook cost ${total} US dollars** at the prices of ${pricesAsOf}:
${prices.map(([name, dollars]) => `${name} ${dollars.toFixed(2)}`).join(', ')}.`
  },

  throughput({ throughput: { endpoints, plainRoute } }) {
    const rows = Object.entries(endpoints).map(([name, figures]) => [
      name,
      `**${figures['ratio']}**`,
      GOALS[name],
      `${figures['lowest ratio']}, ${figures['highest ratio']}`,
      figures['ratio of CPU time'],
      figures['CPU µs'],
      figures['per second'],
      figures['baseline per second'],
    ])
    const missed = Object.entries(GOALS).filter(
      ([name, goal]) => (endpoints[name]?.['ratio'] ?? 0) < goal,
    )
    return `${table(
      [
        'endpoint',
        'ratio',
        'goal',
        'lowest and highest round',
        'ratio of CPU time',
        'CPU µs',
        'per second',
        'baseline',
      ],
      [...rows, ['a plain route', '', '', '', '', plainRoute?.cpuUs, '', plainRoute?.perSecond]],
    )}

Below their goals: ${missed.map(([name]) => name).join(', ') || 'none'}.`
  },

  growth({ growth: { jobs, ledger, rateLimit } }) {
    const names = Object.keys(Object.values(jobs)[0] ?? {})
    const last = Object.values(jobs).at(-1) ?? {}
    const accounts = Object.entries(ledger).map(
      ([entries, { medianMs }]) => `${medianMs} ms with ${cellOf(Number(entries))}`,
    )
    return `${table(
      ['jobs', ...names],
      [
        ['rows read', ...names.map((name) => last[name]?.rowsRead)],
        ...Object.entries(jobs).map(([size, points]) => [
          Number(size),
          ...names.map((name) => `${points[name]?.medianMs} ms`),
        ]),
      ],
    )}

\`GET /v1/account\` by ledger entries: ${accounts.join(', ')}. With the rate limit of the measurement, ${cellOf(rateLimit.accepted)}
requests passed in a minute and ${cellOf(rateLimit.rejected)} were rejected; a request took ${rateLimit.firstThousandMs} ms at the start of the window
and ${rateLimit.lastThousandMs} ms at its end.`
  },

  latency({ latency: { fromCompletion, completedPerSecond, ...modes } }) {
    const rows = Object.entries({
      ...modes,
      ...Object.fromEntries(
        Object.entries(fromCompletion).map(([name, each]) => [`from completion to ${name}`, each]),
      ),
    }).flatMap(([name, each]) =>
      'p50Ms' in each
        ? [[name, each.jobs, `${cellOf(each.p50Ms)} ms`, `${cellOf(each.p99Ms)} ms`]]
        : [],
    )
    return `${table(['', 'jobs', 'p50', 'p99'], rows)}

One consumer settles ${completedPerSecond.test} jobs a second in test mode and ${completedPerSecond.live} in live mode.`
  },

  soak: ({ soak: { violations, ...counts } }) =>
    table(['', ''], [
      ...Object.entries(counts).filter(([, value]) => typeof value === 'number'),
      ['violated invariants', violations.length],
    ] as Cell[][]),

  fairness({ fairness }) {
    const rows = Object.entries(fairness).flatMap(([name, figures]) =>
      'testJobMs' in figures
        ? [[name, figures.testJobMs, figures.liveJobMs, figures.webhookMs]]
        : [],
    )
    const requests = Object.entries(fairness).flatMap(([name, figures]) =>
      'p99Ms' in figures ? [[name, ...Object.values(figures)]] : [],
    )
    const columns = Object.keys(fairness['GET /v1/account alone'])
    return `${table(['ms', 'test job', 'live job', 'webhook'], rows)}\n\n${table(['', ...columns], requests)}`
  },

  console: ({ console: { jobs, pages } }) =>
    `With ${cellOf(jobs)} jobs:\n\n${table(
      ['page', 'p50', 'p95'],
      Object.entries(pages).map(([page, { p50Ms, p95Ms }]) => [
        `\`${page}\``,
        `${p50Ms} ms`,
        `${p95Ms} ms`,
      ]),
    )}`,
}

/**
 * Replaces every `<!-- measured: name -->…<!-- end -->` of a page.
 * @throws Error for a name that is not one of the parts
 */
export async function performancePage(page: string, run: Run): Promise<string> {
  const filled = page.replace(
    /(<!-- measured: (\w+) -->)[^]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => {
      const part = PARTS[name]
      if (!part) throw new Error(`docs/performance.md has a part that is not measured: ${name}`)
      return `${start}\n\n${part(run)}\n\n${end}`
    },
  )
  return format(filled, { ...(await resolveConfig(PAGE)), filepath: PAGE })
}

/** Writes the page. @throws Error without a release in bench/history */
export async function writePage(): Promise<void> {
  const run = readRuns().at(-1)
  if (!run) throw new Error('bench/history is empty. Run `npm run bench -- --record`.')
  writeFileSync(PAGE, await performancePage(readFileSync(PAGE, 'utf8'), run))
}

if (import.meta.main) await writePage()
