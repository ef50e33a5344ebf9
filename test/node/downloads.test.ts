// The archives of the client packages, which /downloads offers: their files, owners, bytes and versions.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { packClients } from '../../scripts/downloads.ts'
import { ROOT } from '../../scripts/wrangler.ts'
import { CLIENT_ARCHIVE, PYTHON_ARCHIVE } from '../../src/domain/docs.ts'

/** Files that developers have in the folder of the Python package. */
const LOCAL_FILES = [
  '.env',
  '.venv/bin/activate.py',
  'src/.env',
  'src/try_on/__pycache__/client.cpython-311.pyc',
  'src/try_on.egg-info/PKG-INFO',
]
const PYTHON_FOLDER = PYTHON_ARCHIVE.replace('.tar.gz', '')

/** A copy of the sources of the client packages. */
let root: string
/** Where they are packed. */
let packed: string

before(() => {
  root = mkdtempSync(join(tmpdir(), 'try-on-downloads-test-'))
  packed = join(root, 'packed')
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  for (const path of ['tsconfig.json', 'packages/client', 'packages/client-python']) {
    cpSync(join(ROOT, path), join(root, path), { recursive: true })
  }
  for (const path of LOCAL_FILES) {
    const file = join(root, 'packages/client-python', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, 'local')
  }
  packClients(root, packed)
})
after(() => rmSync(root, { recursive: true, force: true }))

/** Unpacks an archive. @returns its files by path */
function filesOf(archive: string): Map<string, string> {
  const folder = mkdtempSync(join(root, 'unpacked-'))
  execFileSync('tar', ['-xzf', archive, '-C', folder])
  const paths = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).trim().split('\n')
  return new Map(
    paths.toSorted().map((path) => [path, readFileSync(join(folder, path), 'utf8')] as const),
  )
}

describe('the Python archive', () => {
  it('contains the sources and metadata of the package, and no local files', () => {
    assert.deepEqual(
      [...filesOf(join(packed, PYTHON_ARCHIVE)).keys()],
      [
        'README.md',
        'pyproject.toml',
        'src/try_on/__init__.py',
        'src/try_on/aio.py',
        'src/try_on/client.py',
        'src/try_on/errors.py',
        'src/try_on/http.py',
        'src/try_on/jobs.py',
        'src/try_on/management.py',
        'src/try_on/models.py',
        'src/try_on/pages.py',
        'src/try_on/py.typed',
        'src/try_on/webhooks.py',
      ].map((path) => `${PYTHON_FOLDER}/${path}`),
    )
  })

  it('does not name the user who built it', () => {
    const header = gunzipSync(readFileSync(join(packed, PYTHON_ARCHIVE))).toString('latin1')
    const [ids, names] = [header.slice(108, 124), header.slice(265, 329)]
    assert.match(ids, /^[0\0 ]+$/)
    assert.match(names, /^\0+$/)
  })

  it('has the same bytes in each build', () => {
    const first = readFileSync(join(packed, PYTHON_ARCHIVE))
    utimesSync(join(root, 'packages/client-python/pyproject.toml'), 1, 1)
    const folder = mkdtempSync(join(root, 'again-'))
    packClients(root, folder)
    assert.ok(readFileSync(join(folder, PYTHON_ARCHIVE)).equals(first))
  })
})

describe('the npm archive', () => {
  it('contains the built files, the README and the metadata of the package', () => {
    const files = [...filesOf(join(packed, CLIENT_ARCHIVE)).keys()]
    const others = files.filter((path) => !/^package\/dist\/[\w/.-]+\.(js|d\.ts)$/.test(path))
    assert.deepEqual(others, [
      'package/README.md',
      'package/bin/try-on.js',
      'package/dist/cjs/package.json',
      'package/package.json',
    ])
    assert.ok(files.includes('package/dist/index.js'))
    assert.ok(files.includes('package/dist/cli/main.js'))
  })
})

describe('releases/', () => {
  // Lock files of customers contain the hashes of released archives.
  for (const archive of [CLIENT_ARCHIVE, PYTHON_ARCHIVE]) {
    it(`has ${archive} with the present sources`, () => {
      const released = filesOf(join(ROOT, 'releases', archive))
      const present = filesOf(join(packed, archive))
      const paths = [...new Set([...released.keys(), ...present.keys()])]
      const changed = paths.filter((path) => released.get(path) !== present.get(path))
      const message = 'Raise the version of the changed client, and run: npm run release:clients'
      assert.deepEqual(changed, [], message)
    })
  }

  it('is what the guides and /downloads offer', () => {
    const pages = globSync(['docs/guides/*.md', 'packages/client*/README.md'], { cwd: ROOT })
    const named = pages.flatMap((page) => [
      ...readFileSync(join(ROOT, page), 'utf8').matchAll(/downloads\/([\w.-]+)/g),
    ])
    assert.ok(named.length >= 5)
    for (const [, name = ''] of named) assert.ok([CLIENT_ARCHIVE, PYTHON_ARCHIVE].includes(name))
    for (const name of globSync('*', { cwd: join(ROOT, 'releases') })) {
      const offered = readFileSync(join(ROOT, 'assets/downloads', name))
      assert.ok(offered.equals(readFileSync(join(ROOT, 'releases', name))), name)
    }
  })
})
