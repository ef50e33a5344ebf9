// `npm run dev [-- arguments of wrangler]`: migrates and seeds the local database, starts
// `wrangler dev`, and calls the cron handler each minute, because crons do not run locally.
import { DEVELOPMENT, seed } from './seed.ts'
import { hasVar, optionOf, startDevServer } from './wrangler.ts'

const args = process.argv.slice(2)
const DEFAULTS = {
  OUTPUT_SIGNING_SECRET: 'for-development-only-not-a-secret',
  AUTH_SECRET: 'for-development-only-also-no-secret',
  ENCRYPTION_KEY: 'for-development-only-no-secret-either',
  DEV_MAILBOX: 'true',
}
const vars = Object.entries(DEFAULTS).flatMap(([name, value]) =>
  hasVar(args, name) ? [] : ['--var', `${name}:${value}`],
)

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

    console    ${server.url}/console
    mailbox    ${server.url}/console/dev/mail

    workspace  ${DEVELOPMENT.workspaceId}
    test key   ${DEVELOPMENT.testKey}
    live key   ${DEVELOPMENT.liveKey}

  curl ${server.url}/v1/tryon \\
    -H 'Authorization: Bearer ${DEVELOPMENT.testKey}' \\
    -H 'Content-Type: application/json' -H 'Prefer: wait=10' \\
    -d '{"model_image_url":"https://shop.example/model.jpg","garment_image_url":"https://shop.example/shirt.png"}'
`)
}

process.exitCode = await server.ended
clearInterval(cron)
