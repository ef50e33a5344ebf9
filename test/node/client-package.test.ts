// The npm package of the client: its files, its types in a strict project, and its size.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { generateSchema, SCHEMA_FILE } from '../../packages/client/scripts/generate.ts'
import { VERSION } from '../../packages/client/src/version.ts'
import { CONSUMER, examples } from './support/client-consumer.ts'
import { hasOpenApiTools, loadOpenApiTools } from '../../scripts/openapi-tools.ts'
import { ROOT } from '../../scripts/wrangler.ts'

const MAX_BYTES = 10_000
const PACKAGE = join(ROOT, 'packages', 'client')

const skip = !hasOpenApiTools()

/** A project in which the package is installed. */
let project: string
let installed: string
let files: string[]

before(() => {
  project = mkdtempSync(join(tmpdir(), 'try-on-client-'))
  const pack = ['pack', PACKAGE, '--json', '--pack-destination', project]
  const output = execFileSync('npm', pack, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' })
  // The output of the script `prepack` precedes the JSON.
  const [tarball] = JSON.parse(output.slice(output.indexOf('[\n'))) as [
    { filename: string; files: { path: string }[] },
  ]
  files = tarball.files.map(({ path }) => path)
  installed = join(project, 'node_modules', '@try-on', 'client')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(project, tarball.filename), '-C', installed, '--strip=1'])
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }))
})
after(() => rmSync(project, { recursive: true, force: true }))

describe('the package', () => {
  it('contains the built files and the README', () => {
    const others = files.filter((path) => !/^dist\/[\w/.-]+\.(js|d\.ts)$/.test(path))
    assert.deepEqual(others.toSorted(), [
      'README.md',
      'bin/try-on.js',
      'dist/cjs/package.json',
      'package.json',
    ])
    assert.ok(files.includes('dist/index.js') && files.includes('dist/index.d.ts'))
  })

  it('depends on no other package', () => {
    const { dependencies, version } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    ) as { dependencies?: object; version: string }
    assert.equal(dependencies, undefined)
    assert.equal(version, VERSION)
  })

  it('has types that match the OpenAPI document', { skip }, async () => {
    const message = 'Run `npm run generate -w @try-on/client`.'
    assert.equal(readFileSync(SCHEMA_FILE, 'utf8'), await generateSchema(), message)
  })

  it('can be imported in Node', () => {
    const program = `
      import * as client from '@try-on/client'
      console.log(Object.keys(client).join())`
    const names = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: project,
      encoding: 'utf8',
    })
    assert.deepEqual(names.trim().split(','), [
      'ApiError',
      'ConnectionError',
      'JobError',
      'TimeoutError',
      'TryOnClient',
      'TryOnError',
      'VERSION',
      'WebhookVerificationError',
      'webhooks',
    ])
  })

  it('can be required in Node', () => {
    const program = "console.log(typeof require('@try-on/client').TryOnClient)"
    const options = { cwd: project, encoding: 'utf8' } as const
    const args = ['--no-experimental-require-module', '--input-type=commonjs', '-e', program]
    assert.equal(execFileSync(process.execPath, args, options).trim(), 'function')
  })

  it('contains the command line', () => {
    const program = join(installed, 'bin', 'try-on.js')
    const inRepository = join(PACKAGE, 'bin', 'try-on.js')
    for (const file of [program, inRepository]) {
      const options = { cwd: project, encoding: 'utf8' } as const
      assert.equal(execFileSync(process.execPath, [file, '--version'], options).trim(), VERSION)
    }
    assert.match(readFileSync(program, 'utf8'), /^#!\/usr\/bin\/env node\n/)
  })

  it('documents each exported name and member', { skip }, async () => {
    const { undocumentedExports } = await loadOpenApiTools()
    const { checked, undocumented } = undocumentedExports(join(installed, 'dist', 'index.d.ts'))
    assert.deepEqual(undocumented, [])
    assert.ok(checked > 100, `${checked} names`)
  })

  it('is smaller than 10 kB as a bundle, minified and compressed', async () => {
    const { outputFiles } = await build({
      entryPoints: [join(installed, 'dist', 'index.js')],
      bundle: true,
      minify: true,
      format: 'esm',
      write: false,
    })
    const [{ contents } = { contents: new Uint8Array() }] = outputFiles
    const size = gzipSync(contents).length
    assert.ok(size > 1_000 && size < MAX_BYTES, `${size} bytes`)
  })
})

/** The options of the projects that use the package. */
const PROJECTS: [string, object][] = [
  ['with the types of Node', { types: ['node'], lib: ['es2023'] }],
  ['with the types of browsers', { types: [], lib: ['es2023', 'dom'] }],
  ['with the types of Workers', { types: ['@cloudflare/workers-types'], lib: ['es2023'] }],
]

describe('a strict project', { skip }, () => {
  for (const [name, options] of PROJECTS) {
    it(`compiles ${name}`, () => {
      const folder = mkdtempSync(join(project, 'strict-'))
      writeFileSync(join(folder, 'consumer.ts'), CONSUMER)
      compile(folder, options)
    })
  }

  it('compiles as CommonJS', () => {
    const folder = mkdtempSync(join(project, 'commonjs-'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }')
    writeFileSync(join(folder, 'consumer.ts'), CONSUMER)
    compile(folder, { module: 'node16', types: ['node'], lib: ['es2023'] })
  })

  it('compiles the examples of the documentation', () => {
    const folder = mkdtempSync(join(project, 'examples-'))
    const files = examples()
    assert.ok(files.size > 15, `${files.size} files`)
    for (const [name, text] of files) writeFileSync(join(folder, name), text)
    compile(folder, { types: ['node'], lib: ['es2023'] })
  })
})

/** Compiles the files of a folder with TypeScript 5. */
function compile(folder: string, options: object): void {
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    ...options,
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  for (const name of ['@types', '@cloudflare', 'undici-types']) link(name)
  const compiler = join(ROOT, 'packages', 'openapi-tools', 'node_modules', 'typescript')
  const { status, stdout } = spawnSync(process.execPath, [join(compiler, 'bin', 'tsc')], {
    cwd: folder,
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout)
}

/** Makes a package of the repository available to the project. */
function link(name: string): void {
  try {
    symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
