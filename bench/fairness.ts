// 6. Fairness: how much the hanging servers of one organisation delay another one, under `wrangler dev`,
// where each queue has one batch in flight at a time. Uses loopback addresses only.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateLocally } from '../scripts/migrate.ts'
import { ROOT, startDevServer } from '../scripts/wrangler.ts'
import { createOrganisation, OPERATOR_TOKEN, post } from './harness.ts'
import type { BenchOrganisation } from './harness.ts'

const JOBS = 30
const DELIVERIES = 30
const MAX_WAIT_MS = 300_000
const GOALS = { testJobMs: 2_000, liveJobMs: 10_000, webhookMs: 5_000 }

type Figures = Record<keyof typeof GOALS, number>

interface HttpServer {
  url: string
  stop(): void
}

/** Starts an HTTP server on a free loopback port. */
async function listen(respond: RequestListener): Promise<HttpServer> {
  const server = createServer(respond)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
}

/** Sends headers, then one byte per second. */
const drip: RequestListener = (_, response) => {
  response.writeHead(200, { 'Content-Type': 'image/png' })
  const timer = setInterval(() => response.write('.'), 1_000)
  response.on('close', () => clearInterval(timer))
}

/** Measures with servers that never respond, and with garment servers that drip. */
export async function measureFairness() {
  const cases = {
    'image servers that never respond, one webhook receiver': await measure('never', 1),
    'image servers that drip, thirty webhook receivers': await measure('drip', DELIVERIES),
  }
  const missed = Object.entries(cases).flatMap(([name, figures]) =>
    Object.entries(GOALS)
      .filter(([figure, goal]) => figures[figure as keyof Figures] > goal)
      .map(([figure]) => `${name}: ${figure}`),
  )
  return { ...cases, goals: GOALS, missed }
}

async function measure(garment: 'never' | 'drip', receivers: number): Promise<Figures> {
  const state = mkdtempSync(join(tmpdir(), 'try-on-fairness-'))
  const servers: HttpServer[] = []
  const open = async (respond: RequestListener) => {
    const server = await listen(respond)
    servers.push(server)
    return server.url
  }
  await migrateLocally(state)
  const vars = {
    ALLOW_PRIVATE_URLS: 'true',
    OUTPUT_SIGNING_SECRET: crypto.randomUUID(),
    OPERATOR_TOKEN,
  }
  const options = Object.entries(vars).flatMap(([name, value]) => ['--var', `${name}:${value}`])
  const server = await startDevServer(['--port', '0', '--persist-to', state, ...options], () => {})
  try {
    const hanging = await open((request, response) => {
      if (garment === 'drip' && request.url === '/garment') drip(request, response)
    })
    let attempts = 0
    const hooks: string[] = []
    while (hooks.length < receivers) hooks.push(await open(() => void attempts++))
    const delivered: string[] = []
    const imageServer = await open((request, response) => {
      if (request.method === 'GET') return response.end(sampleOf(request.url ?? ''))
      delivered.push(String(request.headers['webhook-id']))
      return response.end()
    })

    const [slow, other] = [
      await createOrganisation(server.url),
      await createOrganisation(server.url),
    ]
    // Warms up the engine: the first picture takes longer than the others.
    await completed(server.url, other, await submit(server.url, other, 'live', imageServer))
    for (let n = 0; n < DELIVERIES; n++) {
      await submit(server.url, slow, 'test', hanging, hooks[n % hooks.length])
    }
    await until('a hanging delivery', async () => attempts > 0)
    for (let n = 0; n < JOBS; n++) await submit(server.url, slow, 'live', hanging)

    const startedAt = performance.now()
    const elapsed = () => Math.round(performance.now() - startedAt)
    const testJob = await submit(server.url, other, 'test', imageServer, `${imageServer}/hook`)
    const liveJob = await submit(server.url, other, 'live', imageServer)
    const eventId = testJob.replace('job_', 'evt_')
    const [testJobMs, liveJobMs, webhookMs] = await Promise.all([
      completed(server.url, other, testJob).then(elapsed),
      completed(server.url, other, liveJob).then(elapsed),
      until('the webhook', async () => delivered.includes(eventId)).then(elapsed),
    ])
    return { testJobMs, liveJobMs, webhookMs }
  } finally {
    await server.stop()
    for (const each of servers) each.stop()
    rmSync(state, { recursive: true, force: true })
  }
}

const sampleOf = (path: string) =>
  readFileSync(join(ROOT, 'samples', path === '/model' ? 'model.jpg' : 'garment.jpg'))

async function submit(
  base: string,
  { keys }: BenchOrganisation,
  mode: 'live' | 'test',
  imageServer: string,
  hook?: string,
): Promise<string> {
  const response = await post(`${base}/v1/tryon`, keys[mode], {
    model_image_url: `${imageServer}/model`,
    garment_image_url: `${imageServer}/garment`,
    ...(hook !== undefined && { webhook_url: hook }),
  })
  return ((await response.json()) as { job_id: string }).job_id
}

const completed = (base: string, { keys }: BenchOrganisation, jobId: string): Promise<void> =>
  until('the job', async () => {
    const response = await fetch(`${base}/v1/jobs/${jobId}`, {
      headers: { Authorization: `Bearer ${keys.live}` },
    })
    const job = (await response.json()) as { status: string; error_code: string | null }
    if (job.status === 'failed') throw new Error(`The job failed with ${job.error_code}`)
    return job.status === 'completed'
  })

async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + MAX_WAIT_MS
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`${what} did not arrive in time`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
