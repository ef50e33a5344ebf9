// The archives of the client packages in assets/downloads/: their files and owners.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { writeDownloads } from '../../scripts/downloads.ts'
import { ROOT } from '../../scripts/wrangler.ts'

/** Files that developers have in the folder of the Python package. */
const LOCAL_FILES = [
  '.env',
  '.venv/bin/activate.py',
  'src/.env',
  'src/try_on/__pycache__/client.cpython-311.pyc',
  'src/try_on.egg-info/PKG-INFO',
]

/** A copy of the sources of the client packages. */
let root: string
let assets: string

before(() => {
  root = mkdtempSync(join(tmpdir(), 'try-on-downloads-test-'))
  assets = join(root, 'assets')
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  for (const path of ['tsconfig.json', 'packages/client', 'packages/client-python']) {
    cpSync(join(ROOT, path), join(root, path), { recursive: true })
  }
  for (const path of LOCAL_FILES) {
    const file = join(root, 'packages/client-python', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, 'local')
  }
  writeDownloads(root, assets)
})
after(() => rmSync(root, { recursive: true, force: true }))

const archive = (name: string) => join(assets, 'downloads', name)
const filesOf = (name: string) =>
  execFileSync('tar', ['-tzf', archive(name)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .toSorted()

describe('try-on-python.tar.gz', () => {
  it('contains the sources and metadata of the package, and no local files', () => {
    assert.deepEqual(filesOf('try-on-python.tar.gz'), [
      'client-python/README.md',
      'client-python/pyproject.toml',
      'client-python/src/try_on/__init__.py',
      'client-python/src/try_on/client.py',
      'client-python/src/try_on/errors.py',
      'client-python/src/try_on/http.py',
      'client-python/src/try_on/jobs.py',
      'client-python/src/try_on/models.py',
      'client-python/src/try_on/py.typed',
      'client-python/src/try_on/webhooks.py',
    ])
  })

  it('does not name the user who built it', () => {
    const header = gunzipSync(readFileSync(archive('try-on-python.tar.gz'))).toString('latin1')
    const [ids, names] = [header.slice(108, 124), header.slice(265, 329)]
    assert.match(ids, /^[0\0 ]+$/)
    assert.match(names, /^\0+$/)
  })
})

describe('try-on-client.tgz', () => {
  it('contains the built files, the README and the metadata of the package', () => {
    const files = filesOf('try-on-client.tgz')
    const others = files.filter((path) => !/^package\/dist\/[\w/.-]+\.(js|d\.ts)$/.test(path))
    assert.deepEqual(others, ['package/README.md', 'package/package.json'])
    assert.ok(files.includes('package/dist/index.js'))
    assert.ok(files.includes('package/dist/cli/main.js'))
  })
})

describe('writeDownloads', () => {
  it('writes an archive again that is missing', () => {
    for (const name of ['try-on-python.tar.gz', 'try-on-client.tgz']) {
      rmSync(archive(name))
      writeDownloads(root, assets)
      assert.ok(existsSync(archive(name)))
    }
  })
})
