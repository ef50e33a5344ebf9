// 7. Server time of the console's pages for an organisation with many jobs: from the request to the end of the
// page, one request at a time.
import { request } from 'playwright-core'
import { signUp } from '../test/browser/support/console.ts'
import { ORGANISATION_PAGES, USER_PAGES } from '../test/browser/support/pages.ts'
import { fillJobs, jobId } from './fill.ts'
import { post, TRY_ON, type Harness } from './harness.ts'
import { percentile } from './percentile.ts'

const GOAL_P95_MS = 60
/** Between two requests, so that they stay within the budget of a user. */
const PAUSE_MS = 60
/** An error page, and a page that needs the link of an email. */
const NOT_MEASURED = new Set(['/not-found', '/console/account/email/confirm'])
const RECEIVER = 'https://shop.example/hook'

/**
 * @param jobs completed live jobs of the last minute
 * @param samples of each page
 */
export async function measureConsole(
  { service, baseline, database }: Harness,
  { jobs, samples }: { jobs: number; samples: number },
) {
  const browser = await request.newContext({ baseURL: service })
  await signUp(browser, 'owner@bench.example', 'Bench')
  const submit = async (path: string, form: Record<string, string>) =>
    (await browser.post(path, { form, headers: { Origin: service } })).text()
  const created = await submit('/console/onboarding/workspace', { name: 'Default' })
  const home = (await browser.get('/console')).url()
  const open = async (path: string) => (await browser.get(path)).text()
  const idOn = async (path: string, pattern: RegExp) => pattern.exec(await open(path))?.[0] ?? ''
  const organisation = {
    orgId: /org_\w+/.exec(home)?.[0] ?? '',
    workspaceId: await idOn(`${home}/settings/workspaces`, /ws_\w{26}/),
    keys: { live: '', test: /svc_test_sk_\w+/.exec(created)?.[0] ?? '' },
  }
  await fillJobs(database, organisation, 0, jobs, Date.now() - jobs)
  const endpoints = `${home}/settings/webhooks/endpoints`
  const [, id = ''] = /name="id" value="([^"]+)"/.exec(await open(`${endpoints}/new`)) ?? []
  const endpoint = { id, name: 'Bench', url: RECEIVER, mode: 'both', 'job.refunded': 'on' }
  await submit(endpoints, endpoint)
  const event = await cancelJob(service, organisation.keys.test)
  const ids: Record<string, string> = {
    ':jobId': jobId(organisation, jobs - 1),
    ':keyId': await idOn(`${home}/settings/api-keys`, /key_\w{26}/),
    ':userId': /usr_\w{26}/.exec(await submit('/console/account/export', {}))?.[0] ?? '',
    ':id': id,
    ':eventId': event,
    ':requestId': await idOn(`${home}/requests`, /(?<=requests\/)[\w-]{36}/),
  }

  const addresses = [...ORGANISATION_PAGES, ...USER_PAGES]
    .filter((path) => !NOT_MEASURED.has(path))
    .map((path) => {
      const start = path.startsWith('/console') ? '' : home
      return { path, address: start + path.replace(/:\w+/, (name) => ids[name] ?? name) }
    })
  const timeOf = async (address: string): Promise<number> => {
    const startedAt = performance.now()
    const page = await browser.get(address)
    await page.body()
    if (!page.ok()) throw new Error(`${address} returned ${page.status()}`)
    return performance.now() - startedAt
  }
  const plainTimes: number[] = []
  const timesOf = async (address: string, requests: number): Promise<number[]> => {
    const times: number[] = []
    while (times.length < requests) {
      // A machine that may sleep in the pause answers the next request late, by up to 50 ms.
      const resumeAt = performance.now() + PAUSE_MS
      while (performance.now() < resumeAt) plainTimes.push(await timeOf(`${baseline}/plain`))
      times.push(await timeOf(address))
    }
    return times
  }
  // The first requests of an isolate compile what all pages share.
  for (const { address } of addresses) await timesOf(address, Math.ceil(samples / 6))
  const pages: Record<string, { p50Ms: number; p95Ms: number }> = {}
  for (const { path, address } of addresses) {
    pages[path || '/'] = percentilesOf(await timesOf(address, samples))
  }
  await browser.dispose()
  return {
    jobs,
    plainRoute: percentilesOf(plainTimes),
    pages,
    missed: Object.entries(pages)
      .filter(([, { p95Ms }]) => p95Ms > GOAL_P95_MS)
      .map(([page]) => `server time of ${page}`),
  }
}

const percentilesOf = (times: number[]) => ({
  p50Ms: percentile(times, 0.5),
  p95Ms: percentile(times, 0.95),
})

/** Submits a job and cancels it. @returns the id of its event */
async function cancelJob(service: string, key: string): Promise<string> {
  const response = await post(`${service}/v1/tryon`, key, { ...TRY_ON, webhook_url: RECEIVER })
  const { job_id: id } = (await response.json()) as { job_id: string }
  const headers = { Authorization: `Bearer ${key}` }
  await fetch(`${service}/v1/jobs/${id}`, { method: 'DELETE', headers })
  return id.replace('job_', 'evt_')
}
