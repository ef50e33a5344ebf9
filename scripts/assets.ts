// Gathers the static files that the Worker serves into assets/, from the packages that ship them.
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const from = join(root, 'node_modules', 'swagger-ui-dist')
const to = join(root, 'assets', 'docs')

rmSync(join(root, 'assets'), { recursive: true, force: true })
mkdirSync(to, { recursive: true })
for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']) {
  cpSync(join(from, file), join(to, file))
}
