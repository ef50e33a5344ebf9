// Secrets: not logged, compared in full, rotated without downtime, and protected against brute force.
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { signedUrl } from '../../src/platform/signing/signed-url.ts'
import worker from '../../src/index.ts'
import { newId } from '../../src/platform/ids.ts'
import { createKey } from '../../src/credits/api-key.ts'
import { Organisation } from '../../src/organisation-object.ts'
import { newWebhookSecret } from '../../src/webhooks/endpoints/secrets.ts'
import { BASE, codeOf, request } from '../support/client.ts'
import { FaultInjector } from '../faults/fault-injector.ts'
import { HOOK, Harness } from '../faults/harness.ts'
import { png } from '../support/picture.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { finished, newOrganisation, readJob, submit } from '../support/world.ts'
import { compositor } from '../../src/engines/compositor.ts'
import { jobsDb, spyPrepare } from '../support/jobs-database.ts'

const upstream = fakeUpstream()

describe('the log', () => {
  const lines: string[] = []
  beforeEach(() => {
    lines.length = 0
    for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const) {
      vi.spyOn(console, level).mockImplementation((...parts: unknown[]) => {
        lines.push(
          parts
            .map((part) => (part instanceof Error ? String(part.stack) : String(part)))
            .join(' '),
        )
      })
    }
  })

  it('contains no key, secret, signature or picture URL, also in errors', async () => {
    const shop = await newOrganisation({
      default_webhook_url: 'https://hooks.test/a?token=hook-token',
    })
    const starts = vi.spyOn(compositor, 'start')
    starts.mockResolvedValue({ done: true, image: { bytes: png(), format: 'png' } })
    upstream
      .on('https://cdn.test/model?token=image-token', () => new Response(png()))
      .on('https://cdn.test/garment?token=image-token', () => new Response(png()))
      .on('https://cdn.test/gone?token=image-token', () => {
        throw new TypeError('cannot connect to https://cdn.test/gone?token=image-token')
      })
      .on('https://hooks.test/a?token=hook-token', () => new Response('thanks'))
    const images = {
      model_image_url: 'https://cdn.test/model?token=image-token',
      garment_image_url: 'https://cdn.test/garment?token=image-token',
    }

    const good = await submit(shop.live, images)
    const job = await finished(shop.live, good.job_id)
    await request(String(job['output_url']).replace(BASE, ''))
    await request(`${String(job['output_url']).replace(BASE, '')}x`)
    const bad = await submit(shop.live, {
      ...images,
      model_image_url: 'https://cdn.test/gone?token=image-token',
    })
    await finished(shop.live, bad.job_id)
    await vi.waitUntil(
      async () => (await readJob(shop.live, bad.job_id))['webhook_status'] === 'delivered',
    )
    starts.mockRejectedValueOnce(new Error(`${shop.keys.live} and ${shop.webhookSecret}`))
    const flaky = await submit(shop.live, images)
    const delivered = async () =>
      (await readJob(shop.live, flaky.job_id))['webhook_status'] === 'delivered'
    await vi.waitUntil(delivered, { interval: 50 })
    // The error of an unavailable database contains the statement with its values.
    const prepare = spyPrepare(() => {
      throw new Error(`D1 is down: Bearer ${shop.keys.live}`)
    })
    expect((await shop.live.post('/v1/tryon', images)).status).toBe(500)
    prepare.mockRestore()
    await request('/v1/account', { headers: { Authorization: `Bearer ${shop.keys.live}x` } })
    await request('/operator/organisations', { headers: { Authorization: 'Bearer wrong-token' } })

    const log = lines.join('\n')
    expect(lines.length).toBeGreaterThan(5)
    expect(log).toContain('D1 is down')
    // The run includes the lines of every kind of work.
    for (const event of ['request', 'message', 'attempt failed', 'job ended', 'webhook attempt']) {
      expect([event, log.includes(`"event":"${event}"`)]).toEqual([event, true])
    }
    const signatures = upstream
      .seen()
      .flatMap(({ headers }) => headers.get('webhook-signature')?.split(/[ ,]/) ?? [])
      .filter((part) => part.length > 10)
    expect(signatures.length).toBeGreaterThan(0)
    const secrets = {
      'live key': shop.keys.live,
      'test key': shop.keys.test,
      'webhook secret': shop.webhookSecret.slice(6),
      'operator token': env.OPERATOR_TOKEN,
      'wrong operator token': 'wrong-token',
      'signing secret': env.OUTPUT_SIGNING_SECRET,
      'output signature':
        new URL(String(job['output_url'])).searchParams.get('signature') ?? 'none',
      'image query': 'image-token',
      'webhook query': 'hook-token',
    }
    for (const [name, secret] of Object.entries(secrets)) {
      expect([name, log.includes(secret)]).toEqual([name, false])
    }
    for (const signature of signatures) expect(log).not.toContain(signature)
    expect(log).not.toMatch(/svc_(live|test)_sk_\w/)
    expect(log).not.toMatch(/whsec_\w/)
  }, 20_000)
})

