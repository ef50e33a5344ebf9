// 6. Fairness: what one organisation's hanging servers cost another one, under `wrangler dev`, where
// each queue has one batch in flight at a time. Only loopback addresses are used.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, startDevServer, wrangler } from '../scripts/wrangler.ts'
import { newShop, OPERATOR_TOKEN, post } from './harness.ts'
import type { Shop } from './harness.ts'

const JOBS = 30
const DELIVERIES = 30
const MAX_WAIT_MS = 300_000
const GOALS = { testJobMs: 2_000, liveJobMs: 10_000, webhookMs: 5_000 }

type Figures = Record<keyof typeof GOALS, number>

interface Listener {
  url: string
  stop(): void
}

/** An HTTP server on a loopback port of its own. */
async function listen(respond: RequestListener): Promise<Listener> {
  const server = createServer(respond)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
}

/** Sends headers and then one byte a second. */
const drip: RequestListener = (_, response) => {
  response.writeHead(200, { 'Content-Type': 'image/png' })
  const timer = setInterval(() => response.write('.'), 1_000)
  response.on('close', () => clearInterval(timer))
}

/** The three figures, for model servers that never respond and for garment servers that drip. */
export async function measureFairness() {
  const cases = {
    'pictures that never arrive, one receiver': await measure('never', 1),
    'pictures that drip, thirty receivers': await measure('drip', DELIVERIES),
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
  const listeners: Listener[] = []
  const open = async (respond: RequestListener) => {
    const listener = await listen(respond)
    listeners.push(listener)
    return listener.url
  }
  wrangler('d1', 'migrations', 'apply', 'DB', '--local', '--persist-to', state)
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
    const shop = await open((request, response) => {
      if (request.method === 'GET') return response.end(sampleOf(request.url ?? ''))
      delivered.push(String(request.headers['webhook-id']))
      return response.end()
    })

    const [slow, other] = [await newShop(server.url), await newShop(server.url)]
    // Warms the engine: the first picture after the start takes longer than the others.
    await completed(server.url, other, await submit(server.url, other, 'live', shop))
    for (let n = 0; n < DELIVERIES; n++) {
      await submit(server.url, slow, 'test', hanging, hooks[n % hooks.length])
    }
    await until('a delivery that hangs', async () => attempts > 0)
    for (let n = 0; n < JOBS; n++) await submit(server.url, slow, 'live', hanging)

    const begun = performance.now()
    const elapsed = () => Math.round(performance.now() - begun)
    const testJob = await submit(server.url, other, 'test', shop, `${shop}/hook`)
    const liveJob = await submit(server.url, other, 'live', shop)
    const eventId = testJob.replace('job_', 'evt_')
    const [testJobMs, liveJobMs, webhookMs] = await Promise.all([
      completed(server.url, other, testJob).then(elapsed),
      completed(server.url, other, liveJob).then(elapsed),
      until('the webhook', async () => delivered.includes(eventId)).then(elapsed),
    ])
    return { testJobMs, liveJobMs, webhookMs }
  } finally {
    await server.stop()
    for (const listener of listeners) listener.stop()
    rmSync(state, { recursive: true, force: true })
  }
}

const sampleOf = (path: string) =>
  readFileSync(join(ROOT, 'samples', path === '/model' ? 'model.jpg' : 'garment.jpg'))

async function submit(
  base: string,
  { keys }: Shop,
  mode: 'live' | 'test',
  pictures: string,
  hook?: string,
): Promise<string> {
  const response = await post(`${base}/v1/tryon`, keys[mode], {
    model_image_url: `${pictures}/model`,
    garment_image_url: `${pictures}/garment`,
    ...(hook !== undefined && { webhook_url: hook }),
  })
  return ((await response.json()) as { job_id: string }).job_id
}

const completed = (base: string, { keys }: Shop, jobId: string): Promise<void> =>
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
