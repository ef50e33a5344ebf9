// The commands listen and trigger, with webhooks that the service sends.
import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { Webhook } from 'standardwebhooks'
import type { Job } from '../../packages/client/src/index.ts'
import { newShop, type CliHome, type RunningCli } from './support/cli.ts'
import { sharedService, type NewOrganisation } from './support/service.ts'

const EVENTS = ['job.completed', 'job.failed', 'job.refunded', 'job.cancelled']
/** The note for people, or the document of --json. */
const LISTENING = /(?:Listening on |"listening":")(http:\/\/127\.0\.0\.1:\d+)/

interface Received {
  headers: IncomingHttpHeaders
  body: string
}

const service = sharedService()
let organisation: NewOrganisation
let home: CliHome

before(async () => {
  ;({ organisation, home } = await newShop())
})

after(() => home?.remove())

/** Starts `try-on listen` with the secret of the organisation. */
async function listen(...args: string[]): Promise<{ listener: RunningCli; url: string }> {
  const listener = home.start(['listen', '--port', '0', ...args], {
    TRY_ON_WEBHOOK_SECRET: organisation.webhook_secret,
  })
  const [, url = ''] = await listener.untilPrinted(LISTENING)
  return { listener, url }
}

/** Sends Ctrl-C and returns what was printed. */
async function stop({ child, ended }: RunningCli) {
  child.kill('SIGINT')
  return ended
}

/** A local server of a developer. */
async function localServer(status: number, headers = {}) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      received.push({ headers: request.headers, body })
      response.writeHead(status, headers).end()
    })
  })
  // A failed test must not wait for it.
  server.listen(0, '127.0.0.1').unref()
  await new Promise((resolve) => server.once('listening', resolve))
  return { received, server, url: `${addressOf(server)}/webhooks` }
}

function addressOf(server: Server): string {
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  return `http://127.0.0.1:${address.port}`
}

/** A webhook with a valid signature, unless `secret` is another one. */
function signed(secret = organisation.webhook_secret, sentAt = new Date()) {
  const body = JSON.stringify({
    type: 'job.failed',
    timestamp: sentAt.toISOString(),
    data: { job_id: 'job_\u001B[31m1', status: 'failed' },
  })
  return {
    method: 'POST',
    body,
    headers: {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('evt_1', sentAt, body),
    },
  }
}

