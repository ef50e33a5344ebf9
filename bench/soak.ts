// 5. Soak test: ten thousand concurrent jobs of twenty organisations, with cancellations, failures and
// duplicate messages. Afterwards every invariant must hold, no job may be lost, and the heap of the Worker
// must not have grown with the number of jobs.
import { violations, type Facts } from '../test/support/invariants.ts'
import {
  control,
  createOrganisation,
  shardFor,
  type BenchOrganisation,
  type Harness,
} from './harness.ts'
import { openMemoryProbe, type Memory } from './memory.ts'
import type { Delivery } from './worker.ts'

const ORGANISATIONS = 20
const CONCURRENCY = 40
const MAX_WAIT_MS = 180_000
/** The share of the jobs that fill caches and compile code, before the heap is compared. */
const WARM_UP_SHARE = 0.25
const SAMPLES = 10
/** The heap at the end varies by this much between runs without a leak. */
const MAX_HEAP_GROWTH_MB = 2

/** Runs the soak test and checks the invariants. */
export async function soak(harness: Harness, jobs: number) {
  await control(harness, 'webhook-failures?rate=0.05')
  const organisations: BenchOrganisation[] = []
  for (let n = 0; n < ORGANISATIONS; n++)
    organisations.push(await createOrganisation(harness.instrumented))
  const startedAt = Date.now()
  const accepted: string[] = []
  let [cancelled, duplicates] = [0, 0]
  const probe = await openMemoryProbe(harness)
  const memory: Record<string, Memory> = { 'at the start': await probe.measure() }
  let next = 0
  const client = async (until: number) => {
    while (next < until) {
      if (++next % Math.ceil(jobs / SAMPLES) === 0) {
        memory[`${next} submitted`] = await probe.measure()
      }
      const organisation = organisations[
        Math.floor(Math.random() * organisations.length)
      ] as BenchOrganisation
      const jobId = await submit(harness, organisation)
      accepted.push(jobId)
      const random = Math.random()
      if (random < 0.05 && (await cancel(harness, organisation, jobId))) cancelled++
      else if (random < 0.1) {
        duplicates++
        await control(harness, 'duplicates', [jobId])
      }
    }
  }
  let submittedMs = 0
  const settle = async (until: number): Promise<Memory> => {
    const from = Date.now()
    await Promise.all(Array.from({ length: CONCURRENCY }, () => client(until)))
    submittedMs += Date.now() - from
    await waitUntilIdle(harness, organisations)
    return (memory[`${until} settled`] = await probe.measure())
  }
  // Both values are of an idle service: under load, the heap contains the requests in progress.
  const warm = await settle(Math.ceil(jobs * WARM_UP_SHARE))
  const end = await settle(jobs)
  probe.close()
  const heapGrowthMb = Number((end.workerHeapMb - warm.workerHeapMb).toFixed(1))
  const totalMs = Date.now() - startedAt

  const deliveries = await control<Delivery[]>(harness, 'received')
  const received = deliveries.map(({ eventId }) => eventId)
  const problems: string[] = []
  const byStatus: Record<string, number> = {}
  let drift = 0
  const known = new Set<string>()
  for (const organisation of organisations) {
    const facts = await factsOf(harness, organisation, received)
    problems.push(...violations(facts))
    for (const { id, status } of facts.jobs) {
      known.add(id)
      byStatus[status] = (byStatus[status] ?? 0) + 1
    }
    const { granted, balance, reserved, consumed } = facts.totals
    const completed = facts.jobs.filter((job) => job.mode === 'live' && job.status === 'completed')
    drift += Math.abs(granted - balance - reserved - consumed)
    drift += Math.abs(consumed - completed.length) + reserved
  }
  const lost = accepted.filter((id) => !known.has(id)).length + jobs - accepted.length
  return {
    jobs: accepted.length,
    organisations: ORGANISATIONS,
    byStatus,
    cancelled,
    duplicates,
    deliveries: deliveries.length,
    submittedSeconds: Math.round(submittedMs / 1_000),
    totalSeconds: Math.round(totalMs / 1_000),
    violations: problems.slice(0, 20),
    lost,
    drift,
    memory,
    heapGrowthMb,
    missed:
      heapGrowthMb > MAX_HEAP_GROWTH_MB
        ? [`The heap of the Worker grew by ${heapGrowthMb} MB, more than ${MAX_HEAP_GROWTH_MB} MB`]
        : [],
  }
}

