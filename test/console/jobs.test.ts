// The list of jobs and the page of a job.
import { env } from 'cloudflare:workers'
import { drawFigure } from '@try-on/compositor/samples'
import { dimensions } from '@try-on/image-files'
import { encodePng } from '@try-on/image-files/samples'
import { beforeAll, describe, expect, it } from 'vitest'
import { exportJobs } from '../../src/accounts/export-jobs.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { newId } from '../../src/ids.ts'
import { outputKey } from '../../src/signing/signed-url.ts'
import { createKey, newMember, newOwner, tryOn } from '../support/browser.ts'
import type { Browser, Owner } from '../support/browser.ts'
import { BASE, clientOf, request } from '../support/client.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { DELAYED, failJobQueues, finished, submit } from '../support/world.ts'

const upstream = fakeUpstream()

/** Inserts a job that has ended. @returns its id */
async function insertJob(organisationId: string, columns: Record<string, string | number | null>) {
  const id = newId('job')
  const row = {
    id,
    organisation_id: organisationId,
    workspace_id: newId('ws'),
    mode: 'test',
    status: 'completed',
    base_url: BASE,
    created_at: Date.now(),
    due_at: 0,
    ...columns,
  }
  await env.DB.prepare(
    `INSERT INTO jobs (${Object.keys(row).join()}) VALUES (${Object.keys(row)
      .map(() => '?')
      .join()})`,
  )
    .bind(...Object.values(row))
    .run()
  return id
}

const linkOf = (html: string, label: string) =>
  new RegExp(`href="([^"]*)"[^>]*>${label}<`).exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''

const idsIn = (html: string) => [...html.matchAll(/data-job="(job_\w+)"/g)].map(([, id]) => id)

/** Sends a request with the cookies of a browser, for responses that are not text. */
async function fetchAs(browser: Browser, path: string, headers: Record<string, string> = {}) {
  const { address } = await browser.get('/console/jobs')
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const [organisation = ''] = /^\/console\/org_\w{26}/.exec(address) ?? []
  return request(organisation + path, { headers: { Cookie: cookie, ...headers } })
}

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
    expect(html).toContain('<code>person_<wbr/>not_<wbr/>found</code>')
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
    expect(html).not.toContain('http')
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

describe('the fragment of unfinished rows', () => {
  it('contains the state of these jobs and the number of new jobs', async () => {
    const { browser, testKey } = await newOwner()
    const client = clientOf(testKey)
    const empty = await browser.get('/console/jobs')
    const { job_id: first } = await submit(client)
    await finished(client, first)
    const [, whenEmpty = ''] = /data-rows="([^"]*)"/.exec(empty.html) ?? []
    expect((await browser.get(whenEmpty.replaceAll('&amp;', '&'))).html).toContain('1 new job')

    const { job_id: slow } = await submit(client, DELAYED)
    const page = await browser.get('/console/jobs')
    expect(page.html).toContain(`data-job="${slow}" data-unfinished`)
    const [, live = ''] = /data-rows="([^"]*)"/.exec(page.html) ?? []
    await submit(client)
    await submit(client)
    const path = `${live.replaceAll('&amp;', '&')}&ids=${slow},${first},nonsense`
    const fragment = await browser.get(path)
    expect(new Set(idsIn(fragment.html))).toEqual(new Set([slow, first]))
    expect(fragment.html).toContain('2 new jobs')
    const other = await newOwner()
    expect(idsIn((await other.browser.get(path)).html)).toEqual([])
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

