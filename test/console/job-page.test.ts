// Alone: it counts the reads of R2.
// The page of a job, its actions, and the files of its result.
import { env } from 'cloudflare:workers'
import * as compositor from '@try-on/compositor'
import { drawFigure } from '@try-on/compositor/samples'
import { dimensions } from '@try-on/image-files'
import { encodePng } from '@try-on/image-files/samples'
import { describe, expect, it, vi } from 'vitest'
import { addedEventIdOf, newId } from '../../src/platform/ids.ts'
import { outputKey, thumbnailKey } from '../../src/platform/signing/signed-url.ts'
import { newOwner, tryOn, type Browser } from '../support/browser.ts'
import { clientOf, request } from '../support/client.ts'
import { insertJob } from '../support/ended-job.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { failJobQueues, finished } from '../support/world.ts'
import { jobsDb } from '../support/jobs-database.ts'

const upstream = fakeUpstream()

/** Sends a request with the cookies of a browser, for responses that are not text. */
async function fetchAs(browser: Browser, path: string, headers: Record<string, string> = {}) {
  const { address } = await browser.get('/console/jobs')
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const [organisation = ''] = /^\/console\/org_\w{26}/.exec(address) ?? []
  return request(organisation + path, { headers: { Cookie: cookie, ...headers } })
}

const OUTPUT = await encodePng(drawFigure({ width: 200, height: 300 }))

/** A completed job with a picture. */
async function completedJob() {
  const { browser, organisationId } = await newOwner()
  const id = await insertJob(organisationId, { mode: 'live', output_format: 'png' })
  await env.IMAGES.put(outputKey(id, 'png'), OUTPUT)
  return { browser, organisationId, id, path: `/jobs/${id}/thumbnail` }
}

describe('the page of a job', () => {
  it('follows the job until its webhook has been delivered or has failed', async () => {
    const { browser, organisationId } = await newOwner()
    const id = await insertJob(organisationId, { webhook_url: 'https://hooks.test/x' })
    const dueAt = Date.now() + 3_600_000
    await jobsDb(organisationId)
      .prepare(
        `INSERT INTO webhook_events (id, organisation_id, job_id, type, url, status, attempts, due_at,
                                   sweep_at, created_at)
       VALUES (?, ?, ?, 'job.completed', 'https://hooks.test/x', 'pending', 0, ?, 0, ?)`,
      )
      .bind(id.replace('job_', 'evt_'), organisationId, id, dueAt, Date.now())
      .run()
    const withStatus = async (status: string) => {
      await jobsDb(id)
        .prepare('UPDATE webhook_events SET status = ? WHERE job_id = ?')
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

  it('follows the events of added endpoints, and links to them and to the request log', async () => {
    const { browser, organisationId } = await newOwner()
    const id = await insertJob(organisationId, {})
    const now = Date.now()
    await jobsDb(organisationId)
      .prepare(
        `INSERT INTO webhook_events (id, organisation_id, job_id, type, url, status, attempts, due_at,
                                   sweep_at, created_at, added_endpoint_id)
       VALUES (?, ?, ?, 'job.completed', 'https://hooks.test/x', 'pending', 0, ?, 0, ?, ?)`,
      )
      .bind(addedEventIdOf(id, newId('we')), organisationId, id, now, now, newId('we'))
      .run()
    const open = (await browser.get(`/console/jobs/${id}`)).html
    expect(open).toContain(`data-live="/console/jobs/${id}/live"`)
    expect(open).toContain(`href="/console/settings/webhooks/deliveries?q=${id}"`)
    expect(open).toContain('1 pending')
    expect(open).toContain(`href="/console/requests?q=${id}"`)
    await jobsDb(id)
      .prepare("UPDATE webhook_events SET status = 'delivered' WHERE job_id = ?")
      .bind(id)
      .run()
    expect((await browser.get(`/console/jobs/${id}`)).html).not.toContain('data-live')
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
    const { browser, id, path } = await completedJob()
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
    expect(await env.IMAGES.head(thumbnailKey(id))).toBeNull()
  })

  it('is made small once, and then costs one read', async () => {
    const { path, browser } = await completedJob()
    const thumbnailOf = vi.spyOn(compositor, 'thumbnailOf')
    const put = env.IMAGES.put.bind(env.IMAGES)
    const slowPut = async (...object: Parameters<typeof put>) => {
      await scheduler.wait(100)
      return put(...object)
    }
    const storing = vi.spyOn(env.IMAGES, 'put').mockImplementation(slowPut)
    const responses = await Promise.all([1, 2, 3].map(() => fetchAs(browser, path)))
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(thumbnailOf).toHaveBeenCalledOnce()
    storing.mockRestore()
    const read = vi.spyOn(env.IMAGES, 'get')
    const other = [vi.spyOn(env.IMAGES, 'head'), vi.spyOn(env.IMAGES, 'put')]
    expect((await fetchAs(browser, path)).status).toBe(200)
    expect(read).toHaveBeenCalledOnce()
    for (const call of other) expect(call).not.toHaveBeenCalled()
  })

  it('leaves no small picture when it is deleted while that is stored', async () => {
    const { id, path, browser } = await completedJob()
    const put = env.IMAGES.put.bind(env.IMAGES)
    vi.spyOn(env.IMAGES, 'put').mockImplementationOnce(
      async (...object: Parameters<typeof put>) => {
        await browser.post(`/console/jobs/${id}/delete-pictures`)
        return put(...object)
      },
    )
    expect((await fetchAs(browser, path)).status).toBe(404)
    expect(await env.IMAGES.head(thumbnailKey(id))).toBeNull()
  })

  it('leaves no small picture when its output cannot be checked', async () => {
    const { id, path, browser } = await completedJob()
    vi.spyOn(env.IMAGES, 'head')
      .mockResolvedValueOnce(null)
      .mockRejectedValueOnce(new Error('unavailable'))
    expect((await fetchAs(browser, path)).status).toBe(404)
    vi.restoreAllMocks()
    expect(await env.IMAGES.head(thumbnailKey(id))).toBeNull()
  })

  it('has no small picture if it cannot be decoded', async () => {
    const { browser, organisationId } = await newOwner()
    const id = await insertJob(organisationId, { mode: 'live', output_format: 'jpeg' })
    await env.IMAGES.put(outputKey(id, 'jpeg'), 'not a picture')
    const response = await fetchAs(browser, `/jobs/${id}/thumbnail`)
    expect(response.status).toBe(404)
    expect(response.headers.get('Cache-Control')).toBe('no-store')
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
