// What the services of tests and screenshots share (test/node/support/service.ts).
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildWorker } from './built-worker.ts'
import { prepareLocalState } from './local-state.ts'
import { ROOT } from './wrangler.ts'

/** Whether wrangler reads the file .env. */
const DOT_ENV = 'CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV'

/**
 * Builds the Worker, migrates its databases and reads wrangler.toml, all once.
 * @param folder receives the files, and becomes TEST_SERVICE of this process and those that it starts
 */
export async function prepareService(folder: string): Promise<void> {
  buildWorker('src/index.ts', join(folder, 'worker'))
  await prepareLocalState(join(folder, 'state'))
  // Imported here, because loading wrangler takes a second.
  const { unstable_getMiniflareWorkerOptions: optionsOf } = await import('wrangler')
  // The settings of a developer must not reach the tests.
  process.env[DOT_ENV] = 'false'
  const { workerOptions } = optionsOf(join(ROOT, 'wrangler.toml'))
  delete process.env[DOT_ENV]
  writeFileSync(join(folder, 'options.json'), JSON.stringify(workerOptions))
  process.env['TEST_SERVICE'] = folder
}
