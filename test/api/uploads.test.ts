// POST /v1/uploads, and jobs whose images are uploads.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { processJob } from '../../src/jobs/processing/process.ts'
import { MAX_IMAGE_BYTES } from '../../src/domain/limits.ts'
import { compositor } from '../../src/engines/compositor.ts'
import { dailyBytes } from '../../src/credits/storage-allowance.ts'
import { BASE, clientOf, errorOf } from '../support/client.ts'
import { fakePictures, MODEL, PICTURES } from '../support/live-job.ts'
import { jpeg, png } from '../support/picture.ts'
import {
  count,
  DAY_MS,
  endedJob,
  fakeClock,
  HOUR_MS,
  objects,
  pass,
  retain,
} from '../support/retention.ts'
import { postUpload, upload } from '../support/upload.ts'
import { newOrganisation, operator, readJob, submit } from '../support/world.ts'
import sample from '../../samples/garment.png'

const upstream = fakePictures()
fakeClock()

const padded = (length: number) => {
  const bytes = new Uint8Array(length)
  bytes.set(new Uint8Array(sample)) // bytes after the end of a PNG are ignored
  return bytes
}
/** A body without Content-Length. */
const chunked = (bytes: Uint8Array) =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
/** A scenario of test mode that refuses the submission. */
const REFUSED = 'https://test.invalid/refuse/internal_error'
/** The R2 keys of an organisation's uploads. */
const uploadsOf = async (orgId: string) =>
  (await objects('uploads/')).filter((key) => key.includes(orgId))

