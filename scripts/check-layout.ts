// Fails when folders of src/ import each other, directly or in a circle. Type imports count: a
// folder that needs another's types cannot be read, moved or tested without it.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const IMPORT = /(?:^|\s)(?:import|export)\s[^'"]*?from\s+'(\.[^']+)'|import\(\s*'(\.[^']+)'\s*\)/g

/** src/a/b/c.ts → a; a file in the root of src/ is a node of its own. */
function folderOf(path: string): string {
  const [, first = '', ...rest] = path.split(sep)
  return rest.length === 0 ? path : first
}

/** folder → imported folder → one import that causes the edge */
const edges = new Map<string, Map<string, string>>()
for (const path of globSync('src/**/*.{ts,tsx}', { cwd: ROOT })) {
  const from = folderOf(path)
  for (const [, statement, dynamic] of readFileSync(join(ROOT, path), 'utf8').matchAll(IMPORT)) {
    const imported = normalize(join(dirname(path), statement ?? dynamic ?? ''))
    const to = folderOf(imported)
    if (to === from || !imported.startsWith('src')) continue
    const known = edges.get(from) ?? new Map<string, string>()
    edges.set(from, known.set(to, known.get(to) ?? `${path} imports ${imported}`))
  }
}

/** The shortest way from one folder to another, both included. */
function pathBetween(from: string, to: string): string[] | undefined {
  const queue = [[from]]
  const seen = new Set<string>()
  for (let path = queue.shift(); path; path = queue.shift()) {
    const last = path.at(-1) ?? ''
    if (last === to && path.length > 1) return path
    for (const next of edges.get(last)?.keys() ?? []) {
      if (next !== to && seen.has(next)) continue
      seen.add(next)
      queue.push([...path, next])
    }
  }
  return undefined
}

const reported = new Set<string>()
for (const folder of edges.keys()) {
  const circle = pathBetween(folder, folder)
  if (!circle || circle.slice(1).some((member) => reported.has(member))) continue
  circle.forEach((member) => reported.add(member))
  console.error(`Folders import each other in a circle: ${circle.join(' → ')}`)
  for (const [at, member] of circle.slice(0, -1).entries()) {
    console.error(`  ${edges.get(member)?.get(circle[at + 1] ?? '')}`)
  }
}
if (reported.size > 0) process.exit(1)
