// 6. Fairness: how much the hanging servers and the compositions of one organisation delay another one, under
// `wrangler dev`, where each queue has one batch in flight at a time and all code shares a thread. Uses loopback addresses only.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, startDevServer } from '../scripts/wrangler.ts'
import { createOrganisation, OPERATOR_TOKEN, post, type BenchOrganisation } from './harness.ts'
import { percentile } from './percentile.ts'

const MAX_WAIT_MS = 300_000
const GOALS = { testJobMs: 2_000, liveJobMs: 10_000, webhookMs: 5_000 }
/** Of other requests during compositions. */
const COMPOSITIONS = 4
const REQUEST_GOALS = { p99Ms: 100, maximumMs: 300 }

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

/**
 * Measures with servers that never respond, and with garment servers that drip.
 * @param jobs how many jobs, and how many deliveries, the hanging servers have
 */
export async function measureFairness(jobs: number) {
  const cases = {
    'image servers that never respond, one webhook receiver': await measure('never', jobs, 1),
    [`image servers that drip, ${jobs} webhook receivers`]: await measure('drip', jobs, jobs),
  }
  const requests = await measureRequests()
  const missed = Object.entries(cases).flatMap(([name, figures]) =>
    Object.entries(GOALS)
      .filter(([figure, goal]) => figures[figure as keyof Figures] > goal)
      .map(([figure]) => `${name}: ${figure}`),
  )
  const { during } = requests
  if (during.p99Ms > REQUEST_GOALS.p99Ms) missed.push('requests during compositions: p99Ms')
  if (during.maximumMs > REQUEST_GOALS.maximumMs) {
    missed.push('requests during compositions: maximumMs')
  }
  return {
    ...cases,
    goals: GOALS,
    'GET /v1/account alone': requests.alone,
    [`GET /v1/account during ${COMPOSITIONS} compositions`]: during,
    'its goals': REQUEST_GOALS,
    missed,
  }
}

type Open = (respond: RequestListener) => Promise<string>

/** Runs a measurement with a new service, and closes its servers afterwards. */
async function withService<T>(work: (url: string, open: Open) => Promise<T>): Promise<T> {
  const state = mkdtempSync(join(tmpdir(), 'try-on-fairness-'))
  const servers: HttpServer[] = []
  const open = async (respond: RequestListener) => {
    const server = await listen(respond)
    servers.push(server)
    return server.url
  }
  const options = [
    '--port',
    '0',
    '--persist-to',
    state,
    '--var',
    `OPERATOR_TOKEN:${OPERATOR_TOKEN}`,
  ]
  const server = await startDevServer(options, () => {})
  try {
    return await work(server.url, open)
  } finally {
    await server.stop()
    for (const each of servers) each.stop()
    rmSync(state, { recursive: true, force: true })
  }
}

/** Measures the requests of one organisation alone, and while another one's compositions run. */
function measureRequests() {
  return withService(async (url, open) => {
    const imageServer = await open((request, response) => response.end(sampleOf(request.url ?? '')))
    const [busy, other] = [await createOrganisation(url), await createOrganisation(url)]
    await completed(url, busy, await submit(url, busy, 'live', imageServer))
    const alone = await durations(url, other, new Promise((resolve) => setTimeout(resolve, 3_000)))
    const all = await Promise.all(
      Array.from({ length: COMPOSITIONS }, () => submit(url, busy, 'live', imageServer)),
    )
    const ended = Promise.all(all.map((jobId) => completed(url, busy, jobId, 500)))
    return { alone, during: await durations(url, other, ended) }
  })
}

/** Sends a request at a time until the promise is settled. */
async function durations(url: string, { keys }: BenchOrganisation, end: Promise<unknown>) {
  const over = new AbortController()
  const ended = end.finally(() => over.abort())
  const ms: number[] = []
  while (!over.signal.aborted) {
    const startedAt = performance.now()
    const headers = { Authorization: `Bearer ${keys.live}` }
    const response = await fetch(`${url}/v1/account`, { headers })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`GET /v1/account returned ${response.status}`)
    ms.push(performance.now() - startedAt)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await ended
  const at = (share: number) => percentile(ms, share)
  return { requests: ms.length, p50Ms: at(0.5), p99Ms: at(0.99), maximumMs: at(1) }
}

function measure(garment: 'never' | 'drip', jobs: number, receivers: number): Promise<Figures> {
  return withService(async (url, open) => {
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

    const [slow, other] = [await createOrganisation(url), await createOrganisation(url)]
    // Warms up the engine: the first picture takes longer than the others.
    await completed(url, other, await submit(url, other, 'live', imageServer))
    for (let n = 0; n < jobs; n++) {
      await submit(url, slow, 'test', hanging, hooks[n % hooks.length])
    }
    await until('a hanging delivery', 50, async () => attempts > 0)
    for (let n = 0; n < jobs; n++) await submit(url, slow, 'live', hanging)

    const startedAt = performance.now()
    const elapsed = () => Math.round(performance.now() - startedAt)
    const testJob = await submit(url, other, 'test', imageServer, `${imageServer}/hook`)
    const liveJob = await submit(url, other, 'live', imageServer)
    const eventId = testJob.replace('job_', 'evt_')
    const [testJobMs, liveJobMs, webhookMs] = await Promise.all([
      completed(url, other, testJob).then(elapsed),
      completed(url, other, liveJob).then(elapsed),
      until('the webhook', 50, async () => delivered.includes(eventId)).then(elapsed),
    ])
    return { testJobMs, liveJobMs, webhookMs }
  })
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

const completed = (
  base: string,
  { keys }: BenchOrganisation,
  jobId: string,
  intervalMs = 50,
): Promise<void> =>
  until('the job', intervalMs, async () => {
    const response = await fetch(`${base}/v1/jobs/${jobId}`, {
      headers: { Authorization: `Bearer ${keys.live}` },
    })
    const job = (await response.json()) as { status: string; error_code: string | null }
    if (job.status === 'failed') throw new Error(`The job failed with ${job.error_code}`)
    return job.status === 'completed'
  })

async function until(
  what: string,
  intervalMs: number,
  check: () => Promise<boolean>,
): Promise<void> {
  const end = performance.now() + MAX_WAIT_MS
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`${what} did not arrive in time`)
    await new Promise((resolve) => setTimeout(resolve, intervalMs))
  }
}
