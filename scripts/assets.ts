// Gathers the static files that the Worker serves into assets/, ours and those of packages.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const assets = join(root, 'assets')

gather('docs', 'node_modules/swagger-ui-dist', [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'favicon-32x32.png',
])
gather('docs', 'src/docs', ['index.html', 'start.js'])
gather('.', 'src/docs', ['_headers'])
gather('static', 'node_modules/@picocss/pico/css', ['pico.classless.min.css'])
gather('static', 'src/console/static', ['console.css', 'console.js', 'icon.svg'])
gather('static', 'samples', ['model.jpg', 'garment.jpg'])

/** Copies what is not there already: a running `wrangler dev` starts anew at every change. */
function gather(folder: string, from: string, files: string[]): void {
  mkdirSync(join(assets, folder), { recursive: true })
  for (const file of files) {
    const bytes = readFileSync(join(root, from, file))
    const target = join(assets, folder, file)
    if (!existsSync(target) || !readFileSync(target).equals(bytes)) writeFileSync(target, bytes)
  }
}
