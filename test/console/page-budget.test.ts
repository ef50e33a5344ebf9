// Alone: it counts the trips to D1.
// The budget of every page of the console: its trips to D1, and its bytes with gzip. docs/performance.md has
// the same table.
import { env } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'
import documented from '../../docs/performance.md?raw'
import { ORGANISATION_PAGES, USER_PAGES } from '../browser/support/pages.ts'
import { BASE, clientOf } from '../support/client.ts'
import { newMember, newOwner, type Page } from '../support/browser.ts'
import { onTrip } from '../support/jobs-database.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { newEndpoint } from '../support/webhooks.ts'
import { finished, submit } from '../support/world.ts'

/** Trips that follow each other. */
const MAX_TRIPS = 4
const MAX_KB = 40
/** Ids and times differ in each run. */
const TOLERANCE_KB = 1

/** Every trip takes this much longer, so that those that run in parallel end before the next ones. */
const LATENCY_MS = 30

const upstream = fakeUpstream()

/** Counts trips to D1, and how many of them started after the end of another one. */
function countTrips() {
  const trips = { all: 0, inSequence: 0 }
  onTrip(async (make) => {
    trips.all++
    const depth = trips.inSequence + 1
    await scheduler.wait(LATENCY_MS)
    const result = await make()
    trips.inSequence = Math.max(trips.inSequence, depth)
    return result
  })
  return trips
}

const gzipped = async (body: BodyInit | null): Promise<number> => {
  const compressed = new Response(body).body?.pipeThrough(new CompressionStream('gzip'))
  return (await new Response(compressed).arrayBuffer()).byteLength
}

const files = new Map<string, Promise<number>>()

/** The page with its own styles, scripts and icons; without pictures. */
async function kilobytesOf(html: string): Promise<number> {
  const links = html.matchAll(/(?:href|src)="(\/static\/[^"#]+\.(?:css|js|svg))/g)
  const own = [...new Set([...links].map(([, path = '']) => path))]
  const sizes = own.map((path) => {
    let size = files.get(path)
    if (!size) files.set(path, (size = sizeOf(path)))
    return size
  })
  const all = [gzipped(html), ...sizes]
  return (await Promise.all(all)).reduce((sum, bytes) => sum + bytes, 0) / 1_000
}

async function sizeOf(path: string): Promise<number> {
  const file = await env.ASSETS.fetch(BASE + path)
  expect(file.status, path).toBe(200)
  return gzipped(file.body)
}

interface Figures {
  inSequence: number
  all: number
  kilobytes: number
}

/** The rows of the table in the documentation, by page. */
const DOCUMENTED = new Map<string, Figures>(
  [...documented.matchAll(/^\| `(\S+)` +\| (\d+) +\| (\d+) +\| (\d+) +\|$/gm)].map(
    ([, page = '', inSequence, all, kilobytes]) => [
      page,
      { inSequence: Number(inSequence), all: Number(all), kilobytes: Number(kilobytes) },
    ],
  ),
)

it('every page takes at most 4 trips to D1 and 40 kB, and not more than the documentation says', async () => {
  const { browser, testKey, organisationId } = await newOwner()
  const { userId } = await newMember(organisationId)
  upstream.on('https://hooks.test/page', () => new Response('thanks'))
  const client = clientOf(testKey)
  const { job_id: jobId } = await submit(client, { webhook_url: 'https://hooks.test/page' })
  await finished(client, jobId)
  const linked = async (path: string, id: RegExp) =>
    id.exec((await browser.get(path)).html)?.[0] ?? ''
  const requestId = () => linked('/console/requests', /(?<=\/requests\/)[0-9a-f]{8}-[\w-]+/)
  await vi.waitUntil(requestId, { timeout: 10_000 }) // the request log is written after the response
  const ids: Record<string, string> = {
    ':jobId': jobId,
    ':eventId': jobId.replace('job_', 'evt_'),
    ':userId': userId,
    ':keyId': await linked('/console/settings/api-keys', /key_\w{26}/),
    ':id': (await newEndpoint(organisationId)).id,
    ':requestId': await requestId(),
  }
  const pages = [
    ...ORGANISATION_PAGES.map(
      (path) => [path || '/', `/console/${organisationId}${path}`] as const,
    ),
    ...USER_PAGES.map((path) => [path, path] as const),
  ]
  const trips = countTrips()
  const found = new Map<string, Figures>()
  for (const [name, path] of pages) {
    const address = path.replace(/:\w+/, (parameter) => ids[parameter] || parameter)
    const known = DOCUMENTED.get(name) ?? { inSequence: 0, all: 0, kilobytes: 0 }
    let page: Page
    // A trip may seem to follow one that it does not wait for, and work after responses makes trips too.
    for (let attempt = 0; attempt < 3; attempt++) {
      Object.assign(trips, { all: 0, inSequence: 0 })
      page = await browser.get(address)
      expect(page.status === 404, name).toBe(name === '/not-found')
      if (trips.inSequence <= known.inSequence && trips.all <= known.all) break
    }
    found.set(name, { ...trips, kilobytes: await kilobytesOf(page!.source) })
  }

  expect([...found.keys()].toSorted()).toEqual([...DOCUMENTED.keys()].toSorted())
  const wrong = [...found].filter(([name, { inSequence, all, kilobytes }]) => {
    const row = DOCUMENTED.get(name)!
    const isMore = inSequence > row.inSequence || all > row.all
    const isLarger = kilobytes > row.kilobytes + TOLERANCE_KB
    return inSequence > MAX_TRIPS || isMore || isLarger || kilobytes > MAX_KB
  })
  expect(wrong).toEqual([])
})
