import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import garment from '../../samples/garment.png'
import model from '../../samples/model.jpg'
import { BASE, clientOf, request } from '../support/client.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { newOwner, newBrowser, sendFile, totalsOf, tryOn } from '../support/browser.ts'
import {
  DELAYED,
  finished,
  failJobQueues,
  IMAGES,
  operator,
  readJob,
  submit,
} from '../support/world.ts'
import { loadCompositor } from '../support/compositor.ts'

await loadCompositor()

const upstream = fakeUpstream()

/** A body of 300 MB without a Content-Length, and the number of MB that were read from it. */
function endlessForm() {
  const megabyte = new Uint8Array(1024 * 1024)
  let pulled = 0
  const body = new ReadableStream({
    type: 'bytes',
    pull(controller) {
      pulled += 1
      if (pulled > 300) controller.close()
      else controller.enqueue(megabyte.slice())
    },
  })
  return { body, pulled: () => pulled }
}

describe('pages of another organisation', () => {
  it('return 404', async () => {
    const [mine, theirs] = [await newOwner(), await newOwner()]
    await theirs.browser.post('/console/settings/webhooks/url', {
      url: 'https://hooks.test/theirs',
    })
    upstream.on('https://hooks.test/theirs', () => new Response('thanks'))
    const { jobId } = await tryOn(theirs.browser)
    await finished(clientOf(theirs.testKey), jobId)
    const eventId = jobId.replace('job_', 'evt_')
    const keyPage = await theirs.browser.get('/console/settings/api-keys')
    const [keyId] = /key_\w{26}/.exec(keyPage.html) ?? []
    const workspacePage = await theirs.browser.get('/console/settings/workspaces')
    const [workspaceId] = /ws_\w{26}/.exec(workspacePage.html) ?? []
    expect((await theirs.browser.get(`/console/settings/webhooks/${eventId}`)).status).toBe(200)

    const { browser } = mine
    const statuses = await Promise.all([
      browser.get(`/console/jobs/${jobId}`),
      browser.get(`/console/jobs/${jobId}/live`),
      browser.post(`/console/jobs/${jobId}/cancel`),
      browser.get(`/console/settings/webhooks/${eventId}`),
      browser.post(`/console/settings/webhooks/${eventId}/resend`),
      browser.post(`/console/settings/api-keys/${keyId}/revoke`),
      browser.post(`/console/settings/workspaces/${workspaceId}/rename`, { name: 'Mine' }),
      browser.post(`/console/settings/workspaces/${workspaceId}/status`, { status: 'archived' }),
      browser.get(`/console/${theirs.organisationId}`),
      browser.get('/console/nowhere'),
    ])
    expect(statuses.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 404))
    expect((await clientOf(theirs.testKey).get('/v1/account')).status).toBe(200)
    // A cookie with its ID does not grant access.
    browser.cookies.set('try-on.organisation', theirs.organisationId)
    expect((await browser.get('/console')).html).not.toContain(theirs.organisationId)
    expect((await browser.get(`/console/jobs/${jobId}`)).status).toBe(404)
  })
})

