// Writes the static files that the Worker serves into assets/: our own, those of npm packages, the
// documentation site and the client packages.
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DocsError } from './docs-site/docs-error.ts'
import { writeDownloads } from './downloads.ts'

const root = join(import.meta.dirname, '..')
const assets = join(root, 'assets')
/** Holds the hash of the inputs of the documentation site. .assetsignore excludes it from uploads. */
const STAMP = '.docs-inputs'
const SCALAR = 'node_modules/@scalar/api-reference/dist/browser'

copy('.', 'src/docs', ['_headers'])
write('.assetsignore', '.*-inputs\n')
copy('static', 'node_modules/@picocss/pico/css', ['pico.classless.min.css'])
copy('static', 'src/console/static', [
  'billing.css',
  'console.css',
  'console.js',
  'icon.svg',
  'sandbox.css',
])
copy('static', 'samples', ['model.jpg', 'garment.jpg'])
writeDownloads(root, assets)
try {
  await writeDocs()
} catch (error) {
  if (!(error instanceof DocsError)) throw error
  console.error(error.message)
  process.exitCode = 1
}

/** Builds the documentation site unless its inputs are those of the last build. */
async function writeDocs(): Promise<void> {
  const inputs = globSync(
    ['docs/guides/**', 'docs/images/*', 'src/docs/**', 'scripts/assets.ts', 'scripts/docs-site/*'],
    { cwd: root, withFileTypes: true },
  )
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const hash = createHash('sha256')
  for (const file of [...inputs, join(root, 'package-lock.json')])
    hash.update(`${file}\n`).update(readFileSync(file))
  const stamp = hash.digest('hex')
  const stampFile = join(assets, STAMP)
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return

  // Imported here, because loading the highlighter takes most of the time of a build.
  const { buildSite } = await import('./docs-site/site.ts')
  const files = await buildSite(join(root, 'docs/guides'))
  addFiles(
    files,
    'docs/static',
    'src/docs',
    globSync('*.{css,js}', { cwd: join(root, 'src/docs') }),
  )
  addFiles(files, 'docs/static', 'node_modules/minisearch/dist/es', ['index.js'], 'minisearch.js')
  addFiles(files, 'docs/static/scalar', SCALAR, ['standalone.esm.js'])
  addFiles(
    files,
    'docs/static/scalar',
    SCALAR,
    globSync('chunks/*.js', { cwd: join(root, SCALAR) }),
  )
  for (const [path, bytes] of files) write(path, bytes)
  for (const path of globSync('docs/**/*.*', { cwd: assets }))
    if (!files.has(path)) rmSync(join(assets, path))
  write(STAMP, stamp)
}

function addFiles(
  files: Map<string, string | Uint8Array>,
  folder: string,
  from: string,
  names: string[],
  newName?: string,
): void {
  for (const name of names)
    files.set(join(folder, newName ?? name), readFileSync(join(root, from, name)))
}

function copy(folder: string, from: string, files: string[]): void {
  for (const file of files) write(join(folder, file), readFileSync(join(root, from, file)))
}

/** Writes changed files only: a running `wrangler dev` reloads at every write. */
function write(path: string, content: string | Uint8Array): void {
  const target = join(assets, path)
  mkdirSync(dirname(target), { recursive: true })
  if (!existsSync(target) || !readFileSync(target).equals(Buffer.from(content)))
    writeFileSync(target, content)
}
