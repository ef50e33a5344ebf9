// `npm run demo`: runs a live and a test job with the sample images, from a new organisation to the
// signed output URL, under `wrangler dev` with a temporary state. Needs no network.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { ROOT, startDevServer } from './wrangler.ts'

const MODEL = readFileSync(join(ROOT, 'samples', 'model.jpg'))
const GARMENT = readFileSync(join(ROOT, 'samples', 'garment.jpg'))
const OUT = join(ROOT, 'demo', 'out')
const OPERATOR_TOKEN = crypto.randomUUID()
const TIMEOUT_MS = 60_000

interface Job {
  job_id: string
  status: string
  output_url: string | null
  error_code: string | null
  credits_consumed: number | null
  duration_ms: number | null
  webhook_status: string | null
}

const startedAt = performance.now()
let stepStartedAt = startedAt

/** Prints a finished step and its duration. */
function done(step: string, ...details: string[]): void {
  const now = performance.now()
  console.log(`  ✓ ${step}  ${((now - stepStartedAt) / 1_000).toFixed(2)} s`)
  for (const detail of details) console.log(`      ${detail}`)
  stepStartedAt = now
}

/** Polls until `check` returns a value. */
async function until<T>(
  what: string,
  check: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const endsAt = performance.now() + TIMEOUT_MS
  while (performance.now() < endsAt) {
    const result = await check()
    if (result !== undefined) return result
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`Timed out waiting for ${what} after ${TIMEOUT_MS / 1_000} s`)
}

/** Starts the customer's server: it serves the images and receives the webhooks. */
function startCustomer() {
  const deliveries: { headers: Record<string, string>; body: string }[] = []
  const server = createServer((request, response) => {
    if (request.url === '/model.jpg') return response.end(MODEL)
    if (request.url === '/garment.jpg') return response.end(GARMENT)
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      deliveries.push({ headers: request.headers as Record<string, string>, body })
      response.end('ok')
    })
    return undefined
  })
  return new Promise<{ url: string; deliveries: typeof deliveries; stop(): void }>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      const stop = () => {
        server.close()
        server.closeAllConnections()
      }
      resolve({ url: `http://127.0.0.1:${port}`, deliveries, stop })
    })
  })
}

async function call<T>(url: string, token: string, body?: object): Promise<T> {
  const response = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      // A read of a job waits for its end. On a slow machine, polling would reach the rate limit.
      ...(!body && { Prefer: 'wait=5' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url} returned ${response.status}: ${text}`)
  return JSON.parse(text) as T
}

async function run(
  base: string,
  customer: Awaited<ReturnType<typeof startCustomer>>,
): Promise<void> {
  const organisation = await call<{
    org_id: string
    webhook_secret: string
    api_keys: { test: string; live: string }
  }>(`${base}/operator/organisations`, OPERATOR_TOKEN, { name: 'Demo shop' })
  done('Created an organisation with 100 credits', organisation.org_id)

  for (const mode of ['live', 'test'] as const) {
    const key = organisation.api_keys[mode]
    const { job_id } = await call<Job>(`${base}/v1/tryon`, key, {
      model_image_url: `${customer.url}/model.jpg`,
      garment_image_url: `${customer.url}/garment.jpg`,
      webhook_url: `${customer.url}/webhooks`,
    })
    done(`Submitted a ${mode} job`, job_id)

    const job = await until(`the ${mode} job`, async () => {
      const latest = await call<Job>(`${base}/v1/jobs/${job_id}`, key)
      return ['pending', 'processing'].includes(latest.status) ? undefined : latest
    })
    if (job.status !== 'completed' || !job.output_url) {
      throw new Error(`The ${mode} job ended as ${job.status} (${job.error_code})`)
    }
    done(
      `The ${mode} job completed`,
      `${job.duration_ms} ms of processing, ${job.credits_consumed} credits`,
    )

    const delivery = await until('the webhook', () =>
      customer.deliveries.find(({ body }) => body.includes(job_id)),
    )
    const event = new Webhook(organisation.webhook_secret).verify(delivery.body, delivery.headers)
    done('Received the webhook and verified its signature', (event as { type: string }).type)

    const picture = await fetch(job.output_url)
    if (!picture.ok) throw new Error(`The output URL returned ${picture.status}`)
    const extension = picture.headers.get('Content-Type') === 'image/png' ? 'png' : 'jpg'
    const file = join(OUT, `${mode}.${extension}`)
    writeFileSync(file, Buffer.from(await picture.arrayBuffer()))
    done('Downloaded the picture', relative(process.cwd(), file))
  }

  const { credits } = await call<{ credits: number }>(
    `${base}/v1/account`,
    organisation.api_keys.live,
  )
  if (credits !== 99) throw new Error(`The balance is ${credits}, not 99`)
  done('One credit was charged, for the live job', `balance ${credits}`)
}

const state = mkdtempSync(join(tmpdir(), 'try-on-demo-'))
let serverOutput = ''
try {
  console.log('Try-On demo: a model image and a garment image in, one picture out')
  rmSync(OUT, { recursive: true, force: true })
  mkdirSync(OUT, { recursive: true })
  const customer = await startCustomer()
  const server = await startDevServer(
    ['--port', '0', '--persist-to', state, '--var', `OPERATOR_TOKEN:${OPERATOR_TOKEN}`],
    (text) => (serverOutput += text),
  )
  done('Started the service', server.url)
  try {
    await run(server.url, customer)
  } finally {
    await server.stop()
    customer.stop()
  }
  console.log(`Done in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s.`)
} catch (error) {
  console.error(serverOutput)
  console.error(error)
  process.exitCode = 1
} finally {
  rmSync(state, { recursive: true, force: true })
}
