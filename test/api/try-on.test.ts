// POST /v1/tryon, grouped by response status.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { organisationStub } from '../../src/credits/organisation-stub.ts'
import { BASE, errorOf, request } from '../support/client.ts'
import {
  finished,
  failJobQueues,
  IMAGES,
  ledgerOf,
  newOrganisation,
  operator,
  readJob,
  submit,
  type TestOrganisation,
} from '../support/world.ts'
import { spyPrepare } from '../support/jobs-database.ts'

describe('202', () => {
  it('accepts a job into the first active workspace and reserves one credit', async () => {
    failJobQueues()
    const shop = await newOrganisation({ credits: 3 })
    const response = await shop.live.post('/v1/tryon', IMAGES)
    expect(response.status).toBe(202)
    const { job_id } = await response.json<{ job_id: string }>()
    expect(await readJob(shop.live, job_id)).toEqual({
      job_id,
      status: 'pending',
      workspace_id: shop.workspaceId,
      mode: 'live',
      output_url: null,
      credits_consumed: null,
      error_code: null,
      webhook_url: null,
      webhook_status: null,
      created_at: expect.stringMatching(/Z$/),
      completed_at: null,
      duration_ms: null,
    })
    expect(await ledgerOf(shop)).toEqual({ granted: 3, balance: 2, reserved: 1, consumed: 0 })
  })

  it('uses the workspace of the request', async () => {
    const shop = await newOrganisation()
    const created = await operator.post(`/operator/organisations/${shop.orgId}/workspaces`, {
      name: 'Second',
    })
    const { id } = await created.json<{ id: string }>()
    const { job_id } = await submit(shop.test, { workspace_id: id })
    expect((await readJob(shop.test, job_id))['workspace_id']).toBe(id)
  })

  it('prefers the webhook URL of the job to that of the organisation', async () => {
    failJobQueues()
    const shop = await newOrganisation({ default_webhook_url: 'https://hooks.test/default' })
    const own = await submit(shop.test, { webhook_url: 'https://hooks.test/own' })
    expect(await readJob(shop.test, own.job_id)).toMatchObject({
      webhook_url: 'https://hooks.test/own',
      webhook_status: 'pending',
    })
    const other = await submit(shop.test)
    expect((await readJob(shop.test, other.job_id))['webhook_url']).toBe(
      'https://hooks.test/default',
    )
  })

  it('names unknown fields in Ignored-Fields', async () => {
    const shop = await newOrganisation()
    const ignored = async (body: object) => {
      const response = await shop.test.post('/v1/tryon', { ...IMAGES, ...body })
      expect(response.status).toBe(202)
      return response.headers.get('Ignored-Fields')
    }
    expect(await ignored({ workspace_id: shop.workspaceId })).toBeNull()
    expect(await ignored({ webook_url: 'https://hooks.test/secret', category: 'tops' })).toBe(
      'webook_url, category',
    )
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`field_${n}`, n]))
    expect((await ignored(many))?.split(', ')).toHaveLength(10)
    const odd = { 'new\r\nline': 1, 'a,b': 1, größe: 1, '': 1, ['x'.repeat(65)]: 1 }
    expect(await ignored(odd)).toBeNull()
    expect(await ignored({ ...odd, ['x'.repeat(64)]: 1 })).toBe('x'.repeat(64))
  })

  it('ignores unknown fields', async () => {
    const shop = await newOrganisation()
    await submit(shop.test, { colour: 'blue', __proto__: { a: 1 } })
  })

  it('accepts test jobs without credits and does not charge them', async () => {
    const shop = await newOrganisation({ credits: 0 })
    const { job_id } = await submit(shop.test)
    expect(await finished(shop.test, job_id)).toMatchObject({
      status: 'completed',
      credits_consumed: 0,
    })
    expect(await ledgerOf(shop)).toEqual({ granted: 0, balance: 0, reserved: 0, consumed: 0 })
  })
})

describe('200', () => {
  it('returns the whole job when it ends within the preferred wait', async () => {
    const shop = await newOrganisation()
    const response = await shop.test.post('/v1/tryon', IMAGES, { Prefer: 'respond-async, wait=10' })
    expect(response.status).toBe(200)
    expect(response.headers.get('Preference-Applied')).toBe('wait=10')
    expect(await response.json()).toMatchObject({ status: 'completed', credits_consumed: 0 })
  })

  it('returns 202 when the wait was too short', async () => {
    const shop = await newOrganisation()
    const slow = { model_image_url: 'https://test.invalid/delay/30' }
    const response = await shop.test.post('/v1/tryon', { ...IMAGES, ...slow }, { Prefer: 'wait=1' })
    expect(response.status).toBe(202)
    expect(await response.json()).toMatchObject({ status: 'pending' })
  })
})

