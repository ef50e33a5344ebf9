// 7. Server time of the console's pages for an organisation with many jobs: from the request to the end of the
// page, one request at a time.
import { request } from 'playwright-core'
import { signUp } from '../test/browser/support/console.ts'
import { ORGANISATION_PAGES, USER_PAGES } from '../test/browser/support/pages.ts'
import { fillJobs, jobId } from './fill.ts'
import type { Harness } from './harness.ts'

const GOAL_P95_MS = 60
/** Between two requests, so that they stay within the budget of a user. */
const PAUSE_MS = 60

/**
 * @param jobs completed live jobs of the last minute
 * @param samples of each page
 */
export async function measureConsole(
  { service, database }: Harness,
  { jobs, samples }: { jobs: number; samples: number },
) {
  const browser = await request.newContext({ baseURL: service })
  await signUp(browser, 'owner@bench.example', 'Bench')
  const form = { name: 'Default' }
  await browser.post('/console/onboarding/workspace', { form, headers: { Origin: service } })
  const home = (await browser.get('/console')).url()
  const open = async (path: string) => (await browser.get(path)).text()
  const idOn = async (path: string, pattern: RegExp) => pattern.exec(await open(path))?.[0] ?? ''
  const organisation = {
    orgId: /org_\w+/.exec(home)?.[0] ?? '',
    workspaceId: await idOn(`${home}/settings/workspaces`, /ws_\w{26}/),
    keys: { live: '', test: '' },
  }
  await fillJobs(database, organisation, 0, jobs, Date.now() - jobs)
  const ids: Record<string, string> = {
    ':jobId': jobId(organisation, jobs - 1),
    ':keyId': await idOn(`${home}/settings/api-keys`, /key_\w{26}/),
    ':userId': await idOn(`${home}/settings/team`, /usr_\w{26}/),
  }

  const without: string[] = []
  const pages: Record<string, { p50Ms: number; p95Ms: number }> = {}
  const paths = ORGANISATION_PAGES.filter((path) => path !== '/not-found')
  for (const path of [...paths, ...USER_PAGES]) {
    const start = path.startsWith('/console') ? '' : home
    const address = start + path.replace(/:\w+/, (parameter) => ids[parameter] ?? parameter)
    // The new organisation has no request, event or endpoint to show. The result names these pages.
    if (!(await browser.get(address)).ok()) {
      without.push(path)
      continue
    }
    const times: number[] = []
    while (times.length < samples) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      const startedAt = performance.now()
      const page = await browser.get(address)
      await page.body()
      times.push(performance.now() - startedAt)
      if (!page.ok()) throw new Error(`${address} returned ${page.status()}`)
    }
    times.sort((one, other) => one - other)
    const at = (share: number) => Math.round(times[Math.ceil(times.length * share) - 1] ?? 0)
    pages[path || '/'] = { p50Ms: at(0.5), p95Ms: at(0.95) }
  }
  await browser.dispose()
  return {
    jobs,
    pages,
    'not measured, for want of their data': without.join(', '),
    missed: Object.entries(pages)
      .filter(([, { p95Ms }]) => p95Ms > GOAL_P95_MS)
      .map(([page]) => `server time of ${page}`),
  }
}
