// `npm run load -- --url https://… --key svc_test_sk_…`: sends the requests of docs/performance.md, section 2, to a running
// service, one endpoint after the other, and prints the rate and the durations of each.
//   --url URL          the service
//   --key KEY          a test key, or TRY_ON_TEST_KEY; its jobs cost nothing, and end with the run or after 7 days
//   --seconds N        per endpoint, 1 to 60 (default 5)
//   --requests N       per endpoint at most, 1 to 20,000 (default 2,000)
//   --connections N    each with one request at a time, 1 to 50 (default 10)
//   --i-own-this-host  is required for a host other than this computer
// The exit code is 1 if a response was not 2xx or is missing, and 2 for wrong arguments.
import { parseArgs } from 'node:util'
import autocannon, { type Request } from 'autocannon'
import { z } from 'zod'
import { ArgumentsError, isLoopback, serviceUrl } from './service-url.ts'

/** Jobs that are submitted and then cancelled. */
const MAX_CANCELLED = 400
const TIMEOUT_MS = 10_000
const PENDING = 'https://test.invalid/pending/60'

const Job = z.object({ job_id: z.string() })

/** What is sent to one endpoint, and how much of it. */
interface Target {
  request: Request
  requests?: number
}

const { url, key, seconds, requests, connections } = readArguments()
const headers = { Authorization: `Bearer ${key}` }
const tryOn = (model: string): Request => ({
  method: 'POST',
  path: '/v1/tryon',
  headers: { ...headers, 'Content-Type': 'application/json' },
  body: JSON.stringify({ model_image_url: model, garment_image_url: `${url}/static/garment.jpg` }),
})
const get = (path: string): Request => ({ method: 'GET', path, headers })

await requireRateLimit()
const results: Record<string, object> = {}
let failed = 0
const jobId = await submit(tryOn(`${url}/static/model.jpg`))
await measure('GET /v1/account', { request: get('/v1/account') })
await measure('GET /v1/workspaces', { request: get('/v1/workspaces') })
await measure('GET /v1/jobs', { request: get('/v1/jobs') })
await measure('GET /v1/jobs/{id}', { request: get(`/v1/jobs/${jobId}`) })
await measure('POST /v1/tryon', { request: tryOn(`${url}/static/model.jpg`) })
// The jobs of this endpoint stay pending until the next one cancels them.
const jobs: string[] = []
await measure('POST /v1/tryon, to cancel', {
  requests: Math.min(requests, MAX_CANCELLED),
  request: {
    ...tryOn(PENDING),
    onResponse: (status, body) => {
      if (status === 202) jobs.push(Job.parse(JSON.parse(body)).job_id)
    },
  },
})
if (jobs.length > 0) {
  const left = [...jobs]
  await measure('DELETE /v1/jobs/{id}', {
    requests: jobs.length,
    request: {
      ...get('/'),
      method: 'DELETE',
      setupRequest: (request) => ({ ...request, path: `/v1/jobs/${left.pop() ?? ''}` }),
    },
  })
}
console.table(results)
if (failed > 0) {
  console.error(`${failed} responses were not 2xx or are missing.`)
  process.exitCode = 1
}

/** Sends requests for the given time, but not more than the given number. */
async function measure(
  name: string,
  { request, requests: most = requests }: Target,
): Promise<void> {
  const { latency, statusCodeStats, errors, duration, ...result } = await autocannon({
    url,
    connections: Math.min(connections, most),
    duration: seconds,
    maxOverallRequests: most,
    timeout: TIMEOUT_MS / 1_000,
    requests: [request],
  })
  const limited = statusCodeStats['429']?.count ?? 0
  failed += result.non2xx + errors
  results[name] = {
    requests: result['2xx'],
    'per second': Math.round(result['2xx'] / duration),
    'p50 ms': latency.p50,
    'p99 ms': latency.p99,
    'max ms': latency.max,
    'status 429': limited,
    'other errors': result.non2xx - limited + errors,
  }
}

/** @throws Error unless the response is 2xx */
async function send({ method = 'GET', path = '/', ...request }: Request): Promise<Response> {
  const init = { method, headers: request.headers ?? {}, signal: AbortSignal.timeout(TIMEOUT_MS) }
  const response = await fetch(`${url}${path}`, {
    ...init,
    ...(request.body && { body: request.body }),
  })
  if (!response.ok)
    throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`)
  return response
}

async function submit(request: Request): Promise<string> {
  return Job.parse(await (await send(request)).json()).job_id
}

/** Says how many of the requests the limit of the key will reject. */
async function requireRateLimit(): Promise<void> {
  const policy = (await send(get('/v1/account'))).headers.get('RateLimit-Policy')
  const limit = Number(/q=(\d+)/.exec(policy ?? '')?.[1] ?? Infinity)
  if (limit >= requests) return
  console.warn(
    `The key may send ${limit} requests a minute, fewer than the ${requests} per endpoint: expect 429. An operator can raise rate_limit_per_minute of the organisation.`,
  )
}

function readArguments() {
  const text = { type: 'string' } as const
  const options = {
    url: text,
    key: text,
    seconds: text,
    requests: text,
    connections: text,
    'i-own-this-host': { type: 'boolean' },
  } as const
  try {
    const { values } = ArgumentsError.during(() => parseArgs({ options }))
    const whole = (name: 'seconds' | 'requests' | 'connections', initial: number, max: number) => {
      const value = Number(values[name] ?? initial)
      if (Number.isInteger(value) && value >= 1 && value <= max) return value
      throw new ArgumentsError(`--${name} must be a whole number from 1 to ${max}.`)
    }
    const url = serviceUrl(values.url)
    if (!isLoopback(url) && !values['i-own-this-host']) {
      throw new ArgumentsError(
        `${url} is not this computer. If it is yours, pass --i-own-this-host.`,
      )
    }
    const key = values.key ?? process.env['TRY_ON_TEST_KEY'] ?? ''
    if (!key.startsWith('svc_test_sk_')) throw new ArgumentsError('Pass --key with a test key.')
    return {
      url,
      key,
      seconds: whole('seconds', 5, 60),
      requests: whole('requests', 2_000, 20_000),
      connections: whole('connections', 10, 50),
    }
  } catch (error) {
    if (!(error instanceof ArgumentsError)) throw error
    console.error(
      `${error.message}\nUsage: npm run load -- --url URL --key KEY [--seconds N] [--requests N]`,
    )
    process.exit(2)
  }
}
