// Runs test/browser with Chromium; prints a warning when Chromium is not installed.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { chromiumPath } from './chromium.ts'
import { ROOT } from './wrangler.ts'

if (chromiumPath()) {
  const files = globSync('test/browser/*.test.ts', { cwd: ROOT })
  // The tests wait more than they compute, so two files at a time also suit two cores.
  const { status } = spawnSync(process.execPath, ['--test', '--test-concurrency=2', ...files], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
} else {
  console.warn(`
  WARNING: Chromium was not found, so the browser tests did not run.
  Install it (Debian: apt-get install chromium) or set its path: CHROMIUM=/path/to/chromium npm test
`)
}
