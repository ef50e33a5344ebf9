// Gathers the static files that the Worker serves into assets/, ours and those of packages.
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const viewer = join(root, 'node_modules', 'swagger-ui-dist')
const page = join(root, 'src', 'docs')
const assets = join(root, 'assets')
const docs = join(assets, 'docs')

rmSync(assets, { recursive: true, force: true })
mkdirSync(docs, { recursive: true })
for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']) {
  cpSync(join(viewer, file), join(docs, file))
}
for (const file of ['index.html', 'start.js']) cpSync(join(page, file), join(docs, file))
cpSync(join(page, '_headers'), join(assets, '_headers'))
