import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'
import model from '../../samples/model.jpg'
import { SAMPLE_GARMENTS, SAMPLE_PEOPLE, SAMPLES, sampleUrl } from '../../src/domain/samples.ts'
import { newId } from '../../src/platform/ids.ts'
import { jobIdOf, newMember, newOwner, sendFile, totalsOf, tryOn } from '../support/browser.ts'
import { BASE, clientOf, request } from '../support/client.ts'
import { png } from '../support/picture.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { failJobQueues, finished, operator, readJob } from '../support/world.ts'

const upstream = fakeUpstream()
const GONE = 'https://cdn.test/gone'
beforeEach(() => void upstream.on(GONE, () => new Response(null, { status: 404 })))

const [PERSON] = SAMPLE_PEOPLE
const [GARMENT, OTHER_GARMENT] = SAMPLE_GARMENTS
const SAMPLE_IMAGES = {
  model_image_url: sampleUrl(BASE, PERSON.file),
  garment_image_url: sampleUrl(BASE, GARMENT.file),
}

/** The value of a field of the form. */
function valueOf(html: string, name: string): string {
  const [tag = ''] = new RegExp(`<input[^>]*name="${name}"[^>]*>`).exec(html) ?? []
  return (/ value="([^"]*)"/.exec(tag)?.[1] ?? '').replaceAll('&amp;', '&')
}

describe('sample pictures', () => {
  it('exist, each with a thumbnail, and are offered on the playground', async () => {
    const { browser } = await newOwner()
    const { html } = await browser.get('/console/playground')
    for (const { file } of SAMPLES) {
      expect(html).toContain(`data-sample="${sampleUrl(BASE, file)}"`)
      const picture = await env.ASSETS.fetch(sampleUrl(BASE, file))
      expect(picture.headers.get('Content-Type')).toBe('image/jpeg')
      const thumbnail = await env.ASSETS.fetch(`${BASE}/static/samples/thumbnails/${file}`)
      expect((await thumbnail.arrayBuffer()).byteLength).toBeLessThan(5_000)
    }
    expect(valueOf(html, 'model_image_url')).toBe(SAMPLE_IMAGES.model_image_url)
  })

  it('are chosen by a link without JavaScript', async () => {
    const { browser } = await newOwner()
    const { html } = await browser.get(`/console/playground?garment=${OTHER_GARMENT.file}&model=x`)
    expect(valueOf(html, 'garment_image_url')).toBe(sampleUrl(BASE, OTHER_GARMENT.file))
    expect(valueOf(html, 'model_image_url')).toBe(SAMPLE_IMAGES.model_image_url)
  })

  it('are read by live jobs without a request to the service itself', async () => {
    const { browser, testKey } = await newOwner()
    const { jobId } = await tryOn(browser, {
      ...SAMPLE_IMAGES,
      garment_image_url: GONE,
      mode: 'live',
    })
    // The error of the model picture would come first.
    expect(await finished(clientOf(testKey), jobId)).toMatchObject({
      error_code: 'garment_image_unreachable',
    })
  })

  it('make a live job with one click', async () => {
    failJobQueues()
    const { browser, testKey, organisationId } = await newOwner()
    const { path } = await browser.post('/console/playground/sample', {
      nonce: crypto.randomUUID(),
      mode: 'live',
    })
    expect(await readJob(clientOf(testKey), jobIdOf(path))).toMatchObject({ mode: 'live' })
    expect(await totalsOf(organisationId)).toMatchObject({ balance: 99, reserved: 1 })
  })

  it('are accepted by the API, other addresses of the service are not', async () => {
    const { testKey } = await newOwner()
    const client = clientOf(testKey)
    expect((await client.post('/v1/tryon', SAMPLE_IMAGES)).status).toBe(202)
    for (const path of ['/static/samples/other.jpg', '/static/model.jpg', '/console']) {
      const body = { ...SAMPLE_IMAGES, model_image_url: BASE + path }
      expect((await client.post('/v1/tryon', body)).status).toBe(422)
    }
  })
})

