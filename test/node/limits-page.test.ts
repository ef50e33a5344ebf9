// docs/limits.md is what `npm run limits` writes, and wrangler.toml has the same limit of credentials.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { format, resolveConfig } from 'prettier'
import { limitsPage } from '../../scripts/limits.ts'
import { ROOT } from '../../scripts/wrangler.ts'
import { CREDENTIALS } from '../../src/domain/budgets.ts'

it('docs/limits.md has the current limits', async () => {
  const file = join(ROOT, 'docs/limits.md')
  const page = await format(limitsPage(), { ...(await resolveConfig(file)), filepath: file })
  assert.equal(readFileSync(file, 'utf8'), page, 'Run `npm run limits`.')
})

it('wrangler.toml counts wrong credentials with the same limit', () => {
  const config = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')
  const limits = [...config.matchAll(/simple = (\{[^}]*\})/g)].map(([, text]) => text)
  const expected = `{ limit = ${CREDENTIALS.max}, period = ${CREDENTIALS.windowSeconds} }`
  assert.deepEqual([...new Set(limits)], [expected])
  assert.equal(limits.length, 3)
})
