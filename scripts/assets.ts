// Gathers the static files that the Worker serves into assets/, ours and those of packages.
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const assets = join(root, 'assets')

rmSync(assets, { recursive: true, force: true })
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

function gather(folder: string, from: string, files: string[]): void {
  mkdirSync(join(assets, folder), { recursive: true })
  for (const file of files) cpSync(join(root, from, file), join(assets, folder, file))
}