describe('the playground', () => {
  it('submits a test job and shows its result', async () => {
    const { browser, testKey, organisationId } = await newOwner()
    const { jobId } = await tryOn(browser)
    expect(await finished(clientOf(testKey), jobId)).toMatchObject({ status: 'completed' })
    const page = await browser.get(`/console/jobs/${jobId}/live`)
    expect(page.html).toContain(`/outputs/${jobId}.png`)
    expect(page.html).not.toContain('data-live')
    expect(await totalsOf(organisationId)).toMatchObject({ balance: 100 })
  })

  it('submits one job if the same form is sent twice', async () => {
    const { browser, organisationId } = await newOwner()
    const nonce = crypto.randomUUID()
    const form = { mode: 'live', nonce, ...IMAGES, model_image_url: 'https://cdn.test/gone' }
    upstream.on('https://cdn.test/gone', () => new Response(null, { status: 404 }))
    upstream.on(IMAGES.garment_image_url, () => new Response(null, { status: 404 }))
    const sent = await Promise.all([tryOn(browser, form), tryOn(browser, form)])
    expect(new Set(sent.map(({ jobId }) => jobId)).size).toBe(1)
    await vi.waitUntil(async () => (await totalsOf(organisationId)).balance === 100)
  })

  it('processes uploaded files without fetching them over HTTP', async () => {
    const { browser, testKey } = await newOwner()
    const [person, shirt] = [await sendFile(browser, model), await sendFile(browser, garment)]
    const { jobId } = await tryOn(browser, {
      mode: 'live',
      model_image_url: '',
      garment_image_url: '',
      model_upload: person.body.url ?? '',
      garment_upload: shirt.body.url ?? '',
    })
    expect(await finished(clientOf(testKey), jobId, 1_500)).toMatchObject({ status: 'completed' })
    expect(upstream.seen()).toEqual([])
    const { html } = await browser.get(`/console/jobs/${jobId}`)
    expect(html).toContain('alt="Model image"')
  })

  it('shows errors at the fields', async () => {
    const { browser } = await newOwner()
    const { page } = await tryOn(browser, {
      model_image_url: 'http://10.0.0.1/model.jpg',
      garment_image_url: '',
    })
    expect(page.status).toBe(422)
    expect(page.html).toContain('The URL must not point to a private')
    expect(page.html).toContain('Enter a URL or choose a file.')
  })

  it('rejects a form with a file before it is parsed', async () => {
    const { browser } = await newOwner()
    const parse = vi.spyOn(Request.prototype, 'formData')
    const { page } = await tryOn(browser, { model_file: new File([model], 'model.jpg') })
    expect(page.status).toBe(413)
    expect(page.html).toContain('The form is too large.')
    expect(parse).not.toHaveBeenCalled()
  })

  it.each(['', '/playground'])(
    'stops reading a form without Content-Length at the limit, without a session: %s',
    async (page) => {
      const form = endlessForm()
      const response = await request(`/console${page}`, {
        method: 'POST',
        headers: { Origin: BASE, 'Content-Type': 'multipart/form-data; boundary=x' },
        body: form.body,
        redirect: 'manual',
      })
      expect(response.status).toBe(413)
      // The limit is 64 KiB; a few more chunks are buffered.
      expect(form.pulled()).toBeLessThan(10)
    },
  )

  it('shares the rate limit of the API', async () => {
    const { browser, testKey, organisationId } = await newOwner()
    const body = { rate_limit_per_minute: 2 }
    await operator.patch(`/operator/organisations/${organisationId}`, body)
    expect((await clientOf(testKey).get('/v1/account')).status).toBe(200)
    expect((await tryOn(browser)).jobId).not.toBe('')
    expect((await tryOn(browser)).page.html).toContain('Too many requests')
    expect((await clientOf(testKey).get('/v1/account')).status).toBe(429)
  })

  it('rejects live jobs of an organisation without credits with a message', async () => {
    const { browser, organisationId } = await newOwner()
    const organisation = env.ORGANISATION.getByName(organisationId)
    await organisation.grant({ amount: -100, reference: 'test', reason: 'Test' })
    const { page } = await tryOn(browser, { mode: 'live' })
    expect(page.status).toBe(422)
    expect(page.html).toContain('no credits left')
  })
})

describe('jobs', () => {
  it('can be cancelled while they are pending', async () => {
    failJobQueues()
    const { browser, testKey } = await newOwner()
    const { jobId } = await tryOn(browser)
    const page = await browser.post(`/console/jobs/${jobId}/cancel`)
    expect(page.html).toContain('refunded')
    expect(await readJob(clientOf(testKey), jobId)).toMatchObject({ status: 'refunded' })
    expect((await browser.post(`/console/jobs/${jobId}/cancel`)).html).toContain(
      'can no longer be cancelled',
    )
  })

  it('that failed show the reason', async () => {
    const { browser, testKey } = await newOwner()
    const { jobId } = await tryOn(browser, {
      model_image_url: 'https://test.invalid/fail/person_not_found',
    })
    await finished(clientOf(testKey), jobId)
    const { html } = await browser.get(`/console/jobs/${jobId}`)
    expect(html).toContain('No person was found')
  })

  it('are filtered by status and paginated', async () => {
    const { browser, testKey } = await newOwner()
    const client = clientOf(testKey)
    const jobs = []
    for (let count = 0; count < 26; count++) jobs.push((await submit(client)).job_id)
    await finished(client, jobs.at(-1) ?? '')
    const waiting = await submit(client, DELAYED)
    const first = await browser.get('/console/jobs?status=completed')
    expect(first.html).not.toContain(waiting.job_id)
    expect(first.html).not.toContain(jobs[0])
    const [, older = ''] = /href="([^"]*before=[^"]*)"/.exec(first.html) ?? []
    const second = await browser.get(older.replaceAll('&amp;', '&'))
    expect(second.html).toContain(jobs[0])
    expect((await browser.get('/console/jobs?status=failed')).html).toContain(
      'No matching test jobs',
    )
    expect((await browser.get('/console/jobs?status=nonsense&before=x')).status).toBe(200)
    const overview = await browser.get('/console')
    expect(overview.html).toContain('26 completed')
    expect(overview.html).toContain('100%')
  })
})

describe('guests', () => {
  it('are redirected to the sign-in page', async () => {
    for (const page of [
      '',
      '/jobs',
      '/settings/api-keys',
      '/settings/webhooks',
      '/credits',
      '/account',
    ]) {
      expect((await newBrowser().get(`/console${page}`)).path).toMatch(/^\/console\/sign-in/)
    }
  })
})
