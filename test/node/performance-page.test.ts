// docs/performance.md is what `npm run bench -- --record` writes, and a fallen ratio is marked.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { compareRatios } from '../../bench/compare.ts'
import { readRuns, RECORDED } from '../../bench/history.ts'
import { PAGE, performancePage } from '../../bench/page.ts'

it('docs/performance.md has the measurements of the latest release, and names its commit', async () => {
  const run = readRuns().at(-1)
  assert.ok(run, 'bench/history is empty')
  const page = readFileSync(PAGE, 'utf8')
  assert.equal(page, await performancePage(page, run), 'Run `node bench/page.ts`.')
  assert.match(page, new RegExp(`Measured at commit ${run.commit}`))
})

it('the page has a place for every part, and no other one', async () => {
  const run = readRuns().at(-1)!
  const places = [...readFileSync(PAGE, 'utf8').matchAll(/<!-- measured: (\w+) -->/g)].map(
    ([, name]) => name,
  )
  assert.deepEqual(places.toSorted(), ['run', ...RECORDED].toSorted())
  await assert.rejects(performancePage('<!-- measured: luck --><!-- end -->', run), /not measured/)
})

it('a comparison marks the ratios that fell by more than a tenth', () => {
  const stored = { 'GET /v1/account': { ratio: 0.6, 'ratio of CPU time': 0.5, 'CPU µs': 300 } }
  const now = {
    'GET /v1/account': { ratio: 0.53, 'ratio of CPU time': 0.46, 'CPU µs': 900 },
    'GET /v1/new': { ratio: 0.1 },
  }
  assert.deepEqual(compareRatios(stored, now), {
    'GET /v1/account, ratio': { earlier: 0.6, now: 0.53, change: '-12 %', mark: 'FELL' },
    'GET /v1/account, ratio of CPU time': { earlier: 0.5, now: 0.46, change: '-8 %', mark: '' },
  })
})