describe('POST /v1/uploads', () => {
  it.each([
    ['PNG', png(), 'png', 'image/png'],
    ['JPEG', jpeg(), 'jpg', 'image/jpeg'],
  ])('stores a %s under a signed URL that is valid for a day', async (_, bytes, end, type) => {
    const { keys, orgId } = await newOrganisation()
    const before = Date.now()
    const response = await postUpload(keys.live, bytes, { 'Content-Type': 'text/plain' })
    expect(response.status).toBe(201)
    expect(response.headers.get('RateLimit')).toContain('"default";r=')
    const body = await response.json<{ url: string; expires_at: string }>()
    expect(Object.keys(body)).toEqual(['url', 'expires_at'])
    expect(body.url).toMatch(
      new RegExp(`^${BASE}/uploads/upl_\\w{26}/${orgId}\\.${end}\\?expires=`),
    )
    const seconds = Math.floor(before / 1_000) + 24 * 60 * 60
    expect(body.expires_at).toBe(new Date(seconds * 1_000).toISOString())

    const { pathname, search } = new URL(body.url)
    const picture = await clientOf('none').get(pathname + search)
    expect([picture.status, picture.headers.get('Content-Type')]).toEqual([200, type])
    expect(new Uint8Array(await picture.arrayBuffer())).toEqual(bytes)
  })

  it('returns errors for its URL once it is changed or expired', async () => {
    const { keys } = await newOrganisation()
    const { pathname, search } = new URL(await upload(keys.live))
    const messageOf = async (path: string) => {
      const response = await clientOf('none').get(path)
      expect(response.status).toBe(403)
      return (await errorOf(response)).message
    }
    expect(await messageOf(`${pathname}${search}x`)).toContain(
      'Use the URL of the upload unchanged',
    )
    pass(DAY_MS + 1_000)
    expect(await messageOf(pathname + search)).toContain('Upload the image again')
  })

  it('accepts test keys, and any Content-Type or none', async () => {
    const { keys } = await newOrganisation()
    for (const type of ['application/json', 'multipart/form-data; boundary=x', 'image/webp']) {
      expect((await postUpload(keys.test, png(), { 'Content-Type': type })).status).toBe(201)
    }
  })

  it('accepts exactly 10 MB', async () => {
    const { keys } = await newOrganisation()
    expect((await postUpload(keys.test, padded(MAX_IMAGE_BYTES))).status).toBe(201)
    expect((await postUpload(keys.test, chunked(padded(MAX_IMAGE_BYTES)))).status).toBe(201)
  })

  it('returns 413 for a larger body, with or without Content-Length, and stores nothing', async () => {
    const { keys, orgId } = await newOrganisation()
    const bytes = padded(MAX_IMAGE_BYTES + 1)
    for (const body of [bytes, chunked(bytes)]) {
      const response = await postUpload(keys.test, body)
      expect(response.status).toBe(413)
      expect(await errorOf(response)).toEqual({
        code: 'payload_too_large',
        message:
          'The image is too large. The limit is 10,485,760 bytes (10 MB). Send a smaller file.',
      })
    }
    expect(await uploadsOf(orgId)).toEqual([])
  })

  it.each<[string, BodyInit | undefined, RegExp]>([
    ['an empty body', new Uint8Array(), /^The body is empty\. Send the image file as the body\.$/],
    ['no body', undefined, /^The body is empty/],
    ['text', 'hello', /^The body must be a JPEG, PNG or WebP file\. Convert other formats\./],
    ['JSON', '{"image": "aGVsbG8="}', /Send the file itself, not a form or JSON\.$/],
    ['a form', new FormData(), /Send the file itself, not a form or JSON\.$/],
    ['a GIF', 'GIF89a\u0001\u0000\u0001\u0000', /^The body must be a JPEG, PNG or WebP file/],
    ['a truncated PNG', png().slice(0, 20), /^The image is damaged and cannot be read: the PNG/],
    ['a PNG without area', png(0, 0), /: the PNG has no area\. Export it again and upload/],
  ])('returns 422 for %s, and stores nothing', async (_, body, message) => {
    const { keys, orgId } = await newOrganisation()
    const response = await (body === undefined
      ? clientOf(keys.test).post('/v1/uploads')
      : postUpload(keys.test, body))
    expect(response.status).toBe(422)
    expect(await errorOf(response)).toEqual({
      code: 'validation_error',
      message: expect.stringMatching(message),
    })
    expect(await uploadsOf(orgId)).toEqual([])
  })

  it('checks the key, the suspension and the rate limit before it reads the body', async () => {
    let pulled = 0
    const endless = () =>
      new ReadableStream({
        pull(controller) {
          pulled++
          controller.enqueue(new Uint8Array(1024 * 1024))
        },
      })
    const suspended = await newOrganisation()
    await operator.patch(`/operator/organisations/${suspended.orgId}`, { status: 'suspended' })
    const limited = await newOrganisation({ rate_limit_per_minute: 1 })
    await limited.test.get('/v1/account')
    for (const [key, status, code] of [
      ['nonsense', 401, 'invalid_api_key'],
      [suspended.keys.live, 403, 'account_suspended'],
      [limited.keys.live, 429, 'rate_limit_exceeded'],
    ] as const) {
      const response = await postUpload(key, endless())
      expect([response.status, (await errorOf(response)).code]).toEqual([status, code])
      if (status === 429) expect(response.headers.get('Retry-After')).toBe('60')
    }
    expect(pulled).toBeLessThan(10)
  })

  it('counts against the rate limit, also when the file is rejected', async () => {
    const { keys } = await newOrganisation({ rate_limit_per_minute: 2 })
    expect((await postUpload(keys.test)).headers.get('RateLimit')).toBe('"default";r=1;t=0')
    expect((await postUpload(keys.test, 'text')).status).toBe(422)
    expect((await postUpload(keys.test)).status).toBe(429)
  })

  it('returns 429 until midnight UTC when the daily allowance is used up', async () => {
    const { keys, test } = await newOrganisation({ rate_limit_per_minute: 1 })
    const file = padded(MAX_IMAGE_BYTES)
    const perDay = Math.floor(dailyBytes('uploads-taken', 1) / MAX_IMAGE_BYTES)
    pass(DAY_MS - (Date.now() % DAY_MS))
    for (let n = 0; n < perDay; n++) {
      expect((await postUpload(keys.test, file)).status).toBe(201)
      pass(60_000)
    }
    const response = await postUpload(keys.test, file)
    expect(response.status).toBe(429)
    expect(await errorOf(response)).toEqual({
      code: 'rate_limit_exceeded',
      message: expect.stringContaining(
        'The daily upload allowance of 100 MB for images is used up',
      ),
    })
    const seconds = Number(response.headers.get('Retry-After'))
    expect(seconds).toBe(Math.ceil((DAY_MS - (Date.now() % DAY_MS)) / 1_000))
    pass(60_000)
    // A body of unknown length counts as one of the maximum length.
    expect((await postUpload(keys.test, chunked(png()))).status).toBe(429)
    pass(60_000)
    expect((await postUpload(keys.test)).status).toBe(201)
    pass(60_000)
    expect((await test.post('/v1/tryon', PICTURES)).status).toBe(202)
    pass(seconds * 1_000)
    expect((await postUpload(keys.test, file)).status).toBe(201)
  })
})

