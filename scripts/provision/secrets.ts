// Generates the secrets that a Worker lacks. Cloudflare never returns a secret, so each value is first
// written to a file that only its owner can read: the operator needs the token and a copy of the key.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseEnv } from 'node:util'
import { z } from 'zod'
import { ROOT } from '../wrangler.ts'
import { created, exists, type Context, type Line } from './step.ts'

const SECRETS = ['OUTPUT_SIGNING_SECRET', 'ENCRYPTION_KEY', 'AUTH_SECRET', 'OPERATOR_TOKEN']
const PERMISSION = 'Workers Scripts: Edit'

/** The file with the generated secrets of a Worker. Git ignores it. */
export const secretsFileOf = (folder: string, worker: string): string =>
  join(folder, `.secrets.${worker}.env`)

/** @throws ProvisionError */
export async function* secretSteps(context: Context): AsyncGenerator<Line> {
  const { api, account, config, secretsFolder } = context
  const worker = `${account}/workers/scripts/${config.worker}`
  const path = `${worker}/secrets`
  const existing = await api.call(
    { path, permission: PERMISSION },
    z.array(z.object({ name: z.string() })),
  )
  // Only a Worker can have secrets. It gets the code at the first deployment, and until then no address.
  if (existing) yield exists(`Worker ${config.worker}`)
  else yield await created(context, `Worker ${config.worker}`, () => createWorker(context, worker))

  const names = new Set(existing?.map(({ name }) => name))
  const file = secretsFileOf(secretsFolder, config.worker)
  const generated: string[] = []
  for (const name of SECRETS) {
    const what = `secret ${name}`
    if (names.has(name)) yield exists(what)
    else {
      generated.push(name)
      yield await created(context, what, async () => {
        const body = { name, text: storedSecret(file, name), type: 'secret_text' }
        await api.call({ method: 'PUT', path, body, permission: PERMISSION }, z.unknown())
      })
    }
  }
  if (generated.length === 0 || context.dryRun) return
  yield {
    status: 'needs you',
    what: `copies of ${generated.join(', ')}`,
    todo: `Cloudflare shows no secret again. Move ${relative(ROOT, file)} to your password manager, and delete it here.`,
  }
}

/** The value in the file, which a run that failed may have written. Otherwise a new one, stored first. */
function storedSecret(file: string, name: string): string {
  const stored = existsSync(file) ? parseEnv(readFileSync(file, 'utf8'))[name] : undefined
  if (stored) return stored
  const value = randomBytes(32).toString('hex')
  writeFileSync(file, `${name}=${value}\n`, { flag: 'a', mode: 0o600 })
  return value
}

async function createWorker({ api, config }: Context, path: string): Promise<void> {
  const code = "export default { fetch: () => new Response('Not deployed', { status: 503 }) }\n"
  const metadata = { main_module: 'worker.js', compatibility_date: config.compatibilityDate }
  const form = new FormData()
  form.set('metadata', new Blob([JSON.stringify(metadata)], { type: 'application/json' }))
  form.set('worker.js', new File([code], 'worker.js', { type: 'application/javascript+module' }))
  await api.call({ method: 'PUT', path, body: form, permission: PERMISSION }, z.unknown())
}
