// The documents and files that describe the monitoring of a deployment agree with the code.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { ROOT } from '../../scripts/wrangler.ts'
import { ALERTS, titleOf } from '../../src/jobs/monitoring/alerts.ts'
import { labelsOf, METRICS, type Metric } from '../../src/platform/metrics.ts'

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

/** The cells of the rows of the table that starts with this heading. */
function tableOf(text: string, heading: string): string[][] {
  const [, after = ''] = text.split(new RegExp(`^\\| ${heading} .*\\n`, 'm'))
  const [table = ''] = after.split('\n\n')
  const rows = table.split('\n').slice(1)
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

describe('the alerts', () => {
  it('are those of the runbook', () => {
    const rows = ALERTS.map((alert) => [
      `[${titleOf(alert)}](#${alert.runbook})`,
      alert.condition,
      alert.holdMinutes === 0 ? '–' : `${alert.holdMinutes} min`,
      alert.severity,
      alert.sums ? 'metrics' : '–',
      alert.budget ?? '–',
    ])
    assert.deepEqual(tableOf(read('docs/runbook.md'), 'alert'), rows)
  })

  it('have a section of the runbook each', () => {
    const headings = read('docs/runbook.md').match(/^## .+$/gm) ?? []
    const anchors = new Set(
      headings.map((heading) =>
        heading
          .slice(3)
          .toLowerCase()
          .replaceAll(/[^\w ]/g, '')
          .replaceAll(' ', '-'),
      ),
    )
    for (const { runbook } of ALERTS) assert.ok(anchors.has(runbook), runbook)
  })

  it('burn the budgets of the objectives', () => {
    const rows = tableOf(read('docs/slo.md'), 'budget')
    const objectives = tableOf(read('docs/slo.md'), 'objective').map(([name]) => name)
    assert.deepEqual(
      rows.map(([objective]) => `**${objective}**`),
      objectives,
    )
    for (const [objective = '', names = ''] of rows) {
      const burning = ALERTS.filter(({ budget }) => budget === objective).map(titleOf)
      assert.equal(names, burning.join(', ') || '–')
    }
    for (const { budget } of ALERTS) {
      if (budget !== null) assert.ok(objectives.includes(`**${budget}**`), budget)
    }
  })
})

describe('the metrics', () => {
  it('are those of docs/metrics.md, with a column for each label', () => {
    const rows = tableOf(read('docs/metrics.md'), '`blob1` +\\| `blob2`')
    const columns = rows.map(([name = '', ...labels]) => [
      name.replaceAll('`', ''),
      labels.slice(0, -1).filter(Boolean).length,
    ])
    assert.deepEqual(
      columns,
      METRICS.map((metric) => [metric, labelsOf(metric).length]),
    )
  })
})

describe('the dashboard of Grafana', () => {
  interface Panel {
    id: number
    type: string
    title: string
    gridPos: { x: number; y: number; w: number; h: number }
    targets?: { query: string }[]
  }
  const { panels } = JSON.parse(read('docs/grafana/try-on.json')) as { panels: Panel[] }
  const queries = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ query }) => ({ title, query })),
  )
  const metricOf = (query: string) => /blob1 = '(\w+)'/.exec(query)?.[1] as Metric

  it('reads metrics and labels that the Worker writes', () => {
    assert.ok(queries.length > 15)
    for (const { title, query } of queries) {
      const metric = metricOf(query)
      assert.ok(METRICS.includes(metric), `${title}: ${metric}`)
      for (const [column, number] of query.matchAll(/\bblob(\d+)/g)) {
        assert.ok(
          Number(number) <= labelsOf(metric).length + 1,
          `${title}: ${metric} has no ${column}`,
        )
      }
      assert.match(query, /FROM \$dataset WHERE \$timeFilter AND /, title)
      assert.match(query, /_sample_interval/, title)
    }
  })

  it('has a panel for each metric', () => {
    assert.deepEqual(new Set(queries.map(({ query }) => metricOf(query))), new Set(METRICS))
  })

  it('has panels that do not overlap', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    )
    assert.equal(new Set(cells).size, cells.length)
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
    for (const { x, w } of panels.map(({ gridPos }) => gridPos)) assert.ok(x + w <= 24)
  })
})
