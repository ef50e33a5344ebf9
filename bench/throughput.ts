// 2. Requests a second against the floor: bare handlers in the same workerd with the same binding
// calls. Real and floor take turns in short rounds, and what counts is the median of the rounds'
// ratios: whatever else the machine does in a round falls on both. The rounds are spread over several
// processes, one after the other, for each compiles and collects garbage in its own way.
import autocannon from 'autocannon'
import type { Request, Result } from 'autocannon'
import { newShop, onStand, submitMany, TRY_ON } from './harness.ts'
import type { Stand } from './harness.ts'
import { fillJobs, jobId } from './fill.ts'

const CONNECTIONS = 50
const WARM_UP_SECONDS = 2
const BODY = JSON.stringify(TRY_ON)

/** Jobs submitted, and then cancelled, in a round. */
const CANCELLED = 400

/** What is asked, and where. */
interface Target {
  url: string
  request: Request
  /** For each request another job, which was submitted here before the round. */
  jobs?: { submit: () => Promise<string[]>; pathOf: (jobId: string) => string }
}

export interface Pace {
  perSecond: number
  p50Ms: number
  p99Ms: number
}

/** Rounds of one endpoint, in the order in which they ran. */
interface Rounds {
  ours: Pace[]
  floor: Pace[]
}

interface Effort {
  processes: number
  /** In each process. */
  rounds: number
  seconds: number
}

/** Each endpoint beside its floor. */
export async function measureThroughput({ processes, ...effort }: Effort) {
  const all: Record<string, Rounds> = {}
  let plainRoute: Pace | undefined
  for (let n = 0; n < processes; n++) {
    plainRoute = await onStand(async (stand) => {
      for (const [name, { ours, floor }] of Object.entries(await measureOnce(stand, effort))) {
        const rounds = (all[name] ??= { ours: [], floor: [] })
        rounds.ours.push(...ours)
        rounds.floor.push(...floor)
      }
      const plain: Target = { url: stand.floor, request: { path: '/plain' } }
      await shoot(plain, WARM_UP_SECONDS)
      return shoot(plain, effort.seconds)
    })
  }
  const endpoints = Object.fromEntries(Object.entries(all).map(([name, each]) => [name, row(each)]))
  return { connections: CONNECTIONS, processes, endpoints, ...(plainRoute && { plainRoute }) }
}

async function measureOnce(
  stand: Stand,
  { rounds, seconds }: Omit<Effort, 'processes'>,
): Promise<Record<string, Rounds>> {
  const shop = await newShop(stand.real)
  await fillJobs(stand.database, shop, 0, 1_000)
  const headers = { Authorization: `Bearer ${shop.keys.live}`, 'Content-Type': 'application/json' }
  const real = (method: string, path: string, body?: string): Target => ({
    url: stand.real,
    request: { method, path, headers, ...(body && { body }) },
  })
  const floor = (path: string, body?: string): Target => ({
    url: stand.floor,
    request: { path, headers, ...(body && { body, method: 'POST' }) },
  })
  const id = jobId(shop, 500)
  const submitTo = (url: string) => () => submitMany(url, shop.keys.live, CANCELLED)
  const pairs = {
    'GET /v1/jobs/{id}': [real('GET', `/v1/jobs/${id}`), floor(`/get?id=${id}`)],
    'GET /v1/jobs': [real('GET', '/v1/jobs'), floor(`/list?org=${shop.orgId}`)],
    'POST /v1/tryon': [real('POST', '/v1/tryon', BODY), floor('/tryon', BODY)],
    'DELETE /v1/jobs/{id}': [
      {
        ...real('DELETE', ''),
        jobs: {
          submit: submitTo(`${stand.real}/v1/tryon`),
          pathOf: (jobId) => `/v1/jobs/${jobId}`,
        },
      },
      {
        ...floor(''),
        jobs: {
          submit: submitTo(`${stand.floor}/tryon`),
          pathOf: (jobId) => `/cancel?id=${jobId}`,
        },
      },
    ],
    'GET /v1/account': [real('GET', '/v1/account'), floor('/object')],
    'GET /v1/workspaces': [real('GET', '/v1/workspaces'), floor('/object')],
  } satisfies Record<string, readonly [Target, Target]>

  const measured: Record<string, Rounds> = {}
  for (const [name, [real, bare]] of Object.entries(pairs)) {
    const ours: Pace[] = []
    const floor: Pace[] = []
    await shoot(real, WARM_UP_SECONDS)
    await shoot(bare, WARM_UP_SECONDS)
    for (let round = 0; round < rounds; round++) {
      // Who goes first changes, in case the second finds the machine warmer.
      if (round % 2 === 0) ours.push(await shoot(real, seconds))
      floor.push(await shoot(bare, seconds))
      if (round % 2 === 1) ours.push(await shoot(real, seconds))
    }
    measured[name] = { ours, floor }
  }
  return measured
}

async function shoot({ url, request, jobs }: Target, duration: number): Promise<Pace> {
  const paths = jobs && (await jobs.submit()).map(jobs.pathOf)
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

function row(rounds: Rounds): Record<string, number> {
  const ratios = rounds.ours.map(({ perSecond }, at) => perSecond / rounds.floor[at]!.perSecond)
  const sorted = ratios.sort((a, b) => a - b).map((ratio) => Number(ratio.toFixed(2)))
  const [real, floor] = [medianOf(rounds.ours), medianOf(rounds.floor)]
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
