// Part of `npm run check`: fails when folders of src/ or packages import each other in a cycle, directly
// or through others. Type-only imports count. oxlint's import/no-cycle finds cycles between files only.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

process.chdir(join(import.meta.dirname, '..'))

const IMPORT = /\b(?:from|import)\s*\(?\s*'([^']+)'/g
const PACKAGE = /^@try-on\/([^/]+)/

/** The folder of src/, the package, or the file at the root of src/. */
function folderOf(path: string): string {
  const [root, name = ''] = path.split('/')
  return root === 'packages' ? `packages/${name}` : name
}

/** folder → imported folder → an import that causes it */
const imports = new Map<string, Map<string, string>>()

for (const file of globSync(['src/**/*.{ts,tsx}', 'packages/*/src/**/*.ts'])) {
  const from = folderOf(file)
  for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const [, packageName] = PACKAGE.exec(specifier) ?? []
    const target = specifier.startsWith('.') ? join(dirname(file), specifier) : undefined
    const to = packageName ? `packages/${packageName}` : target && folderOf(target)
    if (!to || to === from) continue
    const targets = imports.get(from) ?? new Map<string, string>()
    imports.set(from, targets.set(to, `${file} imports ${specifier}`))
  }
}

/** The imports of the shortest cycle through a folder. */
function cycleThrough(start: string): string[] | undefined {
  const queue: { folder: string; path: string[] }[] = [{ folder: start, path: [] }]
  const seen = new Set<string>()
  for (const { folder, path } of queue) {
    for (const [to, reason] of imports.get(folder) ?? []) {
      if (to === start) return [...path, reason]
      if (seen.has(to)) continue
      seen.add(to)
      queue.push({ folder: to, path: [...path, reason] })
    }
  }
  return undefined
}

const cycles = [...imports.keys()].map(cycleThrough).filter((cycle) => cycle !== undefined)
const [shortest] = cycles.sort((one, other) => one.length - other.length)
if (shortest) {
  console.error(`Folders import each other in a cycle:\n  ${shortest.join('\n  ')}`)
  process.exitCode = 1
}