describe('the page of a job', () => {
  it('follows the job until its webhook has been delivered or has failed', async () => {
    const { browser, organisationId } = await newOwner()
    const id = await insertJob(organisationId, { webhook_url: 'https://hooks.test/x' })
    const dueAt = Date.now() + 3_600_000
    await env.DB.prepare(
      `INSERT INTO webhook_events (id, organisation_id, job_id, type, url, status, attempts, due_at,
                                   sweep_at, created_at)
       VALUES (?, ?, ?, 'job.completed', 'https://hooks.test/x', 'pending', 0, ?, 0, ?)`,
    )
      .bind(id.replace('job_', 'evt_'), organisationId, id, dueAt, Date.now())
      .run()
    const withStatus = async (status: string) => {
      await env.DB.prepare('UPDATE webhook_events SET status = ? WHERE job_id = ?')
        .bind(status, id)
        .run()
      return (await browser.get(`/console/jobs/${id}`)).html
    }
    expect(await withStatus('pending')).toContain(`data-live="/console/jobs/${id}/live"`)
    const retrying = await withStatus('retrying')
    expect(retrying).toContain('data-live-seconds="30"')
    expect(retrying).toMatch(
      new RegExp(`Next attempt <time datetime="${new Date(dueAt).toISOString()}"`),
    )
    for (const status of ['delivered', 'failed']) {
      expect(await withStatus(status)).not.toContain('data-live')
    }
  })

  it('asks before it cancels, and shows when and why a job was cancelled', async () => {
    failJobQueues()
    const { browser } = await newOwner()
    const { jobId } = await tryOn(browser, { mode: 'live' })
    const { html } = await browser.get(`/console/jobs/${jobId}`)
    expect(html).toContain('its credit is returned. This cannot be undone.')
    const cancelled = await browser.post(`/console/jobs/${jobId}/cancel`)
    expect(cancelled.html).toContain('cancelled at your request before processing started')
    expect(cancelled.html).toMatch(/<strong>Refunded<\/strong> <time datetime="/)
  })

  it('submits a new job with the same images, once per form', async () => {
    const { browser, testKey } = await newOwner()
    const { jobId } = await tryOn(browser)
    await finished(clientOf(testKey), jobId)
    const { html } = await browser.get(`/console/jobs/${jobId}`)
    expect(html).toContain('>Run again</button>')
    expect(html).toContain('$TRY_ON_API_KEY')
    const nonce = /name="nonce" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const again = await browser.post(`/console/jobs/${jobId}/run-again`, { nonce })
    expect(again.path).toMatch(/^\/console\/jobs\/job_/)
    expect(again.path).not.toContain(jobId)
    expect((await browser.post(`/console/jobs/${jobId}/run-again`, { nonce })).path).toBe(
      again.path,
    )

    await browser.post(`/console/jobs/${jobId}/delete-pictures`)
    expect((await browser.get(`/console/jobs/${jobId}`)).html).not.toContain('Run again')
    const rejected = await browser.post(`/console/jobs/${jobId}/run-again`, {
      nonce: crypto.randomUUID(),
    })
    expect(rejected.status).toBe(422)
    expect(rejected.html).toContain('The images of this job are deleted.')
  })

  it('says that running a live job again costs a credit, and shows a rejection', async () => {
    const { browser, organisationId } = await newOwner()
    const id = await insertJob(organisationId, {
      mode: 'live',
      model_image_url: 'https://cdn.test/m',
      garment_image_url: 'https://cdn.test/g',
    })
    expect((await browser.get(`/console/jobs/${id}`)).html).toContain('Run again (1 credit)')
    const page = await browser.post(`/console/jobs/${id}/run-again`, { nonce: crypto.randomUUID() })
    expect(page.status).toBe(422)
    expect(page.html).toContain('The workspace does not exist or is archived.')
    expect(upstream.seen()).toEqual([])
  })
})

describe('the result of a job', () => {
  it('is shown as a small picture that the browser caches', async () => {
    const { browser, organisationId } = await newOwner()
    const id = await insertJob(organisationId, { mode: 'live', output_format: 'png' })
    const path = `/jobs/${id}/thumbnail`
    expect((await fetchAs(browser, path)).status).toBe(404)
    await env.IMAGES.put(
      outputKey(id, 'png'),
      await encodePng(drawFigure({ width: 600, height: 900 })),
    )
    const response = await fetchAs(browser, path)
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('image/jpeg')
    expect(response.headers.get('Cache-Control')).toBe('private, max-age=3600')
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(dimensions(bytes, 'jpeg')).toEqual({ width: 107, height: 160 })
    expect(bytes.length).toBeLessThan(10_000)
    const etag = response.headers.get('ETag') ?? ''
    const cached = await fetchAs(browser, path, { 'If-None-Match': etag })
    expect(cached.status).toBe(304)

    await browser.post('/console/mode', { mode: 'live' })
    expect((await browser.get('/console/jobs')).html).toContain(
      `src="/console/jobs/${id}/thumbnail"`,
    )
    const other = await newOwner()
    expect((await fetchAs(other.browser, path)).status).toBe(404)
    await browser.post(`/console/jobs/${id}/delete-pictures`)
    expect((await fetchAs(browser, path)).status).toBe(404)
  })

  it('has no small picture if it cannot be decoded', async () => {
    const { browser, organisationId } = await newOwner()
    const id = await insertJob(organisationId, { mode: 'live', output_format: 'jpeg' })
    await env.IMAGES.put(outputKey(id, 'jpeg'), 'not a picture')
    expect((await fetchAs(browser, `/jobs/${id}/thumbnail`)).status).toBe(404)
  })

  it('is downloaded as a file with the ID of the job', async () => {
    const { browser, testKey } = await newOwner()
    const { jobId } = await tryOn(browser)
    await finished(clientOf(testKey), jobId)
    const response = await fetchAs(browser, `/jobs/${jobId}/download`)
    expect(response.headers.get('Content-Disposition')).toBe(
      `attachment; filename="try-on-${jobId}.png"`,
    )
    expect(response.headers.get('Content-Type')).toBe('image/png')
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1_000)
    await browser.post(`/console/jobs/${jobId}/delete-pictures`)
    expect((await fetchAs(browser, `/jobs/${jobId}/download`)).status).toBe(404)
  })
})