describe('listen', () => {
  it('verifies, prints and forwards a delivery of the service', async () => {
    const local = await localServer(204)
    const { listener, url } = await listen('--forward', local.url)
    const triggered = await home.run(['trigger', 'job.completed', '--webhook-url', url])
    assert.equal(triggered.code, 0, triggered.stderr)
    const { code, stdout, stderr } = await stop(listener)
    local.server.close()
    assert.equal(code, 0)
    const line =
      /^[\d:]{8} {2}job\.completed {2}job_\w+ {2}completed {2}verified {2}forwarded: 204 {2}→ 204\n$/
    assert.match(stdout, line)
    assert.match(stderr, /Use http:\S+ as webhook_url\. A service on the internet needs a tunnel/)
    const [{ headers, body }] = local.received as [Received]
    const verified = new Webhook(organisation.webhook_secret).verify(body, {
      'webhook-id': String(headers['webhook-id']),
      'webhook-timestamp': String(headers['webhook-timestamp']),
      'webhook-signature': String(headers['webhook-signature']),
    })
    assert.equal((verified as { type: string }).type, 'job.completed')
    assert.equal(headers['content-type'], 'application/json')
  })

  it('responds to a forged, a changed or an old webhook with 400 and does not forward it', async () => {
    const local = await localServer(200)
    const { listener, url } = await listen('--forward', local.url)
    const forged = await fetch(url, signed('whsec_b3RoZXIgc2VjcmV0IG9mIDI0IGJ5dGVz'))
    assert.equal(forged.status, 400)
    assert.match(await forged.text(), /No signature of the webhook matches/)
    const webhook = signed()
    const changed = await fetch(url, {
      ...webhook,
      body: webhook.body.replace('failed', 'completed'),
    })
    assert.equal(changed.status, 400)
    const old = await fetch(url, signed(undefined, new Date(Date.now() - 400_000)))
    assert.equal(old.status, 400)
    assert.equal((await fetch(url, { method: 'POST', body: 'text' })).status, 400)
    const { stdout } = await stop(listener)
    local.server.close()
    assert.deepEqual(local.received, [])
    assert.equal(stdout.match(/ {2}invalid {2}→ 400 {2}\(/g)?.length, 4)
    assert.match(stdout, /too old: \d+ seconds/)
    assert.match(stdout, /unknown type {2}no job/)
  })

  it('returns the status of the local server, and its Retry-After', async () => {
    const local = await localServer(503, { 'Retry-After': '7' })
    const { listener, url } = await listen('--forward', local.url, '--json')
    const response = await fetch(url, signed())
    assert.equal(response.status, 503)
    assert.equal(response.headers.get('Retry-After'), '7')
    local.server.close()
    local.server.closeAllConnections()
    assert.equal((await fetch(url, signed())).status, 502)
    const { stdout } = await stop(listener)
    const documents = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.deepEqual(documents[0], { listening: url })
    assert.deepEqual(
      documents.slice(1).map((document) => [document.verified, document.forward_status]),
      [
        [true, 503],
        [true, null],
      ],
    )
    assert.match(String(documents[2]?.problem), /cannot be reached/)
  })

  it('rejects other methods and large bodies', async () => {
    const { listener, url } = await listen()
    const get = await fetch(url)
    assert.deepEqual([get.status, get.headers.get('Allow')], [405, 'POST'])
    const large = await fetch(url, { method: 'POST', body: 'a'.repeat(1024 * 1024 + 1) })
    assert.equal(large.status, 413)
    assert.equal((await stop(listener)).stdout, '')
  })

  it('removes control characters from what it prints', async () => {
    const { listener, url } = await listen()
    assert.equal((await fetch(url, signed())).status, 200)
    assert.match((await stop(listener)).stdout, /job\.failed {2}job_\[31m1 {2}failed {2}verified/)
  })

  it('accepts webhooks without a secret and says that they are not verified', async () => {
    const listener = home.start(['listen', '--port', '0'])
    const [, url = ''] = await listener.untilPrinted(LISTENING)
    assert.equal((await fetch(url, signed())).status, 200)
    const { stdout, stderr } = await stop(listener)
    assert.match(stderr, /Warning: No webhook signing secret/)
    assert.match(stdout, /failed {2}not verified {2}→ 200/)
  })
})

describe('trigger', () => {
  it('sends webhooks of all four types', async () => {
    const { listener, url } = await listen()
    const { code, stdout, stderr } = await home.run(['trigger', 'all', '--webhook-url', url])
    assert.equal(code, 0, stderr)
    const printed = (await stop(listener)).stdout
    for (const event of EVENTS) {
      const status = event.replace('job.', '')
      assert.match(stdout, new RegExp(`${event} +job_\\w+ +${status} +delivered`))
      assert.match(printed, new RegExp(`${event}  job_\\w+  ${status}  verified  → 200`))
    }
  })

  it('prints the jobs as JSON', async () => {
    const { listener, url } = await listen()
    const args = ['trigger', 'job.failed', '--webhook-url', url, '--json']
    const { code, stdout } = await home.run(args)
    await stop(listener)
    assert.equal(code, 0)
    const { events } = JSON.parse(stdout) as { events: { event: string; job: Job }[] }
    assert.deepEqual(
      events.map(({ event, job }) => [event, job.status, job.error_code, job.webhook_status]),
      [['job.failed', 'failed', 'person_not_found', 'delivered']],
    )
  })

  it('ends with 1 when a delivery failed', async () => {
    const gone = await localServer(410)
    const { code, stderr } = await home.run(['trigger', 'job.completed', '--webhook-url', gone.url])
    gone.server.close()
    assert.equal(code, 1)
    assert.match(stderr, /Not delivered: job\.completed\.\n {2}The console shows the responses/)
  })

  it('needs a test key', async () => {
    const { code, stderr } = await home.run(['trigger', 'all', '--webhook-url', service.url], {
      TRY_ON_API_KEY: organisation.api_keys.live,
    })
    assert.equal(code, 3)
    assert.match(stderr, /trigger needs a test key, and this is a live key/)
  })
})