/** Submits a random job: half in each mode, 5 % fail, 25 % have a webhook. */
async function submit(harness: Harness, { keys }: BenchOrganisation): Promise<string> {
  const mode = Math.random() < 0.5 ? 'live' : 'test'
  const fails = Math.random() < 0.05
  const failure =
    mode === 'live'
      ? 'https://cdn.soak.test/missing'
      : 'https://test.invalid/fail/generation_failed'
  const response = await fetch(`${harness.instrumented}/v1/tryon`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${keys[mode]}` },
    body: JSON.stringify({
      model_image_url: 'https://cdn.soak.test/model',
      garment_image_url: fails ? failure : 'https://cdn.soak.test/garment',
      ...(Math.random() < 0.25 && { webhook_url: 'https://hooks.soak.test/try-on' }),
    }),
  })
  if (response.status !== 202) throw new Error(`A submission returned ${response.status}`)
  return ((await response.json()) as { job_id: string }).job_id
}

async function cancel(
  harness: Harness,
  { keys }: BenchOrganisation,
  jobId: string,
): Promise<boolean> {
  const response = await fetch(`${harness.instrumented}/v1/jobs/${jobId}`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${keys.live}` },
  })
  await response.arrayBuffer()
  return response.status === 200
}

async function waitUntilIdle(
  { instrumentedShards, instrumented }: Harness,
  organisations: BenchOrganisation[],
): Promise<void> {
  const ids = organisations.map(({ orgId }) => `'${orgId}'`).join()
  const sql = `SELECT
    (SELECT count(*) FROM jobs WHERE status IN ('pending', 'processing') AND organisation_id IN (${ids})) +
    (SELECT count(*) FROM webhook_events WHERE status IN ('pending', 'retrying') AND organisation_id IN (${ids})) AS n`
  const until = Date.now() + MAX_WAIT_MS
  for (let round = 0; Date.now() < until; round++) {
    const open = await Promise.all(
      instrumentedShards.map((shard) => shard.prepare(sql).first<number>('n')),
    )
    if (open.every((n) => n === 0)) break
    if (round % 60 === 59) await fetch(`${instrumented}/bench/sweep`)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
  await new Promise((resolve) => setTimeout(resolve, 1_000)) // credits settle after the last row
}

async function factsOf(
  harness: Harness,
  organisation: BenchOrganisation,
  received: string[],
): Promise<Facts> {
  const { orgId } = organisation
  const ledger = await control<Pick<Facts, 'totals' | 'entries'>>(harness, `ledger?org=${orgId}`)
  const all = async <T>(sql: string) =>
    (await shardFor(harness, organisation).prepare(sql).bind(orgId).all<T>()).results
  const jobs = await all<Facts['jobs'][number]>(
    'SELECT id, mode, status, webhook_url AS webhookUrl FROM jobs WHERE organisation_id = ?',
  )
  const events = await all<Facts['events'][number]>(
    'SELECT id, job_id AS jobId, status FROM webhook_events WHERE organisation_id = ?',
  )
  const own = new Set(events.map(({ id }) => id))
  // A delivery may be repeated. Events whose four attempts failed are excluded.
  const failed = new Set(events.filter(({ status }) => status === 'failed').map(({ id }) => id))
  return {
    ...ledger,
    jobs: jobs.map((job) =>
      failed.has(`evt_${job.id.slice(4)}`) ? { ...job, webhookUrl: null } : job,
    ),
    events: events.filter(({ id }) => !failed.has(id)),
    received: received.filter((id) => own.has(id) && !failed.has(id)),
  }
}
