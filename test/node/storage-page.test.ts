// docs/storage.md names everything that the service stores.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { ROOT } from '../../scripts/wrangler.ts'

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const sources = globSync('src/**/*.{ts,tsx}', { cwd: ROOT }).map(read)

/** The first columns of the rows of a section, up to the next section. */
function rowsOf(heading: string): string[] {
  const [, section = ''] = read('docs/storage.md').split(`\n## ${heading}`)
  return [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name!)
}

/** The first group of every match in the source code, each one once. */
const inSources = (pattern: RegExp) => [
  ...new Set(sources.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name!))),
]

describe('docs/storage.md', () => {
  it('has every table of D1', () => {
    const database = new DatabaseSync(':memory:')
    for (const file of globSync('migrations/*.sql', { cwd: ROOT }).sort()) database.exec(read(file))
    const tables = database
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all()
    assert.deepEqual(
      [...rowsOf('D1: accounts'), ...rowsOf('D1: jobs')].sort(),
      tables.map(({ name }) => String(name)).sort(),
    )
  })

  it('has every table of the Organisation object', () => {
    const tables = inSources(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)/g)
    assert.deepEqual(rowsOf('The Organisation object: tables').sort(), tables.sort())
  })

  it('has every key of the Organisation object', () => {
    // `kv.put(NAME, …)` with `const NAME = '…'` in the same file, and the two names of StorageAllowance.
    const keys = sources.flatMap((text) =>
      [...text.matchAll(/\bkv\??\s*\.(?:get|put)(?:<[^(]*>)?\((\w+)/gi)].flatMap(([, name]) => {
        const [, key] = new RegExp(`const ${name} = '([^']+)'`).exec(text) ?? []
        return key ?? []
      }),
    )
    const expected = new Set([...keys, ...inSources(/'(\w+-taken)'/g)])
    assert.deepEqual(rowsOf('The Organisation object: keys').sort(), [...expected].sort())
  })

  it('has every folder of R2', () => {
    const folders = inSources(/`(\w+)\/\$\{\w+Id\}/g)
    const documented = rowsOf('R2').map((key) => key.split('/')[0])
    assert.deepEqual(documented.sort(), folders.sort())
  })

  it('has every queue', () => {
    const page = read('docs/storage.md')
    const queues = read('wrangler.toml').matchAll(/^queue = "([\w-]+)"/gm)
    for (const [, queue] of queues) {
      if (!/-(staging|production)$/.test(queue!)) assert.ok(page.includes(`\`${queue}\``), queue)
    }
  })
})
