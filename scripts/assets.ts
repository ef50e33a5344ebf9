// Writes the static files that the Worker serves into assets/: our own, those of npm packages, the
// documentation site and the client packages.
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { buildWhenChanged } from './build-when-changed.ts'
import { SAMPLES } from '../src/domain/samples.ts'
import { webhookSnippets } from './webhook-snippets.ts'

const root = join(import.meta.dirname, '..')
const assets = join(root, 'assets')
const SCALAR = 'node_modules/@scalar/api-reference/dist/browser'

// The stamps of builds are not uploaded.
write('.assetsignore', '.*-inputs\n')
writeCommonPasswords()
copy('static', 'src/console/static', readdirSync(join(root, 'src/console/static')))
const guide = readFileSync(join(root, 'docs/guides/webhooks.md'), 'utf8')
write('static/verify-webhook.json', JSON.stringify(webhookSnippets(guide)))
copy('static', 'samples', ['model.jpg', 'garment.jpg'])
const sampleFiles = SAMPLES.map(({ file }) => file)
copy('static/samples', 'samples', sampleFiles)
copy('static/samples/thumbnails', 'samples/thumbnails', sampleFiles)
copy('static', 'docs', ['postman.json'])
copy('downloads', 'releases', readdirSync(join(root, 'releases')))
try {
  await buildWhenChanged(
    {
      root,
      stamp: join(assets, '.docs-inputs'),
      inputs: [
        'docs/guides/**',
        'docs/images/*',
        'docs/.vitepress/{*,theme/*}',
        'src/domain/docs.ts',
        'scripts/assets.ts',
        'package-lock.json',
      ],
      outputs: [join(assets, 'docs.html'), join(assets, '_headers')],
    },
    writeDocs,
  )
} catch (error) {
  if (!(error instanceof Error && error.name === 'DocsError')) throw error
  console.error(error.message)
  process.exitCode = 1
}

/** The common passwords of ten or more characters; shorter ones are rejected for their length. */
function writeCommonPasswords(): void {
  const source = 'node_modules/@zxcvbn-ts/language-common/src/passwords.json'
  const passwords: string[] = JSON.parse(readFileSync(join(root, source), 'utf8'))
  const long = passwords.filter((password) => password.length >= 10)
  write('static/common-passwords.txt', long.map((password) => password.toLowerCase()).join('\n'))
}

async function writeDocs(): Promise<void> {
  // Imported here, because loading VitePress takes a second.
  const { buildSite } = await import('../docs/.vitepress/site.ts')
  const files = await buildSite(join(root, 'docs'))
  for (const path of globSync(['standalone.esm.js', 'chunks/*.js'], { cwd: join(root, SCALAR) }))
    files.set(join('docs/static/scalar', path), readFileSync(join(root, SCALAR, path)))
  for (const [path, bytes] of files) write(path, bytes)
  for (const path of globSync('docs/**/*.*', { cwd: assets }))
    if (!files.has(path)) rmSync(join(assets, path))
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
