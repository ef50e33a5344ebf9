// Runs test/browser with Chromium or, where there is none, says so: the other tests need no browser.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { chromiumPath } from './chromium.ts'
import { ROOT } from './wrangler.ts'

if (chromiumPath()) {
  const files = globSync('test/browser/*.test.ts', { cwd: ROOT })
  const { status } = spawnSync(process.execPath, ['--test', ...files], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
} else {
  console.warn(`
  THE BROWSER TESTS WERE NOT RUN: no Chromium was found.
  Install it (Debian: apt-get install chromium) or name it: CHROMIUM=/path/to/chromium npm test
`)
}