describe('a file that is uploaded when it is chosen', () => {
  it('becomes the picture of the job', async () => {
    const { browser, testKey } = await newOwner()
    const { status, body } = await sendFile(browser, model)
    expect(status).toBe(201)
    const { jobId } = await tryOn(browser, {
      ...SAMPLE_IMAGES,
      model_image_url: '',
      model_upload: body.url ?? '',
      model_upload_name: 'photo.jpg',
      garment_image_url: GONE,
      mode: 'live',
    })
    expect(await finished(clientOf(testKey), jobId)).toMatchObject({
      error_code: 'garment_image_unreachable',
    })
  })

  it('is rejected with a reason when it cannot be used', async () => {
    const { browser } = await newOwner()
    expect(await sendFile(browser, 'no image')).toEqual({
      status: 422,
      body: { error: 'Choose a JPEG, PNG or WebP file.' },
    })
    expect((await sendFile(browser, new Uint8Array())).body.error).toBe('The file is empty.')
    const large = await sendFile(browser, new Uint8Array(10 * 1024 * 1024 + 1))
    expect(large.status).toBe(413)
    expect(large.body.error).toContain('10 MB')
  })

  it('takes its bytes from the allowance of the organisation', async () => {
    const { browser, organisationId } = await newOwner()
    const body = { status: 'suspended' }
    await operator.patch(`/operator/organisations/${organisationId}`, body)
    expect((await sendFile(browser, model)).status).toBe(422)
  })

  it('is rejected from another origin and from members who may not submit jobs', async () => {
    const { browser, organisationId } = await newOwner()
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const { address } = await browser.get('/console/playground')
    const foreign = await request(`${address}/uploads`, {
      method: 'POST',
      headers: { Cookie: cookie, Origin: 'https://other.test' },
      body: model,
    })
    expect(foreign.status).toBe(403)
    await foreign.body?.cancel()
    const member = await newMember(organisationId)
    await env.DB.prepare('UPDATE members SET role = ? WHERE user_id = ?')
      .bind('viewer', member.userId)
      .run()
    const path = `/console/${organisationId}/playground`
    expect((await member.browser.post(`${path}/uploads`)).status).toBe(404)
    expect((await tryOn(member.browser)).page.status).toBe(404)
  })

  it('of another organisation is rejected', async () => {
    const [mine, theirs] = [await newOwner(), await newOwner()]
    const { body } = await sendFile(theirs.browser, model)
    const { page } = await tryOn(mine.browser, {
      model_image_url: '',
      model_upload: body.url ?? '',
    })
    expect(page.status).toBe(422)
    expect(page.html).toContain('is an upload of another organisation')
  })
})

