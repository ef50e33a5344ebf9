// `npm run dev [-- arguments of wrangler]`: `wrangler dev`, and the cron handler each minute, because crons do
// not run locally.
import { DEVELOPMENT } from './seed.ts'
import { startDevServer } from './wrangler.ts'

console.log('Starting …')
const args = process.argv.slice(2)
// Wrangler has printed the reason of a failure, such as a port that is in use.
const server = await startDevServer(args, (text) => process.stdout.write(text)).catch(() =>
  process.exit(1),
)

const cron = setInterval(() => {
  fetch(`${server.url}/cdn-cgi/handler/scheduled`).catch(() => {})
}, 60_000)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => void server.stop())
}

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

process.exitCode = await server.ended
clearInterval(cron)
