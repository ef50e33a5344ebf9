// 2. Requests per second compared with the baseline: bare handlers in the same workerd with the same
// binding calls. The service and the baseline alternate in short rounds, so that other load on the
// machine affects both, and the result is the median ratio of the rounds. The rounds run in several
// sequential processes, because compilation and garbage collection differ between processes.
import autocannon from 'autocannon'
import type { Request, Result } from 'autocannon'
import { createOrganisation, withHarness, submitMany, TRY_ON } from './harness.ts'
import type { Harness } from './harness.ts'
import { fillJobs, jobId } from './fill.ts'

const CONNECTIONS = 50
const WARM_UP_SECONDS = 2
const BODY = JSON.stringify(TRY_ON)

/** Jobs that are submitted and then cancelled in a round. */
const CANCELLED = 400

/** A Worker and the request to measure. */
interface Target {
  url: string
  request: Request
  /** Each request uses another job, submitted before the round. */
  jobs?: { submit: () => Promise<string[]>; pathOf: (jobId: string) => string }
}

export interface Rate {
  perSecond: number
  p50Ms: number
  p99Ms: number
}

/** Results of one endpoint, in the order of the rounds. */
interface Rounds {
  service: Rate[]
  baseline: Rate[]
}

interface Sampling {
  processes: number
  /** Per process. */
  rounds: number
  seconds: number
}

/** Measures each endpoint and its baseline. */
export async function measureThroughput({ processes, ...sampling }: Sampling) {
  const all: Record<string, Rounds> = {}
  let plainRoute: Rate | undefined
  for (let n = 0; n < processes; n++) {
    plainRoute = await withHarness(async (harness) => {
      for (const [name, { service, baseline }] of Object.entries(
        await measureOnce(harness, sampling),
      )) {
        const rounds = (all[name] ??= { service: [], baseline: [] })
        rounds.service.push(...service)
        rounds.baseline.push(...baseline)
      }
      const plain: Target = { url: harness.baseline, request: { path: '/plain' } }
      await runLoad(plain, WARM_UP_SECONDS)
      return runLoad(plain, sampling.seconds)
    })
  }
  const endpoints = Object.fromEntries(
    Object.entries(all).map(([name, each]) => [name, summaryOf(each)]),
  )
  return { connections: CONNECTIONS, processes, endpoints, ...(plainRoute && { plainRoute }) }
}

async function measureOnce(
  harness: Harness,
  { rounds, seconds }: Omit<Sampling, 'processes'>,
): Promise<Record<string, Rounds>> {
  const organisation = await createOrganisation(harness.service)
  await fillJobs(harness.database, organisation, 0, 1_000)
  const headers = {
    Authorization: `Bearer ${organisation.keys.live}`,
    'Content-Type': 'application/json',
  }
  const toService = (method: string, path: string, body?: string): Target => ({
    url: harness.service,
    request: { method, path, headers, ...(body && { body }) },
  })
  const toBaseline = (path: string, body?: string): Target => ({
    url: harness.baseline,
    request: { path, headers, ...(body && { body, method: 'POST' }) },
  })
  const id = jobId(organisation, 500)
  const submitTo = (url: string) => () => submitMany(url, organisation.keys.live, CANCELLED)
  const pairs = {
    'GET /v1/jobs/{id}': [toService('GET', `/v1/jobs/${id}`), toBaseline(`/get?id=${id}`)],
    'GET /v1/jobs': [toService('GET', '/v1/jobs'), toBaseline(`/list?org=${organisation.orgId}`)],
    'POST /v1/tryon': [toService('POST', '/v1/tryon', BODY), toBaseline('/tryon', BODY)],
    'DELETE /v1/jobs/{id}': [
      {
        ...toService('DELETE', ''),
        jobs: {
          submit: submitTo(`${harness.service}/v1/tryon`),
          pathOf: (jobId) => `/v1/jobs/${jobId}`,
        },
      },
      {
        ...toBaseline(''),
        jobs: {
          submit: submitTo(`${harness.baseline}/tryon`),
          pathOf: (jobId) => `/cancel?id=${jobId}`,
        },
      },
    ],
    'GET /v1/account': [toService('GET', '/v1/account'), toBaseline('/object')],
    'GET /v1/workspaces': [toService('GET', '/v1/workspaces'), toBaseline('/object')],
  } satisfies Record<string, readonly [Target, Target]>

  const measured: Record<string, Rounds> = {}
  for (const [name, [serviceTarget, baselineTarget]] of Object.entries(pairs)) {
    const service: Rate[] = []
    const baseline: Rate[] = []
    await runLoad(serviceTarget, WARM_UP_SECONDS)
    await runLoad(baselineTarget, WARM_UP_SECONDS)
    for (let round = 0; round < rounds; round++) {
      // The order alternates, because the second one may benefit from a warm machine.
      if (round % 2 === 0) service.push(await runLoad(serviceTarget, seconds))
      baseline.push(await runLoad(baselineTarget, seconds))
      if (round % 2 === 1) service.push(await runLoad(serviceTarget, seconds))
    }
    measured[name] = { service, baseline }
  }
  return measured
}

async function runLoad({ url, request, jobs }: Target, duration: number): Promise<Rate> {
  const paths = jobs && (await jobs.submit()).map(jobs.pathOf)
  const startedAt = performance.now()
  let endedAt = startedAt
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
  // With a fixed number of requests, autocannon rounds the duration up to whole seconds.
  const seconds = paths ? (endedAt - startedAt) / 1_000 : result.duration
  return {
    perSecond: Math.round(result.requests.total / seconds),
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  }
}

function summaryOf(rounds: Rounds): Record<string, number> {
  const ratios = rounds.service.map(
    ({ perSecond }, at) => perSecond / rounds.baseline[at]!.perSecond,
  )
  const sorted = ratios.sort((a, b) => a - b).map((ratio) => Number(ratio.toFixed(2)))
  const [service, baseline] = [medianOf(rounds.service), medianOf(rounds.baseline)]
  return {
    ratio: sorted[Math.floor(sorted.length / 2)] ?? 0,
    'lowest ratio': sorted[0] ?? 0,
    'highest ratio': sorted.at(-1) ?? 0,
    'per second': service.perSecond,
    'baseline per second': baseline.perSecond,
    'p50 ms': service.p50Ms,
    'baseline p50 ms': baseline.p50Ms,
    'p99 ms': service.p99Ms,
    'baseline p99 ms': baseline.p99Ms,
  }
}

const medianOf = (rates: Rate[]): Rate =>
  [...rates].sort((a, b) => a.perSecond - b.perSecond)[Math.floor(rates.length / 2)] as Rate
