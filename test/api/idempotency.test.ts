// The Idempotency-Key of POST /v1/tryon.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { errorOf } from '../support/client.ts'
import { IMAGES, ledgerOf, newOrganisation, operator } from '../support/world.ts'

describe('Idempotency-Key', () => {
  const key = (value: string) => ({ 'Idempotency-Key': value })

  it('returns the same response again and charges once', async () => {
    vi.spyOn(env.JOBS, 'send').mockRejectedValue(new Error('the queue is unavailable'))
    const shop = await newOrganisation({ credits: 1 })
    const first = await shop.live.post('/v1/tryon', IMAGES, key('order-7'))
    expect(first.headers.get('Idempotent-Replayed')).toBeNull()
    // Different bytes with the same meaning.
    const reordered = JSON.stringify({ other: 1, ...IMAGES }, null, 2)
    const second = await shop.live.post('/v1/tryon', reordered, key('order-7'))
    expect(second.status).toBe(202)
    expect(second.headers.get('Idempotent-Replayed')).toBe('true')
    expect(await second.json()).toEqual(await first.json())
    expect(await ledgerOf(shop)).toMatchObject({ balance: 0, reserved: 1 })
  })

  it('creates one job for simultaneous requests', async () => {
    const shop = await newOrganisation()
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => shop.live.post('/v1/tryon', IMAGES, key('race'))),
    )
    const ids = await Promise.all(
      responses.map(async (a) => (await a.json<{ job_id: string }>()).job_id),
    )
    expect(new Set(ids).size).toBe(1)
    const list = await (await shop.live.get('/v1/jobs')).json<{ jobs: unknown[] }>()
    expect(list.jobs).toHaveLength(1)
  })

  it('rejects a different body', async () => {
    const shop = await newOrganisation()
    await shop.test.post('/v1/tryon', IMAGES, key('k'))
    const other = { ...IMAGES, webhook_url: 'https://hooks.test/' }
    const response = await shop.test.post('/v1/tryon', other, key('k'))
    expect(response.status).toBe(422)
    expect((await errorOf(response)).code).toBe('idempotency_key_reused')
  })

  it('is scoped to a mode and an organisation', async () => {
    const [a, b] = [await newOrganisation(), await newOrganisation()]
    const responses = await Promise.all(
      [a.test, a.live, b.test].map((client) => client.post('/v1/tryon', IMAGES, key('same'))),
    )
    for (const response of responses) expect(response.headers.get('Idempotent-Replayed')).toBeNull()
  })

  it('stores accepted submissions only', async () => {
    const shop = await newOrganisation({ credits: 0 })
    expect((await shop.live.post('/v1/tryon', IMAGES, key('later'))).status).toBe(402)
    await operator.post(`/operator/organisations/${shop.orgId}/credits`, {
      amount: 1,
      reason: 'Top-up',
      reference: 'invoice 2',
    })
    const response = await shop.live.post('/v1/tryon', IMAGES, key('later'))
    expect(response.status).toBe(202)
    expect(response.headers.get('Idempotent-Replayed')).toBeNull()
  })

  it('expires after 24 hours', async () => {
    const shop = await newOrganisation()
    const first = await shop.test.post('/v1/tryon', IMAGES, key('old'))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 24 * 3_600_000 + 1_000 })
    const second = await shop.test.post('/v1/tryon', IMAGES, key('old'))
    vi.useRealTimers()
    expect(second.headers.get('Idempotent-Replayed')).toBeNull()
    const ids = [await first.json<{ job_id: string }>(), await second.json<{ job_id: string }>()]
    expect(ids[0]!.job_id).not.toBe(ids[1]!.job_id)
  })

  it.each(['', 'two words', 'x'.repeat(256), 'ünïcode'])(
    'rejects values that are not visible ASCII: %j',
    async (value) => {
      const shop = await newOrganisation()
      const encoded = unescape(encodeURIComponent(value)) // a header carries bytes
      const response = await shop.test.post('/v1/tryon', IMAGES, key(encoded))
      expect(response.status).toBe(422)
      expect((await errorOf(response)).message).toMatch(/^Idempotency-Key must/)
    },
  )

  it('accepts 255 characters', async () => {
    const shop = await newOrganisation()
    expect((await shop.test.post('/v1/tryon', IMAGES, key('~'.repeat(255)))).status).toBe(202)
  })
})
