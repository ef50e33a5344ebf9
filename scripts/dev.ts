// `npm run dev [-- arguments of wrangler]`: migrates and seeds the local database, starts
// `wrangler dev`, and calls the cron handler each minute, because crons do not run locally.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultVars } from './dev-settings.ts'
import { DEVELOPMENT, seed } from './seed.ts'
import { optionOf, ROOT, startDevServer } from './wrangler.ts'

const args = process.argv.slice(2)
const DEV_VARS = join(ROOT, '.dev.vars')
const vars = defaultVars(args, existsSync(DEV_VARS) ? readFileSync(DEV_VARS, 'utf8') : '')

console.log('Preparing the local database …')
const seeded = await seed(optionOf(args, '--persist-to'))
const server = await startDevServer([...vars, ...args], (text) => process.stdout.write(text))

const cron = setInterval(() => {
  fetch(`${server.url}/cdn-cgi/handler/scheduled`).catch(() => {})
}, 60_000)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => void server.stop())
}

if (seeded) {
  console.log(`
  Try-On is running at ${server.url}

    console         ${server.url}/console
    mailbox         ${server.url}/console/dev/mail
    documentation   ${server.url}/docs

    workspace       ${DEVELOPMENT.workspaceId}
    test key        ${DEVELOPMENT.testKey}
    live key        ${DEVELOPMENT.liveKey}
    webhook secret  ${DEVELOPMENT.webhookSecret}

  This request makes a picture of the sample images with the live key, or a placeholder with the test key:

  curl ${server.url}/v1/tryon \\
    -H 'Authorization: Bearer ${DEVELOPMENT.liveKey}' \\
    -H 'Content-Type: application/json' -H 'Prefer: wait=30' \\
    -d '{"model_image_url":"${server.url}/static/model.jpg","garment_image_url":"${server.url}/static/garment.jpg"}'

  The cron tasks run each minute. Ignore Wrangler's warning that scheduled Workers are not triggered.
`)
}

process.exitCode = await server.ended
clearInterval(cron)
