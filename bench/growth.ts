// 3. What becomes slower as an organisation grows. Rows read are exact; times are medians of
// sequential requests.
import { fillJobs, jobId } from './fill.ts'
import { control, createOrganisation, shardFor } from './harness.ts'
import type { BenchOrganisation, Harness } from './harness.ts'
import type { Counts } from './instrumented.ts'

const REQUESTS = 150

interface Point {
  rowsRead: number
  medianMs: number
}

/** Reads at several sizes of the jobs table, the ledger and the rate-limit window. */
export async function measureGrowth(harness: Harness, sizes: number[]) {
  const organisation = await createOrganisation(harness.instrumented)
  const jobs: Record<string, Record<string, Point>> = {}
  let size = 0
  for (const next of sizes) {
    await fillJobs(shardFor(harness, organisation), organisation, size, next)
    size = next
    const middle = jobId(organisation, Math.floor(size / 2))
    const cursor = await middleCursor(harness, organisation)
    jobs[String(size)] = {
      'GET /v1/jobs/{id}': await read(harness, organisation, `/v1/jobs/${middle}`),
      'GET /v1/jobs': await read(harness, organisation, '/v1/jobs'),
      '…?status=completed': await read(harness, organisation, '/v1/jobs?status=completed'),
      '…?status=pending (none)': await read(harness, organisation, '/v1/jobs?status=pending'),
      'GET /v1/account (no D1)': await read(harness, organisation, '/v1/account'),
      '…?cursor=': await read(harness, organisation, `/v1/jobs?cursor=${cursor}`),
    }
  }
  return { jobs, ledger: await growLedger(harness), rateLimit: await growRateWindow(harness) }
}

async function middleCursor(harness: Harness, { keys }: BenchOrganisation): Promise<string> {
  let cursor = ''
  for (let page = 0; page < 5; page++) {
    const response = await fetch(`${harness.instrumented}/v1/jobs?limit=100${cursor}`, {
      headers: { Authorization: `Bearer ${keys.live}` },
    })
    cursor = `&cursor=${((await response.json()) as { next_cursor: string }).next_cursor}`
  }
  return cursor.slice('&cursor='.length)
}

async function read(harness: Harness, { keys }: BenchOrganisation, path: string): Promise<Point> {
  const request = async () => {
    const response = await fetch(`${harness.instrumented}${path}`, {
      headers: { Authorization: `Bearer ${keys.live}` },
    })
    if (!response.ok) throw new Error(`${path} returned ${response.status}`)
    await response.arrayBuffer()
  }
  await request()
  await control(harness, 'counts')
  await request()
  const counts = await control<Counts>(harness, 'counts')
  const times: number[] = []
  for (let n = 0; n < REQUESTS; n++) {
    const startedAt = performance.now()
    await request()
    times.push(performance.now() - startedAt)
  }
  return { rowsRead: counts.d1RowsRead + counts.objectRowsRead, medianMs: median(times) }
}

async function growLedger(harness: Harness): Promise<Record<string, Point>> {
  const organisation = await createOrganisation(harness.instrumented)
  const points: Record<string, Point> = {}
  let entries = 1
  for (const next of [100, 1_000, 10_000]) {
    await control(harness, `grants?org=${organisation.orgId}&n=${next - entries}`)
    entries = next
    points[String(entries)] = await read(harness, organisation, '/v1/account')
  }
  return points
}

/** Sends requests beyond the limit of 6,000 per minute, and compares the first with the last ones. */
async function growRateWindow(harness: Harness) {
  const organisation = await createOrganisation(harness.instrumented, {
    rate_limit_per_minute: 6_000,
  })
  const times: number[] = []
  let rejected = 0
  for (let n = 0; n < 6_300 / 50; n++) {
    const startedAt = performance.now()
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const response = await fetch(`${harness.instrumented}/v1/account`, {
          headers: { Authorization: `Bearer ${organisation.keys.live}` },
        })
        await response.arrayBuffer()
        return response.status
      }),
    )
    times.push((performance.now() - startedAt) / 50)
    rejected += statuses.filter((status) => status === 429).length
  }
  return {
    accepted: 6_300 - rejected,
    rejected,
    firstThousandMs: median(times.slice(0, 20)),
    lastThousandMs: median(times.slice(100, 120)),
  }
}

const median = (values: number[]) =>
  Number(([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0).toFixed(2))
