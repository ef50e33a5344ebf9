// 2. Requests per second compared with the baseline: bare handlers in the same workerd with the same
// binding calls. The service and the baseline alternate in short rounds, so that other load on the
// machine affects both, and the result is the median ratio of the rounds. The rounds run in several
// sequential processes, because compilation and garbage collection differ between processes. Other load on
// the machine affects the CPU time of a request much less than the rate.
import type { Request } from 'autocannon'
import { createOrganisation, withHarness, submitMany, TRY_ON, type Harness } from './harness.ts'
import { fillJobs, jobId } from './fill.ts'
import { CONNECTIONS, startLoadGenerator, type LoadGenerator, type Rate } from './load.ts'
import { workerdCpuMs } from './workerd.ts'

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

/** `cpuUs`: CPU time of workerd for a request, with the emulator of its bindings. */
type Round = Rate & { cpuUs: number }

/** Results of one endpoint, in the order of the rounds. */
interface Rounds {
  service: Round[]
  baseline: Round[]
}

interface Sampling {
  processes: number
  /** Per process. */
  rounds: number
  seconds: number
  /** 0: no warm-up. */
  warmUpSeconds: number
}

/** Measures each endpoint and its baseline. */
export async function measureThroughput({ processes, ...sampling }: Sampling) {
  const all: Record<string, Rounds> = {}
  let plainRoute: Round | undefined
  for (let n = 0; n < processes; n++) {
    plainRoute = await withHarness(async (harness) => {
      const generator = startLoadGenerator()
      try {
        const measured = await measureOnce(harness, generator, sampling)
        for (const [name, { service, baseline }] of Object.entries(measured)) {
          const rounds = (all[name] ??= { service: [], baseline: [] })
          rounds.service.push(...service)
          rounds.baseline.push(...baseline)
        }
        const plain: Target = { url: harness.baseline, request: { path: '/plain' } }
        await warmUp(generator, [plain], sampling.warmUpSeconds)
        return await runLoad(generator, plain, sampling.seconds)
      } finally {
        generator.close()
      }
    })
  }
  const endpoints = Object.fromEntries(
    Object.entries(all).map(([name, each]) => [name, summaryOf(each)]),
  )
  return { connections: CONNECTIONS, processes, endpoints, ...(plainRoute && { plainRoute }) }
}

async function measureOnce(
  harness: Harness,
  generator: LoadGenerator,
  { rounds, seconds, warmUpSeconds }: Omit<Sampling, 'processes'>,
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
    const service: Round[] = []
    const baseline: Round[] = []
    await warmUp(generator, [serviceTarget, baselineTarget], warmUpSeconds)
    for (let round = 0; round < rounds; round++) {
      // The order alternates, because the second one may benefit from a warm machine.
      if (round % 2 === 0) service.push(await runLoad(generator, serviceTarget, seconds))
      baseline.push(await runLoad(generator, baselineTarget, seconds))
      if (round % 2 === 1) service.push(await runLoad(generator, serviceTarget, seconds))
    }
    measured[name] = { service, baseline }
  }
  return measured
}

async function warmUp(generator: LoadGenerator, targets: Target[], seconds: number): Promise<void> {
  if (seconds > 0) for (const target of targets) await runLoad(generator, target, seconds)
}

async function runLoad(
  generator: LoadGenerator,
  { url, request, jobs }: Target,
  seconds: number,
): Promise<Round> {
  const paths = jobs && (await jobs.submit()).map(jobs.pathOf)
  const before = workerdCpuMs()
  const rate = await generator.run({ url, request, seconds, ...(paths && { paths }) })
  return { ...rate, cpuUs: Math.round(((workerdCpuMs() - before) * 1_000) / rate.requests) }
}

function summaryOf({ service, baseline }: Rounds): Record<string, number> {
  const ratios = service.map(({ perSecond }, at) => perSecond / baseline[at]!.perSecond)
  const middle = (rounds: Round[], figure: keyof Round) =>
    median(rounds.map((round) => round[figure]))
  const [cpuUs, baselineCpuUs] = [middle(service, 'cpuUs'), middle(baseline, 'cpuUs')]
  return {
    ratio: rounded(median(ratios)),
    'lowest ratio': rounded(Math.min(...ratios)),
    'highest ratio': rounded(Math.max(...ratios)),
    'ratio of CPU time': rounded(baselineCpuUs / cpuUs),
    'CPU µs': cpuUs,
    'baseline CPU µs': baselineCpuUs,
    'per second': middle(service, 'perSecond'),
    'baseline per second': middle(baseline, 'perSecond'),
    'p50 ms': middle(service, 'p50Ms'),
    'p99 ms': middle(service, 'p99Ms'),
  }
}

const rounded = (ratio: number) => Number(ratio.toFixed(2))

const median = (values: number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