describe('a rejected form', () => {
  it('keeps an upload, so that it need not be chosen again', async () => {
    const { browser, testKey } = await newOwner()
    const { body } = await sendFile(browser, model)
    const { page } = await tryOn(browser, {
      model_image_url: '',
      model_upload: body.url ?? '',
      model_upload_name: 'my <photo>.jpg',
      garment_image_url: '',
    })
    expect(page.status).toBe(422)
    expect(page.html).toContain('Enter a URL or choose a file.')
    expect(page.html).toContain('my &lt;photo&gt;.jpg')
    expect(page.html).toContain('alt="Person, chosen picture"')
    const upload = valueOf(page.html, 'model_upload')
    expect(upload).toBe(body.url)
    const { jobId } = await tryOn(browser, { model_image_url: '', model_upload: upload })
    expect((await readJob(clientOf(testKey), jobId)).job_id).toBe(jobId)
  })

  it('keeps both uploads when the job is rejected', async () => {
    const { browser, organisationId } = await newOwner()
    const organisation = env.ORGANISATION.getByName(organisationId)
    await organisation.grant({ amount: -100, reference: 'test', reason: 'Test' })
    const [person, garment] = [await sendFile(browser, model), await sendFile(browser, png())]
    const { page } = await tryOn(browser, {
      model_image_url: '',
      garment_image_url: '',
      model_upload: person.body.url ?? '',
      garment_upload: garment.body.url ?? '',
      garment_upload_name: 'shirt.jpg',
      mode: 'live',
    })
    expect(page.html).toContain('no credits left')
    expect(valueOf(page.html, 'model_upload')).toBe(person.body.url)
    expect(valueOf(page.html, 'garment_upload_name')).toBe('shirt.jpg')
  })

  it('contains no files: their field belongs to the script', async () => {
    const { browser } = await newOwner()
    const { html } = await browser.get('/console/playground')
    const [field = ''] = /<div[^>]*data-file[^>]*>/.exec(html) ?? []
    expect(field).toContain('hidden')
    expect(html).not.toMatch(/<input[^>]*type="file"[^>]*name=/)
    expect(html).not.toContain('multipart/form-data')
  })

  it('prefers a new URL to an earlier upload', async () => {
    const { browser } = await newOwner()
    const { body } = await sendFile(browser, model)
    const { page } = await tryOn(browser, {
      model_image_url: 'https://127.0.0.1/a.jpg',
      model_upload: body.url ?? '',
    })
    expect(page.html).toContain('must not point to a private')
    expect(valueOf(page.html, 'model_image_url')).toBe('https://127.0.0.1/a.jpg')
  })
})

describe('the history', () => {
  it('shows the latest jobs of this browser, and loads their pictures into the form', async () => {
    const { browser, testKey } = await newOwner()
    const first = await tryOn(browser, { model_image_url: 'https://test.invalid/delay/1' })
    const second = await tryOn(browser, SAMPLE_IMAGES)
    await finished(clientOf(testKey), second.jobId)
    const { html } = await browser.get('/console/playground')
    expect(html.indexOf(second.jobId)).toBeLessThan(html.indexOf(first.jobId))
    const loaded = await browser.get(`/console/playground?job=${first.jobId}`)
    expect(valueOf(loaded.html, 'model_image_url')).toBe('https://test.invalid/delay/1')
    expect(loaded.html).toContain(`data-live="/console/jobs/${first.jobId}/live"`)
  })

  it('contains ten jobs and no job of another organisation', async () => {
    const [mine, theirs] = [await newOwner(), await newOwner()]
    const { jobId } = await tryOn(theirs.browser)
    mine.browser.cookies.set('try-on.playground', `${jobId}.nonsense`)
    const { html } = await mine.browser.get(`/console/playground?job=${jobId}`)
    expect(html).not.toContain(jobId)
    mine.browser.cookies.set(
      'try-on.playground',
      Array.from({ length: 20 }, () => newId('job')).join('.'),
    )
    await tryOn(mine.browser)
    expect(mine.browser.cookies.get('try-on.playground')?.split('.')).toHaveLength(10)
  })

  it('has no pictures of a job whose pictures are deleted', async () => {
    const { browser, testKey } = await newOwner()
    const { jobId } = await tryOn(browser)
    await finished(clientOf(testKey), jobId)
    await browser.post(`/console/jobs/${jobId}/delete-pictures`)
    const { html } = await browser.get(`/console/playground?job=${jobId}`)
    expect(valueOf(html, 'model_image_url')).toBe('')
    expect(html).toContain('No picture chosen')
  })
})

describe('the code of the playground', () => {
  it('contains the chosen pictures and no key', async () => {
    const { browser } = await newOwner()
    const { html } = await browser.post('/console/playground/code', {
      model_image_url: 'https://shop.example/person.jpg',
      workspace: 'ws_1',
    })
    expect(html).toContain('https://shop.example/person.jpg')
    expect(html).toContain('ws_1')
    expect(html).toContain('Bearer $TRY_ON_API_KEY')
    expect(html).toContain(sampleUrl(BASE, GARMENT.file))
    const page = await browser.get('/console/playground')
    expect(page.html).toContain('process.env.TRY_ON_API_KEY')
  })
})
