// A short run of `npm run fuzz` with a random seed.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { it } from 'node:test'
import { ROOT } from '../../scripts/wrangler.ts'

it('npm run fuzz finds no problems', { timeout: 300_000 }, (t) => {
  const args = ['scripts/fuzz.ts', '--files', '500']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
  })
  t.diagnostic(stdout)
  assert.equal(status, 0, stdout + stderr)
})
