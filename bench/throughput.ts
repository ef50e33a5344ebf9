// 2. Requests a second against the floor: bare handlers in the same workerd with the same binding
// calls. Real and floor take turns in short rounds, and what counts is the median of the rounds'
// ratios: whatever else the machine does in a round falls on both.
import autocannon from 'autocannon'
import type { Request, Result } from 'autocannon'
import { newShop } from './stand.ts'
import type { Stand } from './stand.ts'
import { fillJobs, jobId } from './fill.ts'

const CONNECTIONS = 50
const BODY = JSON.stringify({
  model_image_url: 'https://cdn.bench.test/model.jpg',
  garment_image_url: 'https://cdn.bench.test/garment.jpg',
})

/** Jobs submitted, and then cancelled, in a round. */
const CANCELLED = 400

/** What is asked, and where. */
interface Target {
  url: string
  request: Request
  /** For each request another job, which was submitted here before the round. */
  jobs?: { submit: Request; pathOf: (jobId: string) => string }
}

export interface Pace {
  perSecond: number
  p50Ms: number
  p99Ms: number
}

/** Each endpoint beside its floor. */
export async function measureThroughput(
  stand: Stand,
  { rounds, seconds }: { rounds: number; seconds: number },
) {
  const shop = await newShop(stand.real)
  await fillJobs(stand.database, shop, 0, 1_000)
  const headers = { Authorization: `Bearer ${shop.keys.live}`, 'Content-Type': 'application/json' }
  const real = (method: string, path: string, body?: string): Target => ({
    url: stand.real,
    request: { method, path, headers, ...(body && { body }) },
  })
  const floor = (path: string, body?: string): Target => ({
    url: stand.floor,
    request: { path, ...(body && { body, method: 'POST' }) },
  })
  const id = jobId(shop, 500)
  const submissions = [real('POST', '/v1/tryon', BODY), floor('/tryon', BODY)] as const
  const pairs = {
    'GET /v1/jobs/{id}': [real('GET', `/v1/jobs/${id}`), floor(`/get?id=${id}`)],
    'GET /v1/jobs': [real('GET', '/v1/jobs'), floor(`/list?org=${shop.orgId}`)],
    'POST /v1/tryon': submissions,
    'DELETE /v1/jobs/{id}': [
      {
        ...real('DELETE', ''),
        jobs: { submit: submissions[0].request, pathOf: (jobId) => `/v1/jobs/${jobId}` },
      },
      {
        ...floor(''),
        jobs: { submit: submissions[1].request, pathOf: (jobId) => `/cancel?id=${jobId}` },
      },
    ],
    'GET /v1/account': [real('GET', '/v1/account'), floor('/object')],
    'GET /v1/workspaces': [real('GET', '/v1/workspaces'), floor('/object')],
  } satisfies Record<string, readonly [Target, Target]>

  const rows: Record<string, Record<string, number>> = {}
  for (const [name, [ours, bare]] of Object.entries(pairs)) {
    const [mine, least, ratios]: [Pace[], Pace[], number[]] = [[], [], []]
    await shoot(ours, 1) // warm-up
    await shoot(bare, 1)
    for (let round = 0; round < rounds; round++) {
      // Who goes first changes, in case the second finds the machine warmer.
      const turns = round % 2 === 0 ? [ours, bare] : [bare, ours]
      const paces = [await shoot(turns[0]!, seconds), await shoot(turns[1]!, seconds)]
      if (round % 2 === 1) paces.reverse()
      mine.push(paces[0]!)
      least.push(paces[1]!)
      ratios.push(paces[0]!.perSecond / paces[1]!.perSecond)
    }
    rows[name] = row(medianOf(mine), medianOf(least), ratios)
  }
  const plain = floor('/plain')
  await shoot(plain, 1)
  return { connections: CONNECTIONS, endpoints: rows, plainRoute: await shoot(plain, seconds) }
}

async function shoot({ url, request, jobs }: Target, duration: number): Promise<Pace> {
  const paths = jobs && (await submitted(url, jobs.submit)).map(jobs.pathOf)
  const begunAt = performance.now()
  let endedAt = begunAt
  const result: Result = await autocannon({
    url,
    connections: CONNECTIONS,
    ...(paths
      ? {
          amount: paths.length,
          requests: [
            {
              ...request,
              setupRequest: (each) => ({ ...each, path: paths.pop() ?? '' }),
              onResponse: () => (endedAt = performance.now()),
            },
          ],
        }
      : { duration, requests: [request] }),
  })
  if (result.non2xx + result.errors > 0) {
    throw new Error(`${request.path}: ${result.non2xx} not 2xx, ${result.errors} errors`)
  }
  // A round of so many requests ends within the last of the whole seconds that autocannon counts.
  const seconds = paths ? (endedAt - begunAt) / 1_000 : result.duration
  return {
    perSecond: Math.round(result.requests.total / seconds),
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  }
}

/** Submits jobs. @returns their ids */
async function submitted(url: string, { path, ...init }: Request): Promise<string[]> {
  const ids: string[] = []
  const client = async () => {
    while (ids.length < CANCELLED) {
      const at = ids.push('') - 1
      const answer = await fetch(`${url}${path}`, init as RequestInit)
      ids[at] = ((await answer.json()) as { job_id: string }).job_id
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, client))
  return ids
}

function row(real: Pace, floor: Pace, ratios: number[]): Record<string, number> {
  const sorted = [...ratios].sort((a, b) => a - b).map((ratio) => Number(ratio.toFixed(2)))
  return {
    ratio: sorted[Math.floor(sorted.length / 2)] ?? 0,
    'lowest ratio': sorted[0] ?? 0,
    'highest ratio': sorted.at(-1) ?? 0,
    'per second': real.perSecond,
    'floor per second': floor.perSecond,
    'p50 ms': real.p50Ms,
    'floor p50 ms': floor.p50Ms,
    'p99 ms': real.p99Ms,
    'floor p99 ms': floor.p99Ms,
  }
}

const medianOf = (paces: Pace[]): Pace =>
  [...paces].sort((a, b) => a.perSecond - b.perSecond)[Math.floor(paces.length / 2)] as Pace
