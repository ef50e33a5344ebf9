// Copies the static files that the Worker serves into assets/: our own and those of npm packages.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const assets = join(root, 'assets')

copy('docs', 'node_modules/@scalar/api-reference/dist/browser', ['standalone.js'])
copy('docs', 'src/docs', ['index.html', 'start.js'])
copy('.', 'src/docs', ['_headers'])
copy('static', 'node_modules/@picocss/pico/css', ['pico.classless.min.css'])
copy('static', 'src/console/static', [
  'billing.css',
  'console.css',
  'console.js',
  'icon.svg',
  'sandbox.css',
])
copy('static', 'samples', ['model.jpg', 'garment.jpg'])

/** Writes changed files only: a running `wrangler dev` reloads at every write. */
function copy(folder: string, from: string, files: string[]): void {
  mkdirSync(join(assets, folder), { recursive: true })
  for (const file of files) {
    const bytes = readFileSync(join(root, from, file))
    const target = join(assets, folder, file)
    if (!existsSync(target) || !readFileSync(target).equals(bytes)) writeFileSync(target, bytes)
  }
}