describe('402', () => {
  it('rejects live jobs on a balance of 0, and accepts them after a top-up', async () => {
    failJobQueues()
    const shop = await newOrganisation({ credits: 1 })
    const responses = await Promise.all([1, 2, 3, 4].map(() => shop.live.post('/v1/tryon', IMAGES)))
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      202, 402, 402, 402,
    ])
    const rejected = responses.find(({ status }) => status === 402)
    expect(await errorOf(rejected!)).toEqual({
      code: 'insufficient_credits',
      message: `There are no credits left. Buy credits at ${BASE}/console/billing and submit the job again.`,
    })
    await operator.post(`/operator/organisations/${shop.orgId}/credits`, {
      amount: 1,
      reason: 'Top-up',
      reference: 'invoice 1',
    })
    await submit(shop.live)
    expect(await ledgerOf(shop)).toEqual({ granted: 2, balance: 0, reserved: 2, consumed: 0 })
  })

  it('rejects live jobs on a negative balance, and accepts test jobs', async () => {
    failJobQueues()
    const shop = await newOrganisation({ credits: 1 })
    const account = organisationStub(env, shop.orgId)
    await account.grant({ amount: 5, reference: 'pay_1', reason: 'Credits bought' })
    for (let job = 0; job < 3; job++) await submit(shop.live)
    await account.reverse({ reference: 'pay_1', credits: 5, reason: 'Payment refunded' })
    expect(await ledgerOf(shop)).toMatchObject({ granted: 1, balance: -2 })
    const rejected = await shop.live.post('/v1/tryon', IMAGES)
    expect(rejected.status).toBe(402)
    expect((await errorOf(rejected)).message).toContain('There are no credits left.')
    await submit(shop.test)
  })
})

describe('404 workspace_not_found', () => {
  it.each(['no-such', 'ws_\u0000', 'ws_ünïcode'])('is returned for %j', async (workspace_id) => {
    const shop = await newOrganisation()
    const response = await shop.test.post('/v1/tryon', { ...IMAGES, workspace_id })
    expect(response.status).toBe(404)
    expect((await errorOf(response)).code).toBe('workspace_not_found')
  })

  it('is returned for a workspace of another organisation and for an archived one', async () => {
    const [shop, other] = [await newOrganisation(), await newOrganisation()]
    const foreign = await shop.test.post('/v1/tryon', {
      ...IMAGES,
      workspace_id: other.workspaceId,
    })
    expect(foreign.status).toBe(404)
    const path = `/operator/organisations/${shop.orgId}/workspaces/${shop.workspaceId}`
    await operator.patch(path, { status: 'archived' })
    const archived = await shop.test.post('/v1/tryon', {
      ...IMAGES,
      workspace_id: shop.workspaceId,
    })
    expect(archived.status).toBe(404)
    expect((await shop.test.post('/v1/tryon', IMAGES)).status).toBe(404)
    await operator.patch(path, { status: 'active' })
    expect((await shop.test.post('/v1/tryon', IMAGES)).status).toBe(202)
  })
})

const long = (length: number) => `https://shop.test/${'x'.repeat(length - 18)}`

