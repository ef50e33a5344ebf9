// Builds Workers that run in a Miniflare of our own: for the bench, and for the services of tests. Starting one takes a
// third of the CPU time of `wrangler dev`, which builds at each start.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { wrangler } from './wrangler.ts'

const MODULE_TYPES = {
  js: 'ESModule',
  wasm: 'CompiledWasm',
  png: 'Data',
  jpg: 'Data',
  bin: 'Data',
  json: 'Data',
} as const

/**
 * Builds a Worker as it is deployed.
 * @param entry its main module, relative to the repository
 * @param folder receives the modules; they are not built again if it exists
 * @returns options of Miniflare
 * @throws Error with wrangler's output when it does not build
 */
export function buildWorker(entry: string, folder: string) {
  if (!existsSync(folder)) wrangler('deploy', entry, '--dry-run', '--outdir', folder)
  const main = `${entry.split('/').at(-1)?.replace(/\.ts$/, '')}.js`
  const modules = readdirSync(folder).flatMap((file) => {
    const type = MODULE_TYPES[file.split('.').at(-1) as keyof typeof MODULE_TYPES]
    return type ? [{ type, path: join(folder, file) }] : []
  })
  // Miniflare takes the first module as the entry.
  modules.sort((a, b) => Number(b.path.endsWith(main)) - Number(a.path.endsWith(main)))
  return { modules, modulesRoot: folder }
}
