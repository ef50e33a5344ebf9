// 3. What becomes slower as an organisation grows. Rows read are exact; times are the median of
// requests made one after the other.
import { fillJobs, jobId } from './fill.ts'
import { door, newShop } from './harness.ts'
import type { Shop, Stand } from './harness.ts'
import type { Counts } from './instrumented.ts'

const REQUESTS = 150

interface Point {
  rowsRead: number
  medianMs: number
}

/** Reading at each size of the table, the ledger and the window. */
export async function measureGrowth(stand: Stand, sizes: number[]) {
  const shop = await newShop(stand.counted)
  const jobs: Record<string, Record<string, Point>> = {}
  let size = 0
  for (const next of sizes) {
    await fillJobs(stand.countedDatabase, shop, size, next)
    size = next
    const middle = jobId(shop, Math.floor(size / 2))
    const cursor = await middleCursor(stand, shop)
    jobs[String(size)] = {
      'GET /v1/jobs/{id}': await read(stand, shop, `/v1/jobs/${middle}`),
      'GET /v1/jobs': await read(stand, shop, '/v1/jobs'),
      '…?status=completed': await read(stand, shop, '/v1/jobs?status=completed'),
      '…?status=pending (none)': await read(stand, shop, '/v1/jobs?status=pending'),
      'GET /v1/account (no D1)': await read(stand, shop, '/v1/account'),
      '…?cursor=': await read(stand, shop, `/v1/jobs?cursor=${cursor}`),
    }
  }
  return { jobs, ledger: await growLedger(stand), limiter: await growWindow(stand) }
}

async function middleCursor(stand: Stand, { keys }: Shop): Promise<string> {
  let cursor = ''
  for (let page = 0; page < 5; page++) {
    const answer = await fetch(`${stand.counted}/v1/jobs?limit=100${cursor}`, {
      headers: { Authorization: `Bearer ${keys.live}` },
    })
    cursor = `&cursor=${((await answer.json()) as { next_cursor: string }).next_cursor}`
  }
  return cursor.slice('&cursor='.length)
}

async function read(stand: Stand, { keys }: Shop, path: string): Promise<Point> {
  const request = async () => {
    const answer = await fetch(`${stand.counted}${path}`, {
      headers: { Authorization: `Bearer ${keys.live}` },
    })
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
    await answer.arrayBuffer()
  }
  await request()
  await door(stand, 'counts')
  await request()
  const counts = await door<Counts>(stand, 'counts')
  const times: number[] = []
  for (let n = 0; n < REQUESTS; n++) {
    const begun = performance.now()
    await request()
    times.push(performance.now() - begun)
  }
  return { rowsRead: counts.d1RowsRead + counts.objectRowsRead, medianMs: median(times) }
}

async function growLedger(stand: Stand): Promise<Record<string, Point>> {
  const shop = await newShop(stand.counted)
  const points: Record<string, Point> = {}
  let entries = 1
  for (const next of [100, 1_000, 10_000]) {
    await door(stand, `grants?org=${shop.orgId}&n=${next - entries}`)
    entries = next
    points[String(entries)] = await read(stand, shop, '/v1/account')
  }
  return points
}

/** Asks until the limit of 6,000 a minute is spent, and compares the first requests with the last. */
async function growWindow(stand: Stand) {
  const shop = await newShop(stand.counted, { rate_limit_per_minute: 6_000 })
  const times: number[] = []
  let refused = 0
  for (let n = 0; n < 6_300 / 50; n++) {
    const begun = performance.now()
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const answer = await fetch(`${stand.counted}/v1/account`, {
          headers: { Authorization: `Bearer ${shop.keys.live}` },
        })
        await answer.arrayBuffer()
        return answer.status
      }),
    )
    times.push((performance.now() - begun) / 50)
    refused += statuses.filter((status) => status === 429).length
  }
  return {
    passed: 6_300 - refused,
    refused,
    firstThousandMs: median(times.slice(0, 20)),
    lastThousandMs: median(times.slice(100, 120)),
  }
}

const median = (values: number[]) =>
  Number(([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0).toFixed(2))
