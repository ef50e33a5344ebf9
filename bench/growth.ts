// 3. What becomes slower as an organisation grows. Rows read are exact; times are medians of
// sequential requests.
import { fillJobs, jobId } from './fill.ts'
import {
  control,
  createOrganisation,
  shardFor,
  type BenchOrganisation,
  type Harness,
} from './harness.ts'
import type { Counts } from './instrumented.ts'

interface Point {
  rowsRead: number
  medianMs: number
}

interface Amounts {
  /** Numbers of jobs. */
  sizes: number[]
  /** Numbers of ledger entries. */
  ledger?: number[]
  /** How often each request is repeated. */
  requests?: number
  /** Requests per minute. */
  rateLimit?: number
}

/** Reads at several sizes of the jobs table, the ledger and the rate-limit window. */
export async function measureGrowth(
  harness: Harness,
  { sizes, ledger = [100, 1_000, 10_000], requests = 150, rateLimit = 6_000 }: Amounts,
) {
  const organisation = await createOrganisation(harness.instrumented)
  const jobs: Record<string, Record<string, Point>> = {}
  let size = 0
  for (const next of sizes) {
    await fillJobs(shardFor(harness, organisation), organisation, size, next)
    size = next
    const middle = jobId(organisation, Math.floor(size / 2))
    const cursor = await middleCursor(harness, organisation)
    const paths = {
      'GET /v1/jobs/{id}': `/v1/jobs/${middle}`,
      'GET /v1/jobs': '/v1/jobs',
      '…?status=completed': '/v1/jobs?status=completed',
      '…?status=pending (none)': '/v1/jobs?status=pending',
      'GET /v1/account (no D1)': '/v1/account',
      '…?cursor=': `/v1/jobs?cursor=${cursor}`,
    }
    const points: Record<string, Point> = (jobs[String(size)] = {})
    for (const [name, path] of Object.entries(paths)) {
      points[name] = await read(harness, organisation, path, requests)
    }
  }
  return {
    jobs,
    ledger: await growLedger(harness, ledger, requests),
    rateLimit: await growRateWindow(harness, rateLimit),
  }
}

const get = (harness: Harness, { keys }: BenchOrganisation, path: string): Promise<Response> =>
  fetch(`${harness.instrumented}${path}`, { headers: { Authorization: `Bearer ${keys.live}` } })

async function middleCursor(harness: Harness, organisation: BenchOrganisation): Promise<string> {
  let cursor = ''
  for (let page = 0; page < 5; page++) {
    const response = await get(harness, organisation, `/v1/jobs?limit=100${cursor}`)
    cursor = `&cursor=${((await response.json()) as { next_cursor: string }).next_cursor}`
  }
  return cursor.slice('&cursor='.length)
}

async function read(
  harness: Harness,
  organisation: BenchOrganisation,
  path: string,
  requests: number,
): Promise<Point> {
  const request = async () => {
    const response = await get(harness, organisation, path)
    if (!response.ok) throw new Error(`${path} returned ${response.status}`)
    await response.arrayBuffer()
  }
  await request()
  await control(harness, 'counts')
  await request()
  const counts = await control<Counts>(harness, 'counts')
  const times: number[] = []
  for (let n = 0; n < requests; n++) {
    const startedAt = performance.now()
    await request()
    times.push(performance.now() - startedAt)
  }
  return { rowsRead: counts.d1RowsRead + counts.objectRowsRead, medianMs: median(times) }
}

async function growLedger(
  harness: Harness,
  sizes: number[],
  requests: number,
): Promise<Record<string, Point>> {
  const organisation = await createOrganisation(harness.instrumented)
  const points: Record<string, Point> = {}
  let entries = 1
  for (const next of sizes) {
    await control(harness, `grants?org=${organisation.orgId}&n=${next - entries}`)
    entries = next
    points[String(entries)] = await read(harness, organisation, '/v1/account', requests)
  }
  return points
}

/** Sends a twentieth more requests than the limit per minute, and compares the first with the last ones. */
async function growRateWindow(harness: Harness, limit: number) {
  const organisation = await createOrganisation(harness.instrumented, {
    rate_limit_per_minute: limit,
  })
  const requests = limit * 1.05
  const times: number[] = []
  let rejected = 0
  for (let n = 0; n < requests / 50; n++) {
    const startedAt = performance.now()
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const response = await get(harness, organisation, '/v1/account')
        await response.arrayBuffer()
        return response.status
      }),
    )
    times.push((performance.now() - startedAt) / 50)
    rejected += statuses.filter((status) => status === 429).length
  }
  return {
    accepted: requests - rejected,
    rejected,
    firstThousandMs: median(times.slice(0, 20)),
    lastThousandMs: median(times.slice(limit / 50 - 20, limit / 50)),
  }
}

const median = (values: number[]) =>
  Number(([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0).toFixed(2))
