import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import garment from '../../samples/garment.png'
import model from '../../samples/model.jpg'
import { BASE, clientOf, request } from '../support/client.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { newFounder, newVisitor, totalsOf, tryOn } from '../support/visitor.ts'
import { DELAYED, finished, freeze, IMAGES, operator, readJob, submit } from '../support/world.ts'

const upstream = fakeUpstream()

const file = (bytes: ArrayBuffer | string, type: string) => new File([bytes], 'picture', { type })

/** A body of 300 MB without a length, and how many MB of it were asked for. */
function endlessUpload() {
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

describe('another organisation’s pages', () => {
  it('are not there', async () => {
    const [mine, theirs] = [await newFounder(), await newFounder()]
    await theirs.visitor.post('/console/settings/webhooks/url', {
      url: 'https://hooks.test/theirs',
    })
    upstream.on('https://hooks.test/theirs', () => new Response('thanks'))
    const { jobId } = await tryOn(theirs.visitor)
    await finished(clientOf(theirs.testKey), jobId)
    const eventId = jobId.replace('job_', 'evt_')
    const keyPage = await theirs.visitor.get('/console/settings/api-keys')
    const [keyId] = /key_\w{26}/.exec(keyPage.html) ?? []
    const workspacePage = await theirs.visitor.get('/console/settings/workspaces')
    const [workspaceId] = /ws_\w{26}/.exec(workspacePage.html) ?? []
    expect((await theirs.visitor.get(`/console/settings/webhooks/${eventId}`)).status).toBe(200)

    const { visitor } = mine
    const statuses = await Promise.all([
      visitor.get(`/console/jobs/${jobId}`),
      visitor.get(`/console/jobs/${jobId}/live`),
      visitor.post(`/console/jobs/${jobId}/cancel`),
      visitor.get(`/console/settings/webhooks/${eventId}`),
      visitor.post(`/console/settings/webhooks/${eventId}/resend`),
      visitor.post(`/console/settings/api-keys/${keyId}/revoke`),
      visitor.post(`/console/settings/workspaces/${workspaceId}/rename`, { name: 'Mine' }),
      visitor.post(`/console/settings/workspaces/${workspaceId}/status`, { status: 'archived' }),
      visitor.post('/console/organisation', { organisation: theirs.organisationId }),
      visitor.get('/console/nowhere'),
    ])
    expect(statuses.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 404))
    expect((await clientOf(theirs.testKey).get('/v1/account')).status).toBe(200)
    // A cookie that names it does not open it either.
    visitor.cookies.set('try-on.organisation', theirs.organisationId)
    expect((await visitor.get('/console')).html).not.toContain(theirs.organisationId)
    expect((await visitor.get(`/console/jobs/${jobId}`)).status).toBe(404)
  })
})