describe('a job with an upload', () => {
  it('reads it from R2 in live mode', async () => {
    const shop = await newOrganisation()
    const jobId = await endedJob(shop, 'live', {
      model_image_url: await upload(shop.keys.live),
      garment_image_url: await upload(shop.keys.test, jpeg()),
    })
    expect(await readJob(shop.live, jobId)).toMatchObject({ status: 'completed' })
    expect(upstream.seen()).toEqual([])
    expect(compositor.start).toHaveBeenCalledWith(
      expect.objectContaining({
        model: expect.objectContaining({ bytes: png(), format: 'png' }),
        garment: expect.objectContaining({ bytes: jpeg(), format: 'jpeg' }),
      }),
    )
  })

  it('completes in test mode', async () => {
    const shop = await newOrganisation()
    const jobId = await endedJob(shop, 'test', { model_image_url: await upload(shop.keys.test) })
    expect(await readJob(shop.test, jobId)).toMatchObject({ status: 'completed' })
  })

  it('reads it in an attempt after the URL has expired', async () => {
    const shop = await newOrganisation()
    const url = await upload(shop.keys.live)
    pass(DAY_MS - 1_000)
    const { job_id: jobId } = await submit(shop.live, { ...PICTURES, model_image_url: url })
    pass(30 * 60_000)
    await retain()
    await processJob({ env, jobId, mode: 'live' })
    expect(await readJob(shop.live, jobId)).toMatchObject({ status: 'completed' })
  })

  it.each(['test', 'live'] as const)(
    'is rejected with 422 in %s mode when the URL is of another organisation, changed or expired',
    async (mode) => {
      const [shop, other] = [await newOrganisation(), await newOrganisation()]
      const url = await upload(shop.keys[mode])
      const read = vi.spyOn(env.IMAGES, 'get')
      const reject = async (client: typeof shop.test, model_image_url: string) => {
        const response = await client.post('/v1/tryon', { ...PICTURES, model_image_url })
        expect(response.status).toBe(422)
        return (await errorOf(response)).message
      }
      expect(await reject(other[mode], url)).toBe(
        'model_image_url is an upload of another organisation: upload the image with an API key of this organisation.',
      )
      const changed =
        'model_image_url is not a valid link to an upload: use the url of the response to POST /v1/uploads unchanged.'
      for (const forged of [
        url.replace(shop.orgId, other.orgId),
        `${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}`,
        url.replace('.png', '.jpg'),
        url.replace(/expires=\d/, 'expires=9'),
        url.replace(/\?.*/, ''),
        `${BASE}/uploads/`,
        url.replace('/uploads/', '/uploads/../outputs/'),
      ]) {
        const message = await reject(other[mode], forged)
        expect([changed, 'model_image_url must not point to this service itself.']).toContain(
          message,
        )
      }
      pass(DAY_MS)
      expect(
        (await shop[mode].post('/v1/tryon', { ...PICTURES, model_image_url: url })).status,
      ).toBe(202)
      pass(1_000)
      expect(await reject(shop[mode], url)).toBe(
        'model_image_url has expired: upload the image again with POST /v1/uploads.',
      )
      expect(read).not.toHaveBeenCalled()
    },
  )

  it.each(['test', 'live'] as const)(
    'is replayed in %s mode after the URL has expired',
    async (mode) => {
      const { [mode]: client, keys } = await newOrganisation()
      const body = { ...PICTURES, model_image_url: await upload(keys[mode]) }
      const send = (key: string, fields: object = {}) =>
        client.post('/v1/tryon', { ...body, ...fields }, { 'Idempotency-Key': key })
      pass(DAY_MS - 1_000)
      const first = await send('order-1')
      pass(60_000)
      const second = await send('order-1')
      expect(second.status).toBe(202)
      expect(second.headers.get('Idempotent-Replayed')).toBe('true')
      expect(await second.json()).toEqual(await first.json())
      for (const rejected of [
        await send('order-2'),
        await send('order-1', { webhook_url: 'https://hooks.test/' }),
        ...(mode === 'test' ? [await send('order-1', { garment_image_url: REFUSED })] : []),
      ]) {
        expect([rejected.status, await errorOf(rejected)]).toEqual([
          422,
          {
            code: 'validation_error',
            message: 'model_image_url has expired: upload the image again with POST /v1/uploads.',
          },
        ])
        expect(rejected.headers.get('RateLimit')).toContain('"default";r=')
      }
    },
  )

  it('is rejected with the problems of both images', async () => {
    const [shop, other] = [await newOrganisation(), await newOrganisation()]
    const url = await upload(other.keys.live)
    const body = { model_image_url: url, garment_image_url: `${url}x` }
    const response = await shop.live.post('/v1/tryon', body)
    expect((await errorOf(response)).message).toMatch(
      /^model_image_url is an upload of .*; garment_image_url is not a valid link/,
    )
  })

  it('returns 401 before it reports an upload of another organisation', async () => {
    const shop = await newOrganisation()
    const url = await upload(shop.keys.live)
    const response = await clientOf('nonsense').post('/v1/tryon', {
      ...PICTURES,
      model_image_url: url,
    })
    expect(response.status).toBe(401)
  })

  it('fails when the upload has been deleted', async () => {
    const shop = await newOrganisation()
    const url = await upload(shop.keys.live)
    const body = { model_image_url: MODEL, garment_image_url: url }
    await endedJob(shop, 'live', body).then((id) => shop.live.delete(`/v1/jobs/${id}/output`))
    expect(await uploadsOf(shop.orgId)).toEqual([])
    const jobId = await endedJob(shop, 'live', body)
    expect(await readJob(shop.live, jobId)).toMatchObject({
      status: 'failed',
      error_code: 'garment_image_unreachable',
    })
  })
})

