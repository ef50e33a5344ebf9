// `npm run smoke:tools`: runs each tool once and briefly, so that a tool that stopped working is noticed. Prints the
// output of those that fail.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './wrangler.ts'

const folder = mkdtempSync(join(tmpdir(), 'try-on-smoke-'))
const pairs = join(folder, 'pairs')
writeFileSync(pairs, 'model.jpg garment.jpg\n')

/** The arguments of each script of package.json, and what its output must contain. */
const SCRIPTS: Record<string, [args: string[], output: RegExp]> = {
  types: [['--check'], /up to date/],
  'db:generate': [[], /No schema changes/],
  'db:restore-drill': [[], /without a difference/],
  seed: [['--persist-to', folder], /The local database is ready/],
  fuzz: [['--files', '20'], /No problems found/],
  evaluate: [
    ['--models', 'samples', '--garments', 'samples', '--pairs', pairs, '--out', folder],
    /delivered +1 of 1/,
  ],
  openings: [['--garments', 'samples', '--out', folder], /5 pictures/],
  parts: [['--photos', 'samples', '--out', folder], /9 pictures/],
  screenshots: [['sign-in'], /screenshots? in/],
  bench: [['--smoke'], /Results as JSON/],
}

for (const [script, [args, expected]] of Object.entries(SCRIPTS)) {
  const startedAt = Date.now()
  const command = ['run', '--silent', script, '--', ...args]
  const { status, stdout, stderr } = spawnSync('npm', command, { cwd: ROOT, encoding: 'utf8' })
  const passed = status === 0 && expected.test(stdout)
  const seconds = Math.round((Date.now() - startedAt) / 1_000)
  console.log(`${passed ? 'passed' : 'FAILED'}  ${script} (${seconds} s)`)
  if (passed) continue
  console.log(`${stdout}${stderr}`)
  process.exitCode = 1
}
rmSync(folder, { recursive: true })