describe('the playground', () => {
  it('submits a test job that becomes a picture', async () => {
    const { visitor, testKey, organisationId } = await newFounder()
    const { jobId } = await tryOn(visitor)
    expect(await finished(clientOf(testKey), jobId)).toMatchObject({ status: 'completed' })
    const page = await visitor.get(`/console/jobs/${jobId}/live`)
    expect(page.html).toContain(`/outputs/${jobId}.png`)
    expect(page.html).not.toContain('data-live')
    expect(await totalsOf(organisationId)).toMatchObject({ balance: 100 })
  })

  it('submits one job however often the same form is sent', async () => {
    const { visitor, organisationId } = await newFounder()
    const nonce = crypto.randomUUID()
    const form = { mode: 'live', nonce, ...IMAGES, model_image_url: 'https://cdn.test/gone' }
    upstream.on('https://cdn.test/gone', () => new Response(null, { status: 404 }))
    upstream.on(IMAGES.garment_image_url, () => new Response(null, { status: 404 }))
    const sent = await Promise.all([tryOn(visitor, form), tryOn(visitor, form)])
    expect(new Set(sent.map(({ jobId }) => jobId)).size).toBe(1)
    await vi.waitUntil(async () => (await totalsOf(organisationId)).balance === 100)
  })

  it('works on uploaded files, without fetching them from itself', async () => {
    const { visitor, testKey } = await newFounder()
    const { jobId } = await tryOn(visitor, {
      mode: 'live',
      model_image_url: '',
      garment_image_url: '',
      model_file: file(model, 'image/jpeg'),
      garment_file: file(garment, 'text/plain'),
    })
    expect(await finished(clientOf(testKey), jobId)).toMatchObject({ status: 'completed' })
    expect(upstream.seen()).toEqual([])
    const { html } = await visitor.get(`/console/jobs/${jobId}`)
    expect(html).toContain('alt="Model picture"')
  }, 20_000)

  it('says beside the field what is wrong', async () => {
    const { visitor } = await newFounder()
    const { page } = await tryOn(visitor, {
      model_image_url: 'http://10.0.0.1/model.jpg',
      garment_image_url: '',
      garment_file: file('no picture', 'image/png'),
    })
    expect(page.status).toBe(422)
    expect(page.html).toContain('The address must not point to a private')
    expect(page.html).toContain('Choose a JPEG, PNG or WebP')
  })

  it('says inside the console that a form is too large, and what to do', async () => {
    const { visitor } = await newFounder()
    const { page } = await tryOn(visitor, {
      model_file: file(new ArrayBuffer(21 * 1024 * 1024), 'image/jpeg'),
    })
    expect(page.status).toBe(413)
    expect(page.html).toContain('Choose files of at most 10 MB each')
    expect(page.html).toContain('aria-label="Console"')
  })

  it('stops reading an upload without a length at its limit', async () => {
    const { visitor } = await newFounder()
    const upload = endlessUpload()
    const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await request('/console/playground', {
      method: 'POST',
      headers: {
        Cookie: cookie,
        Origin: BASE,
        'Content-Type': 'multipart/form-data; boundary=x',
      },
      body: upload.body,
    })
    expect(answer.status).toBe(413)
    expect(await answer.text()).toContain('Choose files of at most 10 MB each')
    // The limit is 20 MB and 64 KiB; some chunks are on their way.
    expect(upload.pulled()).toBeLessThan(30)
  })

  it('does not read an upload from somebody who is not signed in', async () => {
    const upload = endlessUpload()
    const answer = await request('/console/playground', {
      method: 'POST',
      headers: { Origin: BASE, 'Content-Type': 'multipart/form-data; boundary=x' },
      body: upload.body,
      redirect: 'manual',
    })
    expect(answer.status).toBe(303)
    expect(answer.headers.get('Location')).toContain('/console/sign-in')
    expect(upload.pulled()).toBeLessThan(10)
  })

  it('is under the same rate limit as the API', async () => {
    const { visitor, testKey, organisationId } = await newFounder()
    const body = { rate_limit_per_minute: 2 }
    await operator.patch(`/operator/organisations/${organisationId}`, body)
    expect((await clientOf(testKey).get('/v1/account')).status).toBe(200)
    expect((await tryOn(visitor)).jobId).not.toBe('')
    expect((await tryOn(visitor)).page.html).toContain('Too many requests')
    expect((await clientOf(testKey).get('/v1/account')).status).toBe(429)
  })

  it('refuses live jobs of an organisation without credits, in words', async () => {
    const { visitor, organisationId } = await newFounder()
    const organisation = env.ORGANISATION.getByName(organisationId)
    await organisation.grant({ amount: -100, reference: 'test', reason: 'Emptied' })
    const { page } = await tryOn(visitor, { mode: 'live' })
    expect(page.status).toBe(422)
    expect(page.html).toContain('no credits left')
  })
})

describe('jobs', () => {
  it('are cancelled while they are pending', async () => {
    freeze()
    const { visitor, testKey } = await newFounder()
    const { jobId } = await tryOn(visitor)
    const page = await visitor.post(`/console/jobs/${jobId}/cancel`)
    expect(page.html).toContain('refunded')
    expect(await readJob(clientOf(testKey), jobId)).toMatchObject({ status: 'refunded' })
    expect((await visitor.post(`/console/jobs/${jobId}/cancel`)).html).toContain('too late')
  })

  it('that failed say why in words', async () => {
    const { visitor, testKey } = await newFounder()
    const { jobId } = await tryOn(visitor, {
      model_image_url: 'https://test.invalid/fail/person_not_found',
    })
    await finished(clientOf(testKey), jobId)
    const { html } = await visitor.get(`/console/jobs/${jobId}`)
    expect(html).toContain('No person was found')
  })

  it('are listed by status and workspace, page by page', async () => {
    const { visitor, testKey } = await newFounder()
    const client = clientOf(testKey)
    const jobs = []
    for (let count = 0; count < 21; count++) jobs.push((await submit(client)).job_id)
    await finished(client, jobs.at(-1) ?? '')
    const waiting = await submit(client, DELAYED)
    const first = await visitor.get('/console/jobs?status=completed')
    expect(first.html).not.toContain(waiting.job_id)
    expect(first.html).not.toContain(jobs[0])
    const [, older = ''] = /href="([^"]*before=[^"]*)"/.exec(first.html) ?? []
    const second = await visitor.get(older.replaceAll('&amp;', '&'))
    expect(second.html).toContain(jobs[0])
    expect((await visitor.get('/console/jobs?status=failed')).html).toContain('No such jobs')
    expect((await visitor.get('/console/jobs?status=nonsense&before=x')).status).toBe(200)
    const overview = await visitor.get('/console')
    expect(overview.html).toContain('21 completed')
    expect(overview.html).toContain('100 %')
  }, 20_000)
})

describe('guests', () => {
  it('are asked to sign in', async () => {
    for (const page of [
      '',
      '/jobs',
      '/settings/api-keys',
      '/settings/webhooks',
      '/credits',
      '/account',
    ]) {
      expect((await newVisitor().get(`/console${page}`)).path).toMatch(/^\/console\/sign-in/)
    }
  })
})