describe('401 responses', () => {
  it.each([
    ['GET', '/v1/account'],
    ['GET', '/v1/workspaces'],
    ['GET', '/v1/jobs'],
    ['GET', '/v1/jobs/job_1'],
    ['DELETE', '/v1/jobs/job_1'],
    ['POST', '/v1/tryon'],
    ['GET', '/operator/organisations'],
    ['POST', '/operator/organisations'],
    ['GET', '/operator/organisations/org_1/audit-log'],
    ['POST', '/operator/organisations/org_1/webhook-secret/rotate'],
  ])('have WWW-Authenticate: %s %s', async (method, path) => {
    const unknown = createKey(newId('org'), 'live')
    for (const token of ['', 'wrong', unknown]) {
      const headers = { Authorization: `Bearer ${token}` }
      const response = await request(path, { method, headers })
      expect(response.status).toBe(401)
      expect(response.headers.get('WWW-Authenticate')).toBe('Bearer realm="try-on"')
    }
  })

  it('have WWW-Authenticate for a revoked key', async () => {
    const shop = await newOrganisation()
    await env.DB.prepare('UPDATE api_keys SET revoked_at = ? WHERE organisation_id = ?')
      .bind(Date.now(), shop.orgId)
      .run()
    const response = await shop.test.get('/v1/account')
    expect(await codeOf(response)).toBe('api_key_revoked')
    expect(response.headers.get('WWW-Authenticate')).toBe('Bearer realm="try-on"')
  })
})

describe('comparison', () => {
  it('rejects a signature that differs in its first or last character or its length', async () => {
    const path = signedUrl(env, '', 'outputs/a.png')
    const [start = '', signature = ''] = path.split('&signature=')
    const wrong = [`-${signature.slice(1)}`, `${signature.slice(0, -1)}-`, signature.slice(1), '-']
    for (const each of wrong.filter((text) => text !== signature)) {
      const response = await request(`${start}&signature=${each}`)
      expect(await response.json()).toMatchObject({ error: { code: 'invalid_signature' } })
    }
    expect((await request(path)).status).toBe(404) // valid signature, unknown picture
  })

  it('rejects a token that differs in its first or last character or its length', async () => {
    const token = env.OPERATOR_TOKEN
    const wrong = [`x${token.slice(1)}`, `${token.slice(0, -1)}x`, token.slice(1), `${token}x`, 'x']
    for (const each of wrong) {
      const headers = { Authorization: `Bearer ${each}` }
      expect((await request('/operator/organisations', { headers })).status).toBe(401)
    }
  })
})

describe('webhook secret rotation', () => {
  it('signs with the previous and the new secret during the overlap', async () => {
    const shop = await newOrganisation({ default_webhook_url: 'https://hooks.test/rotate' })
    upstream.on('https://hooks.test/rotate', () => new Response('thanks'))
    const next = newWebhookSecret()
    const rotate = (until: number) =>
      jobsDb(shop.orgId)
        .prepare(
          `UPDATE added_webhook_endpoints SET secret = ?, secret_previous = ?, secret_previous_until = ?
           WHERE organisation_id = ?`,
        )
        .bind(next, shop.webhookSecret, until, shop.orgId)
        .run()
    const verifies = async (secret: string) => {
      const seen = upstream.seen().length
      await submit(shop.test)
      await vi.waitUntil(() => upstream.seen().length > seen)
      const { body, headers } = upstream.seen().at(-1)!
      try {
        new Webhook(secret).verify(body, Object.fromEntries(headers))
        return true
      } catch {
        return false
      }
    }
    await rotate(Date.now() + 60_000)
    expect(await verifies(shop.webhookSecret)).toBe(true)
    expect(await verifies(next)).toBe(true)
    await rotate(Date.now() - 1)
    expect(await verifies(shop.webhookSecret)).toBe(false)
    expect(await verifies(next)).toBe(true)
  })
})