describe('the deletion of uploads', () => {
  it('happens an hour after their URLs have expired', async () => {
    const shop = await newOrganisation()
    await upload(shop.keys.live)
    pass(DAY_MS + HOUR_MS - 1_000)
    await retain()
    expect(await uploadsOf(shop.orgId)).toHaveLength(1)
    pass(2_000)
    await retain()
    expect(await uploadsOf(shop.orgId)).toEqual([])
  })

  it('happens in the grace period of an organisation, which accepts no further ones', async () => {
    const shop = await newOrganisation()
    await upload(shop.keys.live)
    await env.DB.prepare('UPDATE organisations SET delete_after = ? WHERE id = ?')
      .bind(Date.now() + 7 * DAY_MS, shop.orgId)
      .run()
    await env.ORGANISATION.getByName(shop.orgId).refresh()
    expect((await postUpload(shop.keys.live)).status).toBe(403)
    pass(2 * DAY_MS)
    await retain()
    expect(await uploadsOf(shop.orgId)).toEqual([])
  })
})

describe('the URL of an upload', () => {
  it('is neither in the log nor in the audit log', async () => {
    const lines: string[] = []
    for (const level of ['log', 'warn', 'error'] as const) {
      vi.spyOn(console, level).mockImplementation((line: unknown) => void lines.push(String(line)))
    }
    const shop = await newOrganisation()
    const url = await upload(shop.keys.live)
    vi.mocked(compositor.start).mockRejectedValueOnce(new Error(`cannot read ${url}`))
    const jobId = await endedJob(shop, 'live', { model_image_url: url })
    await shop.live.delete(`/v1/jobs/${jobId}/output`)
    const signature = new URL(url).searchParams.get('signature')!
    expect(lines.join('\n')).toContain(jobId)
    expect(lines.join('\n')).not.toContain(signature)
    const condition = "organisation_id = ? AND coalesce(details, '') || target LIKE ?"
    expect(await count('audit_log', condition, shop.orgId, '%signature%')).toBe(0)
  })
})
