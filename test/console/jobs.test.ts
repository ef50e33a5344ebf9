// The list of jobs.
import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { exportJobs } from '../../src/privacy/export-jobs.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { createKey, newMember, newOwner, tryOn, type Owner } from '../support/browser.ts'
import { clientOf } from '../support/client.ts'
import { insertJob } from '../support/ended-job.ts'
import { jobsDb } from '../support/jobs-database.ts'
import { DELAYED, finished, submit } from '../support/world.ts'

const linkOf = (html: string, label: string) =>
  new RegExp(`href="([^"]*)"[^>]*>${label}<`).exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''

afterEach(() => void vi.useRealTimers())

const idsIn = (html: string) => [...html.matchAll(/title="(job_\w+)"/g)].map(([, id]) => id)

describe('the list of jobs', () => {
  let shop: Owner
  let failed: string
  let live: string
  let keyId: string

  beforeAll(async () => {
    shop = await newOwner()
    const { organisationId: id } = shop
    await createKey(shop.browser, { name: 'A key with a name' })
    keyId =
      (await env.DB.prepare('SELECT id FROM api_keys WHERE name = ? AND organisation_id = ?')
        .bind('A key with a name', id)
        .first<string>('id')) ?? ''
    failed = await insertJob(id, {
      status: 'failed',
      error_code: 'person_not_found',
      api_key_id: keyId,
    })
    live = await insertJob(id, { mode: 'live' })
    await insertJob(id, { api_key_id: 'console', created_at: Date.now() })
  }, 60_000)
  const list = (query: string) => shop.browser.get(`/console/jobs?${query}`)

  it('shows the jobs of the mode with status, error, key and number', async () => {
    const { html } = await list('')
    expect(idsIn(html)).toHaveLength(2)
    expect(html).not.toContain(live)
    expect(html).toContain('2 test jobs')
    expect(html).toContain('title="person_not_found">person_not_found</code>')
    expect(html).toContain('A key with a name')
    expect(html).toContain('Console')
  })

  it('filters by error code, key, status and date, and offers to clear the filters', async () => {
    for (const query of [
      'error=person_not_found',
      `key=${keyId}`,
      'status=failed',
      `q=${failed.slice(-8)}`,
      `q=${failed.slice(0, -1)}`,
      `q=${failed.slice(-8).toUpperCase()}`,
    ]) {
      const { html } = await list(query)
      expect(idsIn(html), query).toEqual([failed])
      expect(html).toContain('1 test job')
    }
    const today = new Date().toISOString().slice(0, 10)
    expect(idsIn((await list(`from=${today}&to=${today}`)).html)).toHaveLength(2)
    const empty = await list('to=2020-01-01&key=console')
    expect(empty.html).toContain('No matching test jobs')
    expect(empty.html).toContain('<a href="/console/jobs">Clear filters</a>')
    expect((await list('from=x&to=2020-99-99&key=1&error=2&q=&before=3')).html).toContain(
      '2 test jobs',
    )
  })

  it('opens the page of a complete ID, also in the other mode', async () => {
    expect((await list(`q=${failed}`)).path).toBe(`/console/jobs/${failed}`)
    expect((await list(`q=+${live.toUpperCase()}+`)).path).toBe(`/console/jobs/${live}`)
    const other = await newOwner()
    const page = await other.browser.get(`/console/jobs?q=${failed}`)
    expect(page.path).toContain('/console/jobs?q=')
    expect(page.html).toContain('No matching test jobs')
  })

  it('explains that a part of an ID is too short', async () => {
    const { html } = await list('q=job_01m7')
    expect(html).toContain('at least 6 characters')
  })

  it('links to the neighbours of a job within the filters', async () => {
    const [newest = ''] = idsIn((await list('')).html)
    const page = await shop.browser.get(`/console/jobs/${newest}`)
    expect(linkOf(page.html, 'Older job')).toBe(`/console/jobs/${failed}`)
    expect(linkOf(page.html, 'Newer job')).toBe('')
    const filtered = await shop.browser.get(`/console/jobs/${newest}?status=completed`)
    expect(linkOf(filtered.html, 'Older job')).toBe('')
    expect(filtered.html).toContain('<a href="/console/jobs?status=completed">Jobs</a>')
  })

  it('is exported as CSV without URLs, and the export is recorded', async () => {
    const { html, headers } = await shop.browser.post('/console/jobs/export', { status: 'failed' })
    expect(headers.get('Content-Type')).toContain('text/csv')
    expect(headers.get('Content-Disposition')).toMatch(
      /^attachment; filename="try-on-jobs-test-\d{4}-\d\d-\d\d\.csv"$/,
    )
    const [header = '', row = '', end] = html.split('\r\n')
    expect(header).toBe(
      'job_id,status,mode,workspace_id,workspace,api_key_id,api_key,error_code,created_at,completed_at,duration_ms,credits',
    )
    expect(row).toMatch(
      new RegExp(
        `^${failed},failed,test,ws_\\w+,,${keyId},A key with a name,person_not_found,.*,0$`,
      ),
    )
    expect(end).toBe('')
    expect(html).not.toContain('://')
    expect((await shop.browser.get('/console/settings/audit-log')).html).toContain(
      'Exported a list of jobs',
    )
  })

  it('says at the end of the export that it does not contain all jobs', async () => {
    const request = { env, actor: SYSTEM, organisationId: shop.organisationId }
    const pages = await exportJobs({ ...request, filter: { mode: 'test' }, maxRows: 1 })
    const rows = (await Array.fromAsync(pages)).flat()
    expect(rows).toHaveLength(3)
    expect(rows.at(-1)).toEqual(['Only the newest 1 jobs are included. Export a shorter period.'])
    const all = await exportJobs({ ...request, filter: { mode: 'test' }, maxRows: 2 })
    expect((await Array.fromAsync(all)).flat()).toHaveLength(3)
  })

  it('is not available to members who may not read jobs', async () => {
    const { browser, userId } = await newMember(shop.organisationId)
    await env.DB.prepare("UPDATE members SET role = 'billing' WHERE user_id = ?").bind(userId).run()
    const { organisationId: id } = shop
    for (const path of ['', '/live', `/${failed}`, `/${failed}/live`, `/${failed}/thumbnail`]) {
      expect((await browser.get(`/console/${id}/jobs${path}`)).status, path).toBe(404)
    }
    expect((await browser.post(`/console/${id}/jobs/export`)).status).toBe(404)
  })
})