describe('422 validation_error', () => {
  it.each<[string, unknown]>([
    ['model_image_url', undefined],
    ['model_image_url', null],
    ['model_image_url', 7],
    ['model_image_url', ['https://shop.test/a.png']],
    ['model_image_url', ''],
    ['garment_image_url', 'shop.test/a.png'],
    ['garment_image_url', '//shop.test/a.png'],
    ['garment_image_url', 'https:/shop.test/a.png'],
    ['garment_image_url', 'ftp://shop.test/a.png'],
    ['garment_image_url', 'data:image/png;base64,AAAA'],
    ['garment_image_url', 'javascript:alert(1)'],
    ['garment_image_url', 'https://user:password@shop.test/a.png'],
    ['garment_image_url', 'https://localhost/a.png'],
    ['garment_image_url', 'https://shop.test/a.gif'],
    ['garment_image_url', 'https://shop.test/a.SVG?x=.png'],
    ['garment_image_url', 'https://shop.test/a%2Egif'],
    ['garment_image_url', 'https://shop.test/a\u0000.png'],
    ['garment_image_url', 'https://shop.test/a\r\nX: y'],
    ['garment_image_url', ' https://shop.test/a.png'],
    ['garment_image_url', long(2_049)],
    ['garment_image_url', 'https://test.invalid/fail/nonsense'],
    ['garment_image_url', 'https://test.invalid../fail/nonsense'],
    ['garment_image_url', 'https://test.invalid/delay/61'],
    ['garment_image_url', 'https://test.invalid/delay/-1'],
    ['webhook_url', 'nonsense'],
    ['webhook_url', null],
    ['webhook_url', 'http://169.254.169.254/latest'],
    ['workspace_id', 5],
    ['workspace_id', ''],
    ['workspace_id', 'w'.repeat(256)],
  ])('names %s when it is %j', async (field, value) => {
    const shop = await newOrganisation()
    const response = await shop.test.post('/v1/tryon', { ...IMAGES, [field]: value })
    expect(response.status).toBe(422)
    const { code, message } = await errorOf(response)
    expect(code).toBe('validation_error')
    expect(message).toMatch(new RegExp(`^${field} (must|is required)`))
  })

  it('names all invalid fields in one response', async () => {
    const shop = await newOrganisation()
    const response = await shop.test.post('/v1/tryon', {})
    const { message } = await errorOf(response)
    expect(message).toContain('model_image_url is required')
    expect(message).toContain('garment_image_url is required')
  })

  it.each<[string, BodyInit]>([
    ['nothing', ''],
    ['half an object', '{"model_image_url":'],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
    ['a list', '[]'],
    ['a number', '1'],
    ['null', 'null'],
    ['deep nesting', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
  ])('rejects %s as the body', async (_, body) => {
    const shop = await newOrganisation()
    const headers = { Authorization: `Bearer ${shop.keys.test}` }
    const response = await request('/v1/tryon', { method: 'POST', headers, body })
    expect(response.status).toBe(422)
    expect((await errorOf(response)).code).toBe('validation_error')
  })

  it('rejects test.invalid in live mode', async () => {
    const shop = await newOrganisation()
    for (const host of ['test.invalid', 'TEST.invalid:8443', 'test.invalid.']) {
      const scenario = { ...IMAGES, model_image_url: `https://${host}/delay/1` }
      const response = await shop.live.post('/v1/tryon', scenario)
      expect(response.status, host).toBe(422)
      expect((await errorOf(response)).message).toContain('test mode')
    }
  })

  it('accepts other valid URLs', async () => {
    const shop = await newOrganisation()
    for (const url of [
      'http://shop.test/a.JPEG',
      'https://shop.test:8443/a.webp?size=big#top',
      'https://bücher.example/bild.png',
      'https://shop.test/日本語.jpg',
      'https://shop.test/image.php',
      'https://8.8.8.8/a',
      long(2_048),
    ]) {
      await submit(shop.test, { model_image_url: url, webhook_url: url })
    }
  })
})

describe('413', () => {
  it('rejects a body over 64 KiB, and accepts one of exactly 64 KiB', async () => {
    const shop = await newOrganisation()
    const padded = (length: number) => {
      const body = JSON.stringify({ ...IMAGES, padding: '' })
      return body.replace('"padding":""', `"padding":"${'x'.repeat(length - body.length)}"`)
    }
    expect((await shop.test.post('/v1/tryon', padded(65_536))).status).toBe(202)
    const response = await shop.test.post('/v1/tryon', padded(65_537))
    expect(response.status).toBe(413)
    expect((await errorOf(response)).code).toBe('payload_too_large')
  })
})

describe('500 internal_error', () => {
  async function submitWithoutD1(shop: TestOrganisation, headers = {}) {
    await shop.live.get('/v1/account')
    spyPrepare(() => {
      throw new Error('D1 is unavailable')
    })
    const failed = await shop.live.post('/v1/tryon', IMAGES, headers)
    vi.restoreAllMocks()
    return failed
  }

  it('returns the credit when the job cannot be stored', async () => {
    const shop = await newOrganisation({ credits: 1 })
    const failed = await submitWithoutD1(shop)
    expect(failed.status).toBe(500)
    expect(await errorOf(failed)).toEqual({
      code: 'internal_error',
      message: expect.stringContaining('X-Request-Id'),
    })
    expect(await ledgerOf(shop)).toMatchObject({ balance: 1, reserved: 0 })
  })

  it('stores the job with the same reservation when the Idempotency-Key is sent again', async () => {
    const shop = await newOrganisation({ credits: 1 })
    const key = { 'Idempotency-Key': 'once' }
    expect((await submitWithoutD1(shop, key)).status).toBe(500)
    expect(await ledgerOf(shop)).toMatchObject({ balance: 0, reserved: 1 })
    // Otherwise, the job may have failed already.
    failJobQueues()
    expect((await shop.live.post('/v1/tryon', IMAGES, key)).status).toBe(202)
    expect(await ledgerOf(shop)).toMatchObject({ balance: 0, reserved: 1 })
  })

  it('is not returned when only the response to the insert was lost', async () => {
    const shop = await newOrganisation()
    await shop.live.get('/v1/account')
    let lost = 0
    spyPrepare((prepare, sql) => {
      const statement = prepare(sql)
      if (!sql.startsWith('insert into "jobs"') || lost > 0) return statement
      const bind = statement.bind.bind(statement)
      vi.spyOn(statement, 'bind').mockImplementation((...values) => {
        const bound = bind(...values)
        const run = bound.run.bind(bound)
        vi.spyOn(bound, 'run').mockImplementation(async () => {
          lost++
          await run()
          throw new Error('Network connection lost')
        })
        return bound
      })
      return statement
    })
    const response = await shop.test.post('/v1/tryon', IMAGES)
    expect(lost).toBe(1)
    expect(response.status).toBe(202)
    const { job_id } = await response.json<{ job_id: string }>()
    expect((await readJob(shop.test, job_id)).job_id).toBe(job_id)
  })
})
