// The documents and files that describe the monitoring of a deployment agree with the code.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { ROOT } from '../../scripts/wrangler.ts'
import { ALERTS, titleOf } from '../../src/monitoring/alerts.ts'

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