describe('auth throttle', () => {
  // An address stays limited for a minute.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())

  const authenticate = async (path: string, token: string, address: string) => {
    // The request log waits before it sends its batch.
    vi.spyOn(scheduler, 'wait').mockResolvedValue()
    const context = createExecutionContext()
    const headers = { Authorization: `Bearer ${token}`, 'cf-connecting-ip': address }
    const response = await worker.fetch(new Request(`${BASE}${path}`, { headers }), env, context)
    await waitOnExecutionContext(context)
    return response
  }

  it('rejects malformed keys before any I/O, at every endpoint', async () => {
    const harness = await Harness.open()
    const key = harness.shop.keys.live
    const malformed = ['', 'x', key.slice(0, -1), `${key}0`, key.toUpperCase(), 'svc_live_sk_']
    const endpoints = [
      ['POST', '/v1/tryon'],
      ['GET', '/v1/jobs'],
      ['GET', '/v1/jobs/job_1'],
      ['DELETE', '/v1/jobs/job_1'],
      ['GET', '/v1/workspaces'],
      ['GET', '/v1/account'],
    ] as const
    for (const [method, path] of endpoints) {
      for (const wrong of malformed) {
        const faultInjector = new FaultInjector()
        const body = { model_image_url: HOOK }
        const response = await harness.request(
          faultInjector,
          wrong,
          method,
          path,
          method === 'POST' ? { body } : {},
        )
        expect(response?.status).toBe(401)
        expect(faultInjector.calls).toEqual([])
      }
    }
  })

  /** Fails until the limit. It counts by minutes of the real clock, and one can end in between: then it starts again. */
  const expectLimited = async (attempt: (tries: number) => Promise<Response>) => {
    let tries = 0
    let { status } = await attempt(tries)
    while (status === 401 && tries < 202) ({ status } = await attempt(++tries))
    expect(status).toBe(429)
    expect(tries).toBeGreaterThanOrEqual(101)
  }

  it('limits an address after a hundred wrong keys, but no other address', async () => {
    const shop = await newOrganisation()
    const wrong = () => createKey(shop.orgId, 'live')
    const [attacker, other] = ['198.51.100.1', '198.51.100.2']
    expect((await authenticate('/v1/account', shop.keys.live, attacker)).status).toBe(200)
    await expectLimited(() => authenticate('/v1/account', wrong(), attacker))
    const account = vi.spyOn(Organisation.prototype, 'account')
    const limited = await authenticate('/v1/account', wrong(), attacker)
    expect(limited.status).toBe(429)
    expect(Number(limited.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(await limited.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } })
    expect(account).not.toHaveBeenCalled()
    // A key that was valid before still works from this address, and other addresses are not limited.
    expect((await authenticate('/v1/account', shop.keys.live, attacker)).status).toBe(200)
    expect((await authenticate('/v1/account', wrong(), other)).status).toBe(401)
    // A key of an unknown organisation is limited too.
    expect(
      (await authenticate('/v1/account', createKey(newId('org'), 'test'), attacker)).status,
    ).toBe(429)
  })

  it('limits wrong operator tokens of a /64, and then also rejects the correct one', async () => {
    const guess = (token: string, host: number | string) =>
      authenticate('/operator/organisations', token, `2001:db8:0:3::${host}`)
    await expectLimited((tries) => guess('wrong', tries))
    expect((await guess('wrong', 'ffff')).status).toBe(429)
    expect((await guess(env.OPERATOR_TOKEN, 'ffff')).status).toBe(429)
    const elsewhere = await authenticate(
      '/operator/organisations',
      env.OPERATOR_TOKEN,
      '2001:db8:0:4::1',
    )
    expect(elsewhere.status).toBe(200)
  })

  it('responds and logs an error when a failure cannot be counted', async () => {
    vi.spyOn(env.FAILURES, 'limit').mockRejectedValue(new Error('the rate limiter is unavailable'))
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const response = await authenticate('/operator/organisations', 'wrong', '198.51.100.4')
    expect(response.status).toBe(401)
    expect(errors.mock.calls.map(String)).toEqual([
      expect.stringMatching(/failure not counted.*"requestId".*the rate limiter is unavailable/),
    ])
  })

  it('ends after a minute', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    expect(
      (await authenticate('/v1/account', createKey(newId('org'), 'test'), '198.51.100.1')).status,
    ).not.toBe(429)
  })
})