describe('the fragment of the list', () => {
  it('contains new jobs and the state of unfinished ones, until a page cannot change', async () => {
    const { browser, testKey } = await newOwner()
    const client = clientOf(testKey)
    const liveOf = (html: string) =>
      /data-live="([^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const empty = await browser.get('/console/jobs')
    expect(empty.html).toContain('data-live-seconds="10"')
    const { job_id: slow } = await submit(client, DELAYED)
    const page = await browser.get(liveOf(empty.html))
    expect(idsIn(page.html)).toContain(slow)
    expect(page.html).toContain('data-live-seconds="2"')
    const { job_id: newer } = await submit(client)
    const fragment = await browser.get(liveOf(page.html))
    expect(new Set(idsIn(fragment.html))).toEqual(new Set([slow, newer]))
    await finished(client, newer)
    const other = await newOwner()
    expect(idsIn((await other.browser.get(liveOf(page.html))).html)).toEqual([])
    // An older page without unfinished jobs.
    const older = await browser.get(`/console/jobs?before=${slow}`)
    expect(older.html).not.toContain('data-live')
  })

  it('shows the time from the submission, with the time of waiting on the page of the job', async () => {
    const { browser, organisationId } = await newOwner()
    const jobId = await insertJob(organisationId, {})
    const at = Date.now()
    await jobsDb(organisationId)
      .prepare(
        'UPDATE jobs SET created_at = ?1, started_at = ?1 + 69000, completed_at = ?1 + 71300, duration_ms = 2300 WHERE id = ?2',
      )
      .bind(at, jobId)
      .run()
    expect((await browser.get('/console/jobs')).html).toContain('71.3 s')
    expect((await browser.get(`/console/jobs/${jobId}`)).html).toContain(
      '<dt>Waiting</dt><dd>69.0 s</dd><dt>Processing</dt><dd>2.3 s</dd><dt>Total time</dt><dd>71.3 s</dd>',
    )
  })
})

describe('the key of a job', () => {
  it('is stored with the submission, and the console is named for a job without one', async () => {
    const { browser, testKey } = await newOwner()
    const { job_id } = await submit(clientOf(testKey))
    expect((await browser.get(`/console/jobs/${job_id}`)).html).toContain('First test key')
    const { jobId } = await tryOn(browser)
    expect((await browser.get(`/console/jobs/${jobId}`)).html).toMatch(/API key<\/dt>[^/]*Console/s)
  })
})

it('the matches of a list are counted at every view, from 100 on once a minute', async () => {
  const { browser, organisationId } = await newOwner()
  const countWith = async (added: number) => {
    for (let n = 0; n < added; n++) await insertJob(organisationId, {})
    return /([\d,]+) test jobs?/.exec((await browser.get('/console/jobs')).html)?.[1]
  }
  expect(await countWith(99)).toBe('99')
  expect(await countWith(1)).toBe('100')
  expect(await countWith(1)).toBe('100')
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
  expect(await countWith(0)).toBe('101')
})
